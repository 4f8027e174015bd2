// SPDX-License-Identifier: Apache-2.0
// lamina/core/config.hpp - the macros that the whole library uses, and the function that computes
// bounds of arrays.
#pragma once

// A file that includes the single header has every declaration already (tools/single_header). A
// missing file ends the compilation, as below.
#if defined(LAMINA_SINGLE_HEADER)
#error "lamina: the single header: expected it alone, found a header of lamina's folder after it"
#include "lamina: the single header is included"
#endif

#define LAMINA_VERSION_MAJOR 0
#define LAMINA_VERSION_MINOR 1
#define LAMINA_VERSION_PATCH 0

// C++17 is g++'s default. Without C++20 the include of a missing file ends the compilation, because
// g++ continues after #error and would print many further errors.
#if defined(__cplusplus) && __cplusplus < 202002L
#error "lamina: the compiler: expected C++20 or newer, found an older standard; add -std=c++20"
#include "lamina needs -std=c++20"
// clang continues in spite of the missing file, and would crash at a constexpr destructor; without
// `constexpr` it does not.
#define constexpr
#endif

// lamina's results for infinity and NaN follow IEEE 754, and the order of its sums is fixed. With
// -ffast-math, or an option that contains or is part of it (-Ofast, -ffinite-math-only,
// -fassociative-math, -freciprocal-math), neither is true; sigmoid(-1000), for example, would be
// NaN. The option would not make lamina faster, because kernels already use vector instructions.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "lamina: the compiler: expected the arithmetic of IEEE 754, found -ffast-math or part of it"
#endif

/// Is 1 if lamina can read compressed files; a program must then link zlib, or the linker fails.
/// The default is 1 if <zlib.h> exists; users may define it as 0 or 1.
#if !defined(LAMINA_HAS_ZLIB)
#if __has_include(<zlib.h>)
#define LAMINA_HAS_ZLIB 1
#else
#define LAMINA_HAS_ZLIB 0
#endif
#endif

/// Is 1 if the compiler has exceptions, and 0 with -fno-exceptions. The headers that lamina.hpp
/// includes throw and catch with the macros below, which are the keywords where there are
/// exceptions. Without exceptions, LAMINA_THROW and LAMINA_RETHROW end the program by the function
/// that lamina::set_error_handler chose (core/messages/error.hpp), and handlers do nothing.
#if defined(__GNUC__) && !defined(__cpp_exceptions)
#define LAMINA_EXCEPTIONS 0
#define LAMINA_THROW ::lamina::detail::thrown{} =
#define LAMINA_RETHROW ::lamina::detail::thrown::end("")
#define LAMINA_TRY if (true)
#define LAMINA_CATCH(declaration) \
  else if ([[maybe_unused]] declaration = ::lamina::detail::caught{}; false)
#define LAMINA_CATCH_ALL else
#else
#define LAMINA_EXCEPTIONS 1
#define LAMINA_THROW throw
#define LAMINA_RETHROW throw
#define LAMINA_TRY try
#define LAMINA_CATCH(declaration) catch ([[maybe_unused]] declaration)
#define LAMINA_CATCH_ALL catch (...)
#endif

#include <lamina/core/abi.hpp>

/// A program that is compiled with LAMINA_COMPILED links lamina::compiled, a library of the
/// functions and kernels that do not depend on a program; headers only declare them
/// (docs/building.md). LAMINA_DEFINES is 1 where headers must contain the bodies of these
/// functions. LAMINA_API marks the declaration of such a function. LAMINA_KERNEL marks the
/// declaration of a function template that the library compiles for float and double. The instances
/// are listed below the body of the template, as LAMINA_INSTANCE(void gemm_block<float>(...)).
/// LAMINA_EXTERN is for function templates that users also instantiate with their own types: their
/// bodies stay outside of `#if LAMINA_DEFINES`, because users' programs need them. A source of the
/// library (cmake/compiled) includes core/compiles.hpp before its own headers.
///
/// A compiler instantiates the templates that a function uses even if nobody calls the function. So
/// in header-only use, a function with costly kernels that only some programs need is a template,
/// which is instantiated only if it is called: LAMINA_LAZY precedes its declaration and
/// LAMINA_LAZY_BODY its body.
#if !defined(LAMINA_COMPILED)
#define LAMINA_DEFINES 1
#define LAMINA_API inline
#define LAMINA_LAZY template <class = void>
#define LAMINA_LAZY_BODY template <class LaminaLazy>
#define LAMINA_KERNEL inline
#define LAMINA_INSTANCE(...)
#define LAMINA_EXTERN(...)
#else
#define LAMINA_DEFINES 0
#define LAMINA_API
#define LAMINA_LAZY
#define LAMINA_LAZY_BODY
#define LAMINA_KERNEL
#define LAMINA_EXTERN(...) extern template __VA_ARGS__;
#endif

/// Marks a function that runs on the host and, when nvcc compiles it, on the device.
#if defined(__CUDACC__)
#define LAMINA_FN __host__ __device__
#else
#define LAMINA_FN
#endif

/// Marks a function template that the CPU engine also calls with SIMD batches. nvcc does not accept
/// a batch in a __device__ function, but it accepts a batch in a constexpr function, and with
/// --expt-relaxed-constexpr a device can call constexpr functions. Compilers for the CPU always
/// inline the function: otherwise g++ decides by the size of the whole file, and a call per vector
/// makes a loop up to a sixth slower.
#if !defined(__CUDACC__) && (defined(__GNUC__) || defined(__clang__))
#define LAMINA_NUMBER_FN __attribute__((always_inline))
#elif defined(__CUDACC__) && !defined(__clang__) && !defined(LAMINA_CUDA_KERNELS_ALONE)
#define LAMINA_NUMBER_FN constexpr
#else
#define LAMINA_NUMBER_FN LAMINA_FN
#endif

/// LAMINA_INLINE marks a function that must always be inlined, because a call in a hot loop would
/// be too slow. LAMINA_NOINLINE marks a function that must not be inlined, so that its code exists
/// only once. LAMINA_COLD marks a function that runs so rarely that the compiler should not
/// optimise it for speed. LAMINA_OPTIONAL marks a function whose definition may be missing: its
/// address is then null. LAMINA_API_COLD combines LAMINA_API and LAMINA_COLD for functions outside
/// of classes, for which g++ warns about the two macros together.
#if defined(__GNUC__) || defined(__clang__)
#define LAMINA_INLINE inline __attribute__((always_inline))
#define LAMINA_NOINLINE __attribute__((noinline))
#define LAMINA_COLD __attribute__((cold, noinline))
#if !defined(LAMINA_COMPILED)
#define LAMINA_API_COLD inline __attribute__((cold))
#else
#define LAMINA_API_COLD LAMINA_COLD
#endif
#if defined(__CUDACC__) && !defined(__clang__)
// For nvcc the address of a weak function is not a constant, so lamina.cuh includes the
// definitions.
#define LAMINA_OPTIONAL
#else
#define LAMINA_OPTIONAL __attribute__((weak))
#endif
#else
#define LAMINA_INLINE inline
#define LAMINA_NOINLINE
#define LAMINA_COLD
#define LAMINA_API_COLD LAMINA_API
#define LAMINA_OPTIONAL
#endif

/// Expands to nothing. Write it between the name of a function and its arguments if other code may
/// define a macro of this name, as <windows.h> defines `max`: the macro is then not expanded.
/// Parentheses around the name would also prevent this, but would disable argument-dependent
/// lookup.
#define LAMINA_NO_MACRO

/// Unrolls the loop that follows, so that an array indexed by its counter stays in registers.
#if defined(__clang__)
#define LAMINA_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define LAMINA_UNROLL _Pragma("GCC unroll 32")
#else
#define LAMINA_UNROLL
#endif

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the bound of an array of n elements: at least 1, because C++ has no arrays of length 0.
/// The result is not an int, because g++'s -Wsign-conversion warns about an int that depends on a
/// template argument.
constexpr decltype(sizeof 0) bound(int n) { return n < 1 ? 1 : static_cast<decltype(sizeof 0)>(n); }

}}  // namespace lamina

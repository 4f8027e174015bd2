// SPDX-License-Identifier: Apache-2.0
// lamina/core/config.hpp - the few macros of the library; every other header is free of them.
#pragma once

#define LAMINA_VERSION_MAJOR 0
#define LAMINA_VERSION_MINOR 1
#define LAMINA_VERSION_PATCH 0

// C++17 is g++'s default. Nothing else of lamina is read without C++20: the missing file ends the
// compilation, because after #error g++ would go on.
#if defined(__cplusplus) && __cplusplus < 202002L
#error "lamina: the compiler: expected C++20 or newer, found an older standard; add -std=c++20"
#include "lamina needs -std=c++20"
// clang goes on in silence, and would crash at a constexpr destructor.
#define constexpr
#endif

// lamina's results for infinity and NaN follow IEEE 754, and orders of sums are chosen. With
// -ffast-math (-Ofast, -ffinite-math-only, -fassociative-math, -freciprocal-math) neither holds,
// and sigmoid(-1000) is NaN. It would gain nothing, because kernels use vector instructions.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "lamina: the compiler: expected the arithmetic of IEEE 754, found -ffast-math or part of it"
#endif

/// 1 if compressed files can be read; the program then links zlib. Define it yourself to decide.
#if !defined(LAMINA_HAS_ZLIB)
#if __has_include(<zlib.h>)
#define LAMINA_HAS_ZLIB 1
#else
#define LAMINA_HAS_ZLIB 0
#endif
#endif

#include <lamina/core/abi.hpp>

/// Marks a function that runs on the host and, when nvcc compiles it, on the device.
#if defined(__CUDACC__)
#define LAMINA_FN __host__ __device__
#else
#define LAMINA_FN
#endif

/// Marks a function template of numbers that the CPU engine also calls with vectors. nvcc refuses a
/// vector in a __device__ function but not in a constexpr one, and with --expt-relaxed-constexpr
/// the device can call constexpr functions as well.
#if defined(__CUDACC__) && !defined(__clang__) && !defined(LAMINA_CUDA_KERNELS_ALONE)
#define LAMINA_NUMBER_FN constexpr
#else
#define LAMINA_NUMBER_FN LAMINA_FN
#endif

/// LAMINA_INLINE marks a function whose call must not remain in a hot loop, whatever the
/// optimisation level. LAMINA_NOINLINE marks one that is compiled once. LAMINA_COLD marks one that
/// runs so rarely that the compiler should not optimise it for speed. LAMINA_OPTIONAL marks one
/// whose address may be taken where its definition is not included.
#if defined(__GNUC__) || defined(__clang__)
#define LAMINA_INLINE inline __attribute__((always_inline))
#define LAMINA_NOINLINE __attribute__((noinline))
#define LAMINA_COLD __attribute__((cold, noinline))
#if defined(__CUDACC__) && !defined(__clang__)
// For nvcc the address of a weak function is not a constant; lamina.cuh includes the definitions.
#define LAMINA_OPTIONAL
#else
#define LAMINA_OPTIONAL __attribute__((weak))
#endif
#else
#define LAMINA_INLINE inline
#define LAMINA_NOINLINE
#define LAMINA_COLD
#define LAMINA_OPTIONAL
#endif

/// Stands between the name of a function and its arguments where the name may be a macro with
/// arguments, as `max` is after <windows.h>, and parentheses around the name would stop the
/// compiler from looking it up by its arguments.
#define LAMINA_NO_MACRO

/// Unrolls the loop that follows, so that an array indexed by its counter stays in registers.
#if defined(__clang__)
#define LAMINA_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define LAMINA_UNROLL _Pragma("GCC unroll 32")
#else
#define LAMINA_UNROLL
#endif

// SPDX-License-Identifier: Apache-2.0
// lamina/core/abi.hpp - LAMINA_ABI: adds version and instruction set to every name.
//
// The layouts of weights and the code of every function depend on the instruction set, and a linker
// keeps only one of two functions of the same name. So all of lamina is in an inline namespace,
// LAMINA_ABI, whose name contains the version and the instruction set. In a program with code for
// different instruction sets, functions then have different names, and a call from one code to the
// other is a linker error. The compiler's predefined macros, which depend on flags such as -march,
// determine the name. docs/building.md explains the names.
#pragma once

// Expands to 1 if its argument expands to 1, otherwise to 0.
#define LAMINA_ABI_BIT(value) LAMINA_ABI_SECOND(LAMINA_ABI_IS_##value 1, 0, )
#define LAMINA_ABI_IS_1 0,
#define LAMINA_ABI_SECOND(...) LAMINA_ABI_SECOND_OF(__VA_ARGS__)
#define LAMINA_ABI_SECOND_OF(first, second, ...) second
// Expands to the part of the name for a level of which the compiler's flags enable only some
// instructions: "_", the digit of the level, then a 1 or 0 per macro. The preprocessor repeats this
// work wherever the name is used, which takes a few percent of the compile time of lamina.hpp.
#define LAMINA_ABI_BITS(set, a, b, c, d, e, f, g, h)                                               \
  LAMINA_ABI_JOIN(set, LAMINA_ABI_BIT(a), LAMINA_ABI_BIT(b), LAMINA_ABI_BIT(c), LAMINA_ABI_BIT(d), \
                  LAMINA_ABI_BIT(e), LAMINA_ABI_BIT(f), LAMINA_ABI_BIT(g), LAMINA_ABI_BIT(h))
#define LAMINA_ABI_JOIN(...) LAMINA_ABI_JOIN_OF(__VA_ARGS__)
#define LAMINA_ABI_JOIN_OF(set, a, b, c, d, e, f, g, h) _##set##a##b##c##d##e##f##g##h
#define LAMINA_ABI_NAME(...) LAMINA_ABI_NAME_OF(__VA_ARGS__)
#define LAMINA_ABI_NAME_OF(processor, zlib, major, minor, patch, a, b, c, d, e, f, g, h, i, j, k, \
                           l, m, n, o)                                                            \
  processor##a##b##c##d##e##f##g##h##i##j##k##l##m##n##o##zlib##_##major##_##minor##_##patch

// The name also says whether zlib is used, because functions for archives and data sets have
// different code without zlib, and whether there are exceptions.
#if LAMINA_HAS_ZLIB && LAMINA_EXCEPTIONS
#define LAMINA_ABI_ZLIB
#elif LAMINA_HAS_ZLIB
#define LAMINA_ABI_ZLIB _nothrow
#elif LAMINA_EXCEPTIONS
#define LAMINA_ABI_ZLIB _nozlib
#else
#define LAMINA_ABI_ZLIB _nozlib_nothrow
#endif

/// Is defined where the engine computes with the vectors of core/simd/plain_vectors.hpp instead of
/// xsimd's: on all processors but x86 with SSE2 and ARM with NEON. Its value is the number of bytes
/// of a vector: 16 where the compiler has instructions for vectors of 16 bytes, and 4 (one float)
/// elsewhere. Tests define it for other processors too.
#if !defined(LAMINA_PLAIN_VECTORS) && !defined(__CUDACC__) && !defined(__CUDA__) && \
    !defined(__SSE2__) && !defined(__ARM_NEON) && !defined(_M_X64) && !defined(_M_ARM64)
#if defined(__wasm_simd128__) || defined(__riscv_vector) || defined(__VX__) || defined(__VSX__) || \
    (defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2))
#define LAMINA_PLAIN_VECTORS 16
#else
#define LAMINA_PLAIN_VECTORS 4
#endif
#endif

#if defined(LAMINA_ABI)
// cmake/cuda_kernels has defined the name: kernels that it compiles separately must have the name
// of the host code that calls them.

#elif defined(__CUDA__) && defined(__clang__)
// While clang++ compiles for a device, the instruction set of the host is unknown.
#define LAMINA_ABI                                                                   \
  LAMINA_ABI_NAME(cuda, LAMINA_ABI_ZLIB, LAMINA_VERSION_MAJOR, LAMINA_VERSION_MINOR, \
                  LAMINA_VERSION_PATCH, , , , , , , , , , , , , , , )

#elif defined(LAMINA_PLAIN_VECTORS)
// The name has the number of bytes of a vector.
#define LAMINA_ABI                                                                    \
  LAMINA_ABI_NAME(plain, LAMINA_ABI_ZLIB, LAMINA_VERSION_MAJOR, LAMINA_VERSION_MINOR, \
                  LAMINA_VERSION_PATCH, LAMINA_PLAIN_VECTORS, , , , , , , , , , , , , , )

#elif defined(__x86_64__) || defined(__i386__)
// One digit per level of x86-64. The first level has no digit, because every x86-64 processor has
// it.
#if defined(__SSE3__) && defined(__SSSE3__) && defined(__SSE4_1__) && defined(__SSE4_2__) && \
    defined(__POPCNT__)
#define LAMINA_ABI_2 2
#elif defined(__SSE3__) || defined(__SSSE3__) || defined(__SSE4_1__) || defined(__SSE4_2__) || \
    defined(__POPCNT__)
#define LAMINA_ABI_2 \
  LAMINA_ABI_BITS(2, __SSE3__, __SSSE3__, __SSE4_1__, __SSE4_2__, __POPCNT__, 0, 0, 0)
#else
#define LAMINA_ABI_2
#endif
#if defined(__AVX__) && defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && \
    defined(__BMI__) && defined(__BMI2__) && defined(__LZCNT__) && defined(__MOVBE__)
#define LAMINA_ABI_3 3
#elif defined(__AVX__) || defined(__AVX2__) || defined(__FMA__) || defined(__F16C__) || \
    defined(__BMI__) || defined(__BMI2__) || defined(__LZCNT__) || defined(__MOVBE__)
#define LAMINA_ABI_3 \
  LAMINA_ABI_BITS(3, __AVX__, __AVX2__, __FMA__, __F16C__, __BMI__, __BMI2__, __LZCNT__, __MOVBE__)
#else
#define LAMINA_ABI_3
#endif
#if defined(__AVX512F__) && defined(__AVX512CD__) && defined(__AVX512BW__) && \
    defined(__AVX512DQ__) && defined(__AVX512VL__)
#define LAMINA_ABI_4 4
#elif defined(__AVX512F__) || defined(__AVX512CD__) || defined(__AVX512BW__) || \
    defined(__AVX512DQ__) || defined(__AVX512VL__)
#define LAMINA_ABI_4 \
  LAMINA_ABI_BITS(4, __AVX512F__, __AVX512CD__, __AVX512BW__, __AVX512DQ__, __AVX512VL__, 0, 0, 0)
#else
#define LAMINA_ABI_4
#endif
// Level 5 is not an official level. It consists of the instructions of Ice Lake and Zen 4 that
// level 4 does not have.
#if defined(__AVX512IFMA__) && defined(__AVX512VBMI__) && defined(__AVX512VBMI2__) && \
    defined(__AVX512BITALG__) && defined(__AVX512VPOPCNTDQ__)
#define LAMINA_ABI_5 5
#elif defined(__AVX512IFMA__) || defined(__AVX512VBMI__) || defined(__AVX512VBMI2__) || \
    defined(__AVX512BITALG__) || defined(__AVX512VPOPCNTDQ__)
#define LAMINA_ABI_5                                                                    \
  LAMINA_ABI_BITS(5, __AVX512IFMA__, __AVX512VBMI__, __AVX512VBMI2__, __AVX512BITALG__, \
                  __AVX512VPOPCNTDQ__, 0, 0, 0)
#else
#define LAMINA_ABI_5
#endif
// Levels 6 and 7 collect the instructions that only few processors have.
#if defined(__XOP__) || defined(__FMA4__) || defined(__TBM__) || defined(__AVX512ER__) || \
    defined(__AVX512PF__) || defined(__AVX10_2__) || defined(__APX_F__) ||                \
    defined(__AVXVNNIINT8__)
#define LAMINA_ABI_6                                                                      \
  LAMINA_ABI_BITS(6, __XOP__, __FMA4__, __TBM__, __AVX512ER__, __AVX512PF__, __AVX10_2__, \
                  __APX_F__, __AVXVNNIINT8__)
#else
#define LAMINA_ABI_6
#endif
#if defined(__AVXIFMA__) || defined(__AVXNECONVERT__) || defined(__AVXVNNIINT16__) ||   \
    defined(__CMPCCXADD__) || defined(__AVX5124FMAPS__) || defined(__AVX5124VNNIW__) || \
    defined(__3dNOW__)
#define LAMINA_ABI_7                                                                 \
  LAMINA_ABI_BITS(7, __AVXIFMA__, __AVXNECONVERT__, __AVXVNNIINT16__, __CMPCCXADD__, \
                  __AVX5124FMAPS__, __AVX5124VNNIW__, __3dNOW__, 0)
#else
#define LAMINA_ABI_7
#endif
// One letter per set of instructions that only some generations of processors have.
#if defined(__SSE4A__)
#define LAMINA_ABI_A a
#else
#define LAMINA_ABI_A
#endif
#if defined(__AVX512BF16__)
#define LAMINA_ABI_B b
#else
#define LAMINA_ABI_B
#endif
#if defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
#define LAMINA_ABI_C c
#else
#define LAMINA_ABI_C
#endif
#if defined(__GFNI__)
#define LAMINA_ABI_G g
#else
#define LAMINA_ABI_G
#endif
#if defined(__AVX512FP16__)
#define LAMINA_ABI_H h
#else
#define LAMINA_ABI_H
#endif
#if defined(__AVX512VNNI__)
#define LAMINA_ABI_N n
#else
#define LAMINA_ABI_N
#endif
#if defined(__PRFCHW__)
#define LAMINA_ABI_P p
#else
#define LAMINA_ABI_P
#endif
#if defined(__AMX_TILE__) || defined(__AMXTILE__)
#define LAMINA_ABI_T t
#else
#define LAMINA_ABI_T
#endif
#if defined(__AVXVNNI__)
#define LAMINA_ABI_V v
#else
#define LAMINA_ABI_V
#endif
#define LAMINA_ABI                                                                              \
  LAMINA_ABI_NAME(x1, LAMINA_ABI_ZLIB, LAMINA_VERSION_MAJOR, LAMINA_VERSION_MINOR,              \
                  LAMINA_VERSION_PATCH, LAMINA_ABI_2, LAMINA_ABI_3, LAMINA_ABI_4, LAMINA_ABI_5, \
                  LAMINA_ABI_6, LAMINA_ABI_7, LAMINA_ABI_A, LAMINA_ABI_B, LAMINA_ABI_C,         \
                  LAMINA_ABI_G, LAMINA_ABI_H, LAMINA_ABI_N, LAMINA_ABI_P, LAMINA_ABI_T,         \
                  LAMINA_ABI_V)

#elif defined(__aarch64__)
// One digit per version of ARMv8.
#if defined(__ARM_FEATURE_ATOMICS) && defined(__ARM_FEATURE_QRDMX)
#define LAMINA_ABI_1 1
#elif defined(__ARM_FEATURE_ATOMICS) || defined(__ARM_FEATURE_QRDMX)
#define LAMINA_ABI_1 \
  LAMINA_ABI_BITS(1, __ARM_FEATURE_ATOMICS, __ARM_FEATURE_QRDMX, 0, 0, 0, 0, 0, 0)
#else
#define LAMINA_ABI_1
#endif
#if defined(__ARM_FEATURE_FP16_SCALAR_ARITHMETIC) && \
    defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC) && defined(__ARM_FEATURE_DOTPROD)
#define LAMINA_ABI_2 2
#elif defined(__ARM_FEATURE_FP16_SCALAR_ARITHMETIC) || \
    defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC) || defined(__ARM_FEATURE_DOTPROD)
#define LAMINA_ABI_2                                                                             \
  LAMINA_ABI_BITS(2, __ARM_FEATURE_FP16_SCALAR_ARITHMETIC, __ARM_FEATURE_FP16_VECTOR_ARITHMETIC, \
                  __ARM_FEATURE_DOTPROD, 0, 0, 0, 0, 0)
#else
#define LAMINA_ABI_2
#endif
#if defined(__ARM_FEATURE_COMPLEX) && defined(__ARM_FEATURE_JCVT)
#define LAMINA_ABI_3 3
#elif defined(__ARM_FEATURE_COMPLEX) || defined(__ARM_FEATURE_JCVT)
#define LAMINA_ABI_3 LAMINA_ABI_BITS(3, __ARM_FEATURE_COMPLEX, __ARM_FEATURE_JCVT, 0, 0, 0, 0, 0, 0)
#else
#define LAMINA_ABI_3
#endif
#if defined(__ARM_FEATURE_BF16_SCALAR_ARITHMETIC) && \
    defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC) && defined(__ARM_FEATURE_MATMUL_INT8)
#define LAMINA_ABI_6 6
#elif defined(__ARM_FEATURE_BF16_SCALAR_ARITHMETIC) || \
    defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC) || defined(__ARM_FEATURE_MATMUL_INT8)
#define LAMINA_ABI_6                                                                             \
  LAMINA_ABI_BITS(6, __ARM_FEATURE_BF16_SCALAR_ARITHMETIC, __ARM_FEATURE_BF16_VECTOR_ARITHMETIC, \
                  __ARM_FEATURE_MATMUL_INT8, 0, 0, 0, 0, 0)
#else
#define LAMINA_ABI_6
#endif
// Level 7 collects the instructions that only few processors have.
#if defined(__ARM_FEATURE_MOPS) || defined(__ARM_FEATURE_CSSC) || defined(__ARM_FEATURE_SVE2p1) || \
    defined(__ARM_FEATURE_SME) || defined(__ARM_FEATURE_LSE128) || defined(__ARM_FEATURE_RCPC3) || \
    defined(__ARM_FEATURE_FAMINMAX) || defined(__ARM_FEATURE_CMPBR)
#define LAMINA_ABI_7                                                               \
  LAMINA_ABI_BITS(7, __ARM_FEATURE_MOPS, __ARM_FEATURE_CSSC, __ARM_FEATURE_SVE2p1, \
                  __ARM_FEATURE_SME, __ARM_FEATURE_LSE128, __ARM_FEATURE_RCPC3,    \
                  __ARM_FEATURE_FAMINMAX, __ARM_FEATURE_CMPBR)
#else
#define LAMINA_ABI_7
#endif
// One letter per set of instructions that only some generations of processors have.
#if defined(__ARM_FEATURE_FRINT)
#define LAMINA_ABI_F f
#else
#define LAMINA_ABI_F
#endif
#if defined(__ARM_FEATURE_SHA3)
#define LAMINA_ABI_H h
#else
#define LAMINA_ABI_H
#endif
#if defined(__ARM_FEATURE_RCPC)
#define LAMINA_ABI_R r
#else
#define LAMINA_ABI_R
#endif
#if defined(__ARM_FEATURE_SVE)
#define LAMINA_ABI_S s
#else
#define LAMINA_ABI_S
#endif
#if defined(__ARM_FEATURE_SVE2)
#define LAMINA_ABI_W w
#else
#define LAMINA_ABI_W
#endif
#if defined(__ARM_FEATURE_SVE_BITS)
#define LAMINA_ABI_WIDTH __ARM_FEATURE_SVE_BITS
#else
#define LAMINA_ABI_WIDTH
#endif
#define LAMINA_ABI                                                                              \
  LAMINA_ABI_NAME(arm, LAMINA_ABI_ZLIB, LAMINA_VERSION_MAJOR, LAMINA_VERSION_MINOR,             \
                  LAMINA_VERSION_PATCH, LAMINA_ABI_1, LAMINA_ABI_2, LAMINA_ABI_3, LAMINA_ABI_6, \
                  LAMINA_ABI_7, LAMINA_ABI_F, LAMINA_ABI_H, LAMINA_ABI_R, LAMINA_ABI_S,         \
                  LAMINA_ABI_W, LAMINA_ABI_WIDTH, , , , )

#else
// For other processors, the name contains only the version.
#define LAMINA_ABI                                                                    \
  LAMINA_ABI_NAME(other, LAMINA_ABI_ZLIB, LAMINA_VERSION_MAJOR, LAMINA_VERSION_MINOR, \
                  LAMINA_VERSION_PATCH, , , , , , , , , , , , , , , )
#endif

// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/tensor_format.hpp - numbers as tensor cores multiply them: how a float is
// rounded, or cut in two, and the product of one warp. Sums are floats.
#pragma once

#include <bit>
#include <cstdint>

#include <lamina/core/bfloat16.hpp>
#include <lamina/core/float16.hpp>
#include <lamina/engine/cuda/pack.hpp>

namespace lamina::engine::cuda {

/// 10 bits behind the point and a float's exponents: of two nearest numbers the one farther from
/// zero, so that the relative error is at most 2^-11.
struct tf32_format {
  /// Terms of a sum in a word of 32 bits, and operands of one.
  static constexpr int terms = 1;

  static LAMINA_INLINE LAMINA_FN std::uint32_t word(const float (&x)[terms]) {
#if defined(__CUDA_ARCH__)
    std::uint32_t w;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(w) : "f"(x[0]));
    return w;
#else
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x[0]);
    // Rounding would carry the digits of some NaN into the sign.
    if ((bits & 0x7fffffffU) > 0x7f800000U) return bits | 0x400000U;
    return (bits + 0x1000U) & ~0x1fffU;
#endif
  }
  /// Term `i` of a word; the multipliers do not see the last bits.
  static float value(std::uint32_t w, int /*i*/) { return std::bit_cast<float>(w & ~0x1fffU); }

#if defined(__CUDACC__)
  /// sums += left * right.
  static __device__ __forceinline__ void multiply(float (&sums)[4], const std::uint32_t (&left)[4],
                                                  const std::uint32_t (&right)[2]) {
#if defined(__CUDA_ARCH__)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
#endif
  }
#endif
};

/// A float, all of it. Tensor cores do not multiply floats, but a float is the sum of two tf32
/// numbers, the nearest one and what that leaves, but for 2^-23 of it: three of their four products
/// are added, and the last one is below 2^-22. Tensor cores cut off sums where floats round them,
/// so no sum of more than 8 terms is theirs. What is infinite leaves what is not a number. Source:
/// Ootomo, Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the
/// FP32 theoretical peak performance", 2022.
struct float32_format {
  static constexpr int terms = 1;

  static LAMINA_INLINE LAMINA_FN std::uint32_t word(const float (&x)[terms]) {
    return std::bit_cast<std::uint32_t>(x[0]);
  }
  static float value(std::uint32_t w, int /*i*/) { return std::bit_cast<float>(w); }

  /// The tf32 number nearest to a word, and what is left of it, of which the multipliers see 11
  /// bits of 12. Rounding may carry the digits of a number that is none away, but what is left of
  /// it is none.
  static LAMINA_INLINE LAMINA_FN std::uint32_t high(std::uint32_t w) {
    return (w + 0x1000U) & ~0x1fffU;
  }
  static LAMINA_INLINE LAMINA_FN std::uint32_t low(std::uint32_t w) {
    return std::bit_cast<std::uint32_t>(std::bit_cast<float>(w) - std::bit_cast<float>(high(w)));
  }

#if defined(__CUDACC__)
  static __device__ __forceinline__ void multiply(float (&sums)[4], const std::uint32_t (&left)[4],
                                                  const std::uint32_t (&right)[2]) {
    const std::uint32_t left_high[4] = {high(left[0]), high(left[1]), high(left[2]), high(left[3])};
    const std::uint32_t left_low[4] = {low(left[0]), low(left[1]), low(left[2]), low(left[3])};
    const std::uint32_t right_high[2] = {high(right[0]), high(right[1])};
    const std::uint32_t right_low[2] = {low(right[0]), low(right[1])};
    float part[4] = {0, 0, 0, 0};
    tf32_format::multiply(part, left_low, right_high);
    tf32_format::multiply(part, left_high, right_low);
    tf32_format::multiply(part, left_high, right_high);
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < 4; ++i) sums[i] += part[i];
  }
#endif
};

/// The upper half of a float, rounded to nearest, of two the even one: a relative error of at most
/// 2^-8.
struct bfloat16_format {
  static constexpr int terms = 2;

  static LAMINA_INLINE LAMINA_FN std::uint32_t word(const float (&x)[terms]) {
#if defined(__CUDA_ARCH__)
    std::uint32_t w;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(x[1]), "f"(x[0]));
    return w;
#else
    return static_cast<std::uint32_t>(bfloat16_bits(x[1])) << 16 | bfloat16_bits(x[0]);
#endif
  }
  static float value(std::uint32_t w, int i) {
    return float_of_bfloat16(static_cast<std::uint16_t>(w >> 16 * i));
  }

#if defined(__CUDACC__)
  static __device__ __forceinline__ void multiply(float (&sums)[4], const std::uint32_t (&left)[4],
                                                  const std::uint32_t (&right)[2]) {
#if defined(__CUDA_ARCH__)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
#endif
  }
#endif
};

/// Half of the bits of a float: of numbers from 2^-14 to 65504 a relative error of at most 2^-11;
/// smaller ones lose digits, larger ones are infinite.
struct float16_format {
  static constexpr int terms = 2;
  /// Gradients are scaled before they become operands (loss_scale.hpp).
  static constexpr bool few_exponents = true;

  static LAMINA_INLINE LAMINA_FN std::uint32_t word(const float (&x)[terms]) {
#if defined(__CUDA_ARCH__)
    std::uint32_t w;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(x[1]), "f"(x[0]));
    return w;
#else
    return static_cast<std::uint32_t>(float16_bits(x[1])) << 16 | float16_bits(x[0]);
#endif
  }
  static float value(std::uint32_t w, int i) {
    return float_of_float16(static_cast<std::uint16_t>(w >> 16 * i));
  }

#if defined(__CUDACC__)
  static __device__ __forceinline__ void multiply(float (&sums)[4], const std::uint32_t (&left)[4],
                                                  const std::uint32_t (&right)[2]) {
#if defined(__CUDA_ARCH__)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
#endif
  }
#endif
};

/// What the lanes of a warp hold of a product of 16 rows and 8 columns over 8 words of terms. All
/// formats are alike in words. Source: PTX ISA, "Matrix Fragments for mma.m16n8k8" (.tf32) and
/// "mma.m16n8k16" (.bf16, .f16).
struct fragment {
  static constexpr int rows = 16, columns = 8, words = 8, lanes = 32;

  static LAMINA_INLINE LAMINA_FN int left_row(int lane, int i) { return lane / 4 + i % 2 * 8; }
  static LAMINA_INLINE LAMINA_FN int left_word(int lane, int i) { return lane % 4 + i / 2 * 4; }
  static LAMINA_INLINE LAMINA_FN int right_column(int lane) { return lane / 4; }
  static LAMINA_INLINE LAMINA_FN int right_word(int lane, int i) { return lane % 4 + i * 4; }
  static LAMINA_INLINE LAMINA_FN int sum_row(int lane, int i) { return lane / 4 + i / 2 * 8; }
  static LAMINA_INLINE LAMINA_FN int sum_column(int lane, int i) { return lane % 4 * 2 + i % 2; }
};

/// The product of a warp on the host, from the registers of its lanes: `left(lane)` and
/// `right(lane)` are arrays of words, `sums(lane)` one of floats. Written by the figures of the
/// PTX ISA and not by `fragment`, so that each tests the other.
template <class Format, class Left, class Right, class Sums>
void multiply_on_host(const Left& left, const Right& right, const Sums& sums) {
  constexpr int terms = Format::terms;
  float a[16][8 * terms], b[8 * terms][8];
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, in_group = lane & 3;
    for (int t = 0; t < terms; ++t) {
      const int k = in_group * terms + t, next = k + 4 * terms;
      a[group][k] = Format::value(left(lane)[0], t);
      a[group + 8][k] = Format::value(left(lane)[1], t);
      a[group][next] = Format::value(left(lane)[2], t);
      a[group + 8][next] = Format::value(left(lane)[3], t);
      b[k][group] = Format::value(right(lane)[0], t);
      b[next][group] = Format::value(right(lane)[1], t);
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, in_group = lane & 3;
    for (int i = 0; i < 4; ++i) {
      const int row = i < 2 ? group : group + 8, column = in_group * 2 + (i & 1);
      float sum = sums(lane)[i];
      for (int k = 0; k < 8 * terms; ++k) sum += a[row][k] * b[k][column];
      sums(lane)[i] = sum;
    }
  }
}
/// Of floats the three products of their halves, as a device adds them.
template <class Format, class Left, class Right, class Sums>
requires(__is_same(Format, float32_format)) void multiply_on_host(const Left& left,
                                                                  const Right& right,
                                                                  const Sums& sums) {
  struct operands {
    std::uint32_t left[4], right[2];
  } high[32], low[32];
  float part[32][4] = {};
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      high[lane].left[i] = Format::high(left(lane)[i]);
      low[lane].left[i] = Format::low(left(lane)[i]);
    }
    for (int i = 0; i < 2; ++i) {
      high[lane].right[i] = Format::high(right(lane)[i]);
      low[lane].right[i] = Format::low(right(lane)[i]);
    }
  }
  const auto add = [&](const operands* l, const operands* r) {
    multiply_on_host<tf32_format>([=](int lane) { return l[lane].left; },
                                  [=](int lane) { return r[lane].right; },
                                  [&](int lane) { return part[lane]; });
  };
  add(low, high);
  add(high, low);
  add(high, high);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) sums(lane)[i] += part[lane][i];
}

}  // namespace lamina::engine::cuda

// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/place.hpp - CUDA devices as places where programs run, and the arithmetic of
// their matrix products.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/core/place.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace cuda {

/// The types float32_type, tf32_type and bfloat16_type select the arithmetic in which cuBLASLt
/// multiplies matrices; the arithmetic is part of a place's type. All arrays, weights included, and
/// all other operations stay in float. float32: products in float.
struct float32_type {};
inline constexpr float32_type float32{};
/// tf32: products by tensor cores. Operands are rounded to 10 fraction bits (relative error at most
/// 2^-11); products of elements and their sums are floats.
struct tf32_type {};
inline constexpr tf32_type tf32{};
/// bfloat16: products by tensor cores. Operands are rounded to 7 fraction bits (relative error at
/// most 2^-8); products of elements and their sums are floats.
struct bfloat16_type {};
inline constexpr bfloat16_type bfloat16{};

/// Device `number` of this machine: `adam.train(model, reader, {.place = lamina::cuda::place{0}})`.
/// A place with tf32 or bfloat16 is a separate argument after the options, because the type of the
/// call must include the arithmetic:
/// `adam.train(model, reader, {.passes = 20}, lamina::cuda::place{0, lamina::cuda::tf32})`.
template <class Arithmetic = float32_type>
struct place {
  using arithmetic = Arithmetic;
  int number;

  constexpr explicit place(int n = 0, Arithmetic = {}) : number(n) {}
  constexpr operator lamina::place() const {
    static_assert(std::is_same_v<Arithmetic, float32_type>,
                  "lamina: cuda: place: a place of tf32 or bfloat16 follows the options: "
                  "train(model, reader, {.passes = 20}, lamina::cuda::place{0, "
                  "lamina::cuda::tf32})");
    return {place_kind::cuda, number};
  }
};
place()->place<>;
place(int)->place<>;

}}}  // namespace lamina::cuda

// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/place.hpp - CUDA devices as places, and their matrix arithmetic.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/core/place.hpp>

namespace lamina::inline LAMINA_ABI::cuda {

/// The arithmetic in which cuBLASLt multiplies matrices at a place; it is part of the place's type.
/// All arrays, weights included, and all operations other than matrix products stay in float.
/// float32: in float.
struct float32_type {};
inline constexpr float32_type float32{};
/// tf32: by tensor cores; operands are rounded to 10 fraction bits (relative error at most 2^-11),
/// products and sums are floats.
struct tf32_type {};
inline constexpr tf32_type tf32{};
/// bfloat16: by tensor cores; operands are rounded to 7 fraction bits (relative error at most
/// 2^-8), products and sums are floats.
struct bfloat16_type {};
inline constexpr bfloat16_type bfloat16{};

/// Device `number` of this machine: `adam.train(model, reader, {.place = lamina::cuda::place{0}})`.
/// With an arithmetic other than float32 the place follows the options, because only there its type
/// is part of the call:
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

}  // namespace lamina::inline LAMINA_ABI::cuda

// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/place.hpp - CUDA devices as places, and how they multiply.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/config.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/place.hpp>
#include <lamina/core/text.hpp>

namespace lamina::cuda {

/// How products of matrices and convolutions are computed at a place. A part of the place's type:
/// only the kernels of what a program names are compiled. All arrays stay floats, weights too, and
/// so does everything that is no product.
/// float32: as everything else, in float: by tensor cores, each number as the sum of two that they
/// multiply (relative error of a product at most 2^-21). What is infinite leaves what is no number.
struct float32_type {};
inline constexpr float32_type float32{};
/// tf32: by tensor cores; operands are rounded to 10 bits behind the point (relative error at most
/// 2^-11), products and sums are floats.
struct tf32_type {};
inline constexpr tf32_type tf32{};
/// bfloat16: by tensor cores; operands are rounded to 7 bits behind the point (relative error at
/// most 2^-8), products and sums are floats.
struct bfloat16_type {};
inline constexpr bfloat16_type bfloat16{};
/// float16: by tensor cores; operands are rounded to 10 bits behind the point (relative error at
/// most 2^-11 from 2^-14 to 65504), products and sums are floats. Training scales the cost, so that
/// gradients stay in this range; a step in which one leaves it updates nothing (docs/cuda.md).
struct float16_type {};
inline constexpr float16_type float16{};

/// Device `number` of this machine: `adam.train(model, reader, {.place = lamina::cuda::place{0}})`.
/// With another arithmetic than float32 it stands behind the options, for there its type is seen:
/// `adam.train(model, reader, {.passes = 20}, lamina::cuda::place{0, lamina::cuda::tf32})`.
template <class Arithmetic = float32_type>
struct place {
  using arithmetic = Arithmetic;
  int number;

  constexpr explicit place(int n = 0, Arithmetic = {}) : number(n) {}
  constexpr operator lamina::place() const {
    static_assert(
        std::is_same_v<Arithmetic, float32_type>,
        "lamina: cuda: place: of tf32, bfloat16 and float16 it stands behind the options: "
        "train(model, reader, {.passes = 20}, lamina::cuda::place{0, "
        "lamina::cuda::tf32})");
    return {place_kind::cuda, number};
  }
};
place()->place<>;
place(int)->place<>;

/// Several devices of this machine, each with a part of every mini-batch:
/// `adam.train(model, reader, {.passes = 20}, lamina::cuda::places{0, 1})`, or, with another
/// arithmetic, `places{{0, 1}, lamina::cuda::tf32}`. Throws lamina::error for a list without
/// devices and for one with a device twice.
template <class Arithmetic = float32_type>
struct places {
  using arithmetic = Arithmetic;
  std::vector<int> numbers;

  LAMINA_COLD places(std::initializer_list<int> n, Arithmetic = {}) : numbers(n) {
    check_numbers();
  }
  LAMINA_COLD explicit places(std::vector<int> n, Arithmetic = {}) : numbers(std::move(n)) {
    check_numbers();
  }

 private:
  void check_numbers() const {
    if (numbers.empty())
      throw error("lamina: cuda: places: expected the numbers of devices, found none");
    for (std::size_t i = 0; i < numbers.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (numbers[i] == numbers[k])
          throw error(text() << "lamina: cuda: places: expected devices that differ, found "
                             << numbers[i] << " twice");
  }
};
places(std::initializer_list<int>)->places<>;
places(std::vector<int>)->places<>;

}  // namespace lamina::cuda

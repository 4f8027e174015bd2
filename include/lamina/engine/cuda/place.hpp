// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/place.hpp - a CUDA device as a place.
#pragma once

#include <lamina/core/place.hpp>

namespace lamina::cuda {

/// Device `number` of this machine: `adam.train(model, reader, {.place = lamina::cuda::place{0}})`.
struct place {
  int number = 0;
  constexpr operator lamina::place() const { return {place_kind::cuda, number}; }
};

}  // namespace lamina::cuda

// SPDX-License-Identifier: Apache-2.0
// helpers/cuda_place.hpp - where an example trains: on a GPU when `examples/run NAME --cuda`
// defines EXAMPLE_CUDA, and links the kernels. To be included first.
#pragma once

#if defined(EXAMPLE_CUDA)
#include <lamina/lamina.cuh>
#else
#include <lamina/lamina.hpp>
#endif

namespace examples {

#if defined(EXAMPLE_CUDA)
constexpr lamina::place place = lamina::cuda::place{0};
#else
constexpr lamina::place place{};
#endif

}  // namespace examples

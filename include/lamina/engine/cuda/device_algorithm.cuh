// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device_algorithm.cuh - runs an algorithm of a library on the device.
//
// The header of an algorithm defines
//   cudaError_t call(const Algorithm&, void* storage, std::size_t& bytes, cudaStream_t)
// in its namespace, which without storage tells how many bytes it needs; or, if it needs none,
//   cudaError_t call(const Algorithm&, cudaStream_t)
// Only programs that ask for an algorithm include its header (cmake/cuda_kernels): those of CUB and
// Thrust cost seconds each.
#pragma once

#include <lamina/engine/cuda/algorithms.hpp>
#include <lamina/engine/cuda/device_backend.hpp>

namespace lamina::engine::cuda {

template <class Algorithm>
void device_backend::run_algorithm(const Algorithm& a, void* scratch) {
  if constexpr (requires { call(a, stream_); }) {
    check_group(call(a, stream_), Algorithm::name);
  } else {
    std::size_t bytes = 0;
    algorithm_scratch(a, &bytes);
    check_group(call(a, scratch, bytes, stream_), Algorithm::name);
  }
  check_launch();
}

template <class Algorithm>
void device_backend::algorithm_scratch(const Algorithm& a, std::size_t* bytes) {
  *bytes = 0;
  check_call(call(a, nullptr, *bytes, nullptr), Algorithm::name);
}

}  // namespace lamina::engine::cuda

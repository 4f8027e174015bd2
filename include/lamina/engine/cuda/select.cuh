// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/select.cuh - elements that a condition chooses, by CUB.
#pragma once

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <lamina/engine/cuda/device_algorithm.cuh>

namespace lamina::engine::cuda::algorithm {

template <class Holds>
struct condition {
  typename Holds::arguments of;
  __device__ bool operator()(int i) const { return Holds::run(of, i); }
};

template <class Holds>
cudaError_t call(const select<Holds>& a, void* storage, std::size_t& bytes, cudaStream_t stream) {
  return cub::DeviceSelect::If(storage, bytes, thrust::make_counting_iterator(0), a.chosen, a.found,
                               a.count, condition<Holds>{a.of}, stream);
}

}  // namespace lamina::engine::cuda::algorithm

// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/reduce.cuh - sums over whole arrays on the device, by CUB.
#pragma once

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>

#include <lamina/engine/cuda/device_algorithm.cuh>

namespace lamina::engine::cuda::algorithm {

/// What CUB writes the sum through.
template <class Result>
struct sum_result {
  Result result;
  LAMINA_FN void operator()(int, double sum) const { result(sum); }
};

/// The order of the additions depends on the number of terms and on the device.
template <class Terms, class Result>
cudaError_t call(const sum<Terms, Result>& a, void* storage, std::size_t& bytes,
                 cudaStream_t stream) {
  return cub::DeviceReduce::TransformReduce(
      storage, bytes, thrust::make_counting_iterator(0),
      thrust::make_tabulate_output_iterator(sum_result<Result>{a.result}), a.count,
      ::cuda::std::plus<>{}, a.terms, 0.0, stream);
}

}  // namespace lamina::engine::cuda::algorithm

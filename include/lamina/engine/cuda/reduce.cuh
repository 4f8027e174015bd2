// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/reduce.cuh - sums over whole arrays on the device, by CUB. Only programs with
// such sums include it (cmake/cuda_kernels): its header costs seconds.
#pragma once

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>

#include <lamina/engine/cuda/device_backend.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// What CUB writes the sum through.
template <class Result>
struct sum_result {
  Result result;
  LAMINA_FN void operator()(int, double sum) const { result(sum); }
};

template <class Terms, class Result>
cudaError_t reduce(void* scratch, std::size_t& bytes, int count, const Terms& terms,
                   const Result& result, cudaStream_t stream) {
  return cub::DeviceReduce::TransformReduce(
      scratch, bytes, thrust::make_counting_iterator(0),
      thrust::make_tabulate_output_iterator(sum_result<Result>{result}), count,
      ::cuda::std::plus<>{}, terms, 0.0, stream);
}

}  // namespace detail

/// The order of the additions depends on the number of terms and on the device.
template <class Terms, class Result>
void device_backend::sum(int count, const Terms& terms, const Result& result, void* scratch) {
  std::size_t bytes = 0;
  sum_scratch<Terms, Result>(count, &bytes);
  check_call(detail::reduce(scratch, bytes, count, terms, result, stream_),
             "cub::DeviceReduce::TransformReduce");
  check_launch();
}

template <class Terms, class Result>
void device_backend::sum_scratch(int count, std::size_t* bytes) {
  check_call(detail::reduce(nullptr, *bytes, count, Terms{}, Result{}, nullptr),
             "cub::DeviceReduce::TransformReduce");
}

}  // namespace lamina::engine::cuda

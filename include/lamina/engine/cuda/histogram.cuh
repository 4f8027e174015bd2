// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/histogram.cuh - counts of equal numbers, by CUB.
#pragma once

#include <cub/device/device_histogram.cuh>

#include <lamina/engine/cuda/device_algorithm.cuh>

namespace lamina::engine::cuda::algorithm {

template <class Number>
cudaError_t call(const histogram<Number>& a, void* storage, std::size_t& bytes,
                 cudaStream_t stream) {
  return cub::DeviceHistogram::HistogramEven(storage, bytes, a.numbers, a.counts, a.bins + 1, 0,
                                             a.bins, a.count, stream);
}

}  // namespace lamina::engine::cuda::algorithm

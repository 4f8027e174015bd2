// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/sort.cuh - sorts on the device, by CUB.
#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <lamina/engine/cuda/device_algorithm.cuh>

namespace lamina::engine::cuda::algorithm {

template <class Key>
cudaError_t call(const sort_pairs<Key>& a, void* storage, std::size_t& bytes, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(storage, bytes, a.keys, a.sorted_keys, a.numbers,
                                         a.sorted_numbers, a.count, 0, a.bits, stream);
}

/// Where line i begins.
struct line_begin {
  int n;
  __host__ __device__ int operator()(int i) const { return i * n; }
};

/// A block sorts a line.
template <class Key>
cudaError_t call(const sort_lines<Key>& a, void* storage, std::size_t& bytes, cudaStream_t stream) {
  const auto begin =
      thrust::make_transform_iterator(thrust::make_counting_iterator(0), line_begin{a.n});
  return cub::DeviceSegmentedRadixSort::SortPairs(
      storage, bytes, a.keys, a.sorted_keys, a.numbers, a.sorted_numbers, a.lines * a.n, a.lines,
      begin, begin + 1, 0, static_cast<int>(8 * sizeof(Key)), stream);
}

}  // namespace lamina::engine::cuda::algorithm

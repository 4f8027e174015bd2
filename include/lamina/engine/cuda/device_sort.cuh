// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device_sort.cuh - sorting on the device, by CUB. Only programs that sort
// include it (cmake/cuda_kernels): its header costs seconds.
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include <lamina/engine/cuda/device_backend.hpp>

namespace lamina::engine::cuda {

template <class Key>
void device_backend::sort_pairs(int count, int bits, const Key* keys, Key* sorted_keys,
                                const int* numbers, int* sorted_numbers, void* scratch) {
  std::size_t bytes = 0;
  sort_scratch<Key>(count, &bytes);
  check_call(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, numbers,
                                             sorted_numbers, count, 0, bits, stream_),
             "cub::DeviceRadixSort::SortPairs");
  check_launch();
}

template <class Key>
void device_backend::sort_scratch(int count, std::size_t* bytes) {
  check_call(cub::DeviceRadixSort::SortPairs(
                 nullptr, *bytes, static_cast<const Key*>(nullptr), static_cast<Key*>(nullptr),
                 static_cast<const int*>(nullptr), static_cast<int*>(nullptr), count),
             "cub::DeviceRadixSort::SortPairs");
}

}  // namespace lamina::engine::cuda

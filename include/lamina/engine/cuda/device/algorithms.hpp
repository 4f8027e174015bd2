// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/algorithms.hpp - descriptions of algorithms that a backend implements:
// on a device by CUB and Thrust (device_algorithms.cuh, transform.cuh), on the host by loops.
//
// `backend.run_algorithm(a, scratch)` runs algorithm `a` after all earlier launches.
// `Backend::algorithm_scratch(a, &bytes)` computes its scratch memory, which depends only on its
// counts. No algorithm allocates memory or waits for the device, so a CUDA graph may capture it.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cuda/body/pack.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace algorithm {

/// Arrays of unsorted and sorted keys. Each key has a number that moves with it.
template <class Key>
struct sort_arrays {
  Key *keys, *sorted_keys;
  int *numbers, *sorted_numbers;
};

/// Sorts integer keys in [0, 2^bits) together with their numbers; the sort is stable.
template <class Key>
struct sort_pairs : sort_arrays<Key> {
  static constexpr const char* name = "cub::DeviceRadixSort::SortPairs";
  int count, bits;
};

/// Sorts each of `lines` lines of n keys separately, together with their numbers; the sort is
/// stable. For floats, NaN with the sign bit set is the smallest key, NaN without it the largest.
/// Both zeros are equal.
template <class Key>
struct sort_lines : sort_arrays<Key> {
  static constexpr const char* name = "cub::DeviceSegmentedRadixSort::SortPairs";
  int lines, n;
};

/// Writes the indices i in [0, count) for which Holds::run(of, i) is true to `chosen` in ascending
/// order, and their number to `found`.
template <class Holds>
struct select {
  static constexpr const char* name = "cub::DeviceSelect::If";
  typename Holds::arguments of;
  int* chosen;
  int* found;
  int count;
};

/// Prefix sums along lines of n elements, computed in the type Body::value. Body::load(of, line, k)
/// returns element k of a line. Body::store(of, line, k, sum) receives the sum of elements 0 to k,
/// or 0 to k - 1 if `exclusive` is true.
template <class Body>
struct scan_lines {
  static constexpr const char* name = "scan_lines";
  typename Body::arguments of;
  int lines, n;
  bool exclusive;
};

/// counts[b] = how often b occurs in `numbers`, for b in [0, bins). Numbers outside of [0, bins)
/// are ignored.
template <class Number>
struct histogram {
  static constexpr const char* name = "cub::DeviceHistogram::HistogramEven";
  const Number* numbers;
  int* counts;
  int count, bins;
};

/// Calls result(terms(0) + ... + terms(count - 1)), summed in double. One thread makes this call.
template <class Terms, class Result>
struct sum {
  static constexpr const char* name = "cub::DeviceReduce::TransformReduce";
  Terms terms;
  Result result;
  int count;
};

/// Computes to[i] = value.
template <class Number>
struct fill {
  static constexpr const char* name = "thrust::fill_n";
  Number* to;
  Number value;
  int count;
};

/// Computes to[i] = i.
template <class Number>
struct sequence {
  static constexpr const char* name = "thrust::sequence";
  Number* to;
  int count;
};

/// Computes to[i] = Body::at(of, i).
template <class Body>
struct tabulate {
  static constexpr const char* name = "thrust::tabulate";
  typename Body::arguments of;
  typename Body::value* to;
  int count;
};

}  // namespace algorithm

/// Divides the scratch memory of a call into arrays. With a null address it only counts the floats
/// that the arrays need.
class scratch_arena {
 public:
  explicit scratch_arena(float* at) : begin_(at) {}
  template <class T>
  T* take(int count) {
    float* const at = rest();
    used_ += static_cast<std::ptrdiff_t>(padded(count)) *
             static_cast<std::ptrdiff_t>(sizeof(T) > sizeof(float) ? sizeof(T) / sizeof(float) : 1);
    return reinterpret_cast<T*>(at);
  }
  template <class Key>
  algorithm::sort_arrays<Key> take_sort(int count) {
    Key *const keys = take<Key>(count), *const sorted_keys = take<Key>(count);
    int* const numbers = take<int>(count);
    return {keys, sorted_keys, numbers, take<int>(count)};
  }
  /// The scratch memory after all arrays that were taken. Algorithms use it as their workspace.
  float* rest() const { return begin_ == nullptr ? nullptr : begin_ + used_; }
  std::ptrdiff_t used() const { return used_; }

 private:
  float* begin_;
  std::ptrdiff_t used_ = 0;
};

/// Returns the floats of workspace that an algorithm needs.
template <class Backend, class Algorithm>
std::ptrdiff_t algorithm_floats(const Algorithm& a) {
  std::size_t bytes = 0;
  Backend::algorithm_scratch(a, &bytes);
  return static_cast<std::ptrdiff_t>(bytes / sizeof(float)) + 1;
}

}}}  // namespace lamina::engine::cuda

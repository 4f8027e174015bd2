// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/algorithms.hpp - algorithms that a backend takes from a library: on a
// device CUB's and Thrust's (device_algorithms.cuh, transform.cuh), on the host loops.
//
// `backend.run_algorithm(a, scratch)` runs one after the launches before it;
// `Backend::algorithm_scratch(a, &bytes)` returns how much memory it needs, which depends on its
// counts alone. No algorithm allocates memory or waits, so a graph may record them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cuda/body/pack.cuh>

namespace lamina::inline LAMINA_ABI::engine::cuda {

namespace algorithm {

/// Unsorted and sorted keys, each with a number.
template <class Key>
struct sort_arrays {
  Key *keys, *sorted_keys;
  int *numbers, *sorted_numbers;
};

/// Sorts keys in [0, 2^bits); the sort is stable.
template <class Key>
struct sort_pairs : sort_arrays<Key> {
  static constexpr const char* name = "cub::DeviceRadixSort::SortPairs";
  int count, bits;
};

/// Sorts each of `lines` lines of n keys; the sort is stable. For floats, NaN with a sign is the
/// smallest key and NaN without one the largest, and both zeros are equal.
template <class Key>
struct sort_lines : sort_arrays<Key> {
  static constexpr const char* name = "cub::DeviceSegmentedRadixSort::SortPairs";
  int lines, n;
};

/// The indices i in [0, count) for which Holds::run(of, i) is true, in ascending order, and how
/// many there are.
template <class Holds>
struct select {
  static constexpr const char* name = "cub::DeviceSelect::If";
  typename Holds::arguments of;
  int* chosen;
  int* found;
  int count;
};

/// Sums along lines of n elements, as Body::value: Body::load(of, line, k) is an element,
/// Body::store(of, line, k, sum) stores the sum up to element k; `exclusive` excludes this element.
template <class Body>
struct scan_lines {
  static constexpr const char* name = "scan_lines";
  typename Body::arguments of;
  int lines, n;
  bool exclusive;
};

/// counts[b] = how often b occurs among the numbers, for b in [0, bins); other numbers are ignored.
template <class Number>
struct histogram {
  static constexpr const char* name = "cub::DeviceHistogram::HistogramEven";
  const Number* numbers;
  int* counts;
  int count, bins;
};

/// result(terms(0) + ... + terms(count - 1)), summed in double; one thread calls `result`.
template <class Terms, class Result>
struct sum {
  static constexpr const char* name = "cub::DeviceReduce::TransformReduce";
  Terms terms;
  Result result;
  int count;
};

/// to[i] = value.
template <class Number>
struct fill {
  static constexpr const char* name = "thrust::fill_n";
  Number* to;
  Number value;
  int count;
};

/// to[i] = i.
template <class Number>
struct sequence {
  static constexpr const char* name = "thrust::sequence";
  Number* to;
  int count;
};

/// to[i] = Body::at(of, i).
template <class Body>
struct tabulate {
  static constexpr const char* name = "thrust::tabulate";
  typename Body::arguments of;
  typename Body::value* to;
  int count;
};

}  // namespace algorithm

/// Divides the scratch memory of a call into arrays; without memory it only counts the floats.
class scratch_parts {
 public:
  explicit scratch_parts(float* at) : begin_(at) {}
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
  /// The scratch memory after all parts that were taken; the algorithms use it.
  float* rest() const { return begin_ == nullptr ? nullptr : begin_ + used_; }
  std::ptrdiff_t used() const { return used_; }

 private:
  float* begin_;
  std::ptrdiff_t used_ = 0;
};

/// The floats of memory that an algorithm needs.
template <class Backend, class Algorithm>
std::ptrdiff_t algorithm_floats(const Algorithm& a) {
  std::size_t bytes = 0;
  Backend::algorithm_scratch(a, &bytes);
  return static_cast<std::ptrdiff_t>(bytes / sizeof(float)) + 1;
}

}  // namespace lamina::inline LAMINA_ABI::engine::cuda

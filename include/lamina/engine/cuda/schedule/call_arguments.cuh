// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/call_arguments.cuh - the arguments that the kernel of an unfused
// operator gets by value: arrays, numbers, the seed of random numbers, and the word in which it
// reports an index that is out of range.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/core/dtype.hpp>
#include <lamina/core/numbers/number_cast.hpp>
#include <lamina/core/numbers/random.hpp>
#include <lamina/engine/cuda/body/team.cuh>

#if !defined(__CUDA_ARCH__)
#include <atomic>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The seed and the stream of an operator's random numbers, which are the same as on the CPU.
struct random_source {
  std::uint64_t own_seed, stream;
  const std::uint64_t* run_seed;  // in device memory; null: use own_seed

  LAMINA_FN std::uint64_t seed() const { return run_seed != nullptr ? *run_seed : own_seed; }
};

template <class To, bool Wraps, class T>
LAMINA_FN inline To converted(T x) {
  if constexpr (Wraps)
    return wrapping_cast<To>(x);
  else
    return number_cast<To>(x);
}
/// Converts a number to `type` and stores it as element `at` of `to`. A number out of range becomes
/// the nearest number in range; with Wraps, for integer arithmetic, it wraps around.
template <bool Wraps = false, class T>
LAMINA_FN inline void store_converted(void* to, dtype type, std::ptrdiff_t at, T x) {
  switch (type) {
    case dtype::float64:
      static_cast<double*>(to)[at] = static_cast<double>(x);
      break;
    case dtype::int64:
      static_cast<std::int64_t*>(to)[at] = converted<std::int64_t, Wraps>(x);
      break;
    case dtype::int32:
      static_cast<std::int32_t*>(to)[at] = converted<std::int32_t, Wraps>(x);
      break;
    case dtype::int16:
      static_cast<std::int16_t*>(to)[at] = converted<std::int16_t, Wraps>(x);
      break;
    case dtype::int8:
      static_cast<std::int8_t*>(to)[at] = converted<std::int8_t, Wraps>(x);
      break;
    case dtype::uint8:
      static_cast<std::uint8_t*>(to)[at] = converted<std::uint8_t, Wraps>(x);
      break;
    case dtype::boolean:
      static_cast<std::uint8_t*>(to)[at] = x != 0 ? 1 : 0;
      break;
    default:
      static_cast<float*>(to)[at] = static_cast<float>(x);
  }
}
LAMINA_FN inline void store_number(void* to, dtype type, std::ptrdiff_t at, double x) {
  store_converted(to, type, at, x);
}

/// Returns element `at` of an array of any type as an integer.
LAMINA_FN inline std::int64_t load_integer(const void* data, dtype type, std::ptrdiff_t at) {
  switch (type) {
    case dtype::int64:
      return static_cast<const std::int64_t*>(data)[at];
    case dtype::int32:
      return static_cast<const std::int32_t*>(data)[at];
    case dtype::int16:
      return static_cast<const std::int16_t*>(data)[at];
    case dtype::int8:
      return static_cast<const std::int8_t*>(data)[at];
    case dtype::uint8:
    case dtype::boolean:
      return static_cast<const std::uint8_t*>(data)[at];
    case dtype::float64:
      return number_cast<std::int64_t>(static_cast<const double*>(data)[at]);
    default:
      return number_cast<std::int64_t>(static_cast<const float*>(data)[at]);
  }
}
/// Returns element `at` of an array of any type as a double.
LAMINA_FN inline double load_number(const void* data, dtype type, std::ptrdiff_t at) {
  if (type == dtype::float32) return static_cast<double>(static_cast<const float*>(data)[at]);
  if (type == dtype::float64) return static_cast<const double*>(data)[at];
  return static_cast<double>(load_integer(data, type, at));
}
/// Converts a result of integer arithmetic to `type`, where it wraps around, and stores it as
/// element `at` of `to`.
LAMINA_FN inline void store_integer(void* to, dtype type, std::ptrdiff_t at, std::int64_t x) {
  if (type == dtype::int64)
    static_cast<std::int64_t*>(to)[at] = x;
  else
    store_converted<true>(to, type, at, x);
}

/// An array as an argument of a kernel: `rows` rows of `columns` elements. Consecutive rows begin
/// `stride` elements apart. Each row consists of lines; a line is the `line` elements along the
/// last dimension.
struct argument_view {
  void* data;
  int rows, columns, line;
  std::ptrdiff_t stride;
  dtype type;

  LAMINA_FN int in_row() const { return line > 0 ? columns / line : 0; }
  LAMINA_FN int lines() const { return rows * in_row(); }
  /// The address of line i, counted over all rows.
  template <class T>
  LAMINA_FN T* line_at(int i) const {
    const int n = in_row();
    return static_cast<T*>(data) + i / n * stride + static_cast<std::ptrdiff_t>(i % n) * line;
  }
  template <class T>
  LAMINA_FN T* row(int r) const {
    return static_cast<T*>(data) + r * stride;
  }
  /// Element i, counted over all rows, as an integer.
  LAMINA_FN std::int64_t integer(int i) const {
    return load_integer(data, type, i / columns * stride + i % columns);
  }
  LAMINA_FN explicit operator bool() const { return data != nullptr; }
};

/// Identifies the first number that was out of range in a run: the index of its group in the upper
/// 32 bits, the index of its element in the lower 32 bits. All bits are 1 if there is none.
using fault_word = unsigned long long;
inline constexpr fault_word no_fault = ~0ull;

/// Reports that element i in a group is out of range. The report with the smallest group, then the
/// smallest element, is kept, regardless of the order of the reports.
LAMINA_FN inline void report_fault(fault_word* fault, int group, int i) {
  const fault_word word = static_cast<fault_word>(static_cast<unsigned>(group)) << 32 |
                          static_cast<fault_word>(static_cast<unsigned>(i));
#if defined(__CUDA_ARCH__)
  atomicMin(fault, word);
#else
  std::atomic_ref<fault_word> at(*fault);
  fault_word before = at.load();
  while (word < before && !at.compare_exchange_weak(before, word)) {
  }
#endif
}

/// The arguments of the kernel of an unfused operator.
struct call_arguments {
  argument_view in[3], out[3];
  float number[2];
  int integer[2];
  random_source random;
  std::int64_t first_row;  // index of the first row in the whole mini-batch
  fault_word* fault;
  int group;
  int lines;  // lines that are distributed over the teams of threads
  int width;  // elements per line: the size of a team depends on it

  /// Reports that element i is out of range.
  LAMINA_FN void report(int i) const { report_fault(fault, group, i); }
  /// Returns the label of line i. Returns -1 if the label is `ignored` or out of range; the latter
  /// is also reported.
  LAMINA_FN std::int64_t label(const argument_view& labels, int i, int classes, int ignored) const {
    const std::int64_t l = labels.integer(i);
    if (l == ignored) return -1;
    if (l >= 0 && l < classes) return l;
    report(i);
    return -1;
  }
};

/// The sequences of one domain, as an argument of kernels.
struct sequence_view {
  const int* offsets;
  int count;

  LAMINA_FN int begin(int i) const { return offsets[i]; }
  LAMINA_FN int end(int i) const { return offsets[i + 1]; }
};

/// The body of an unfused operator's kernel: distributes the lines over the teams.
template <class Kernel>
struct line_body {
  using arguments = call_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const Team& team) {
    for (int i = team.index; i < a.lines; i += team.count) Kernel::line(a, i, team);
  }
};

}}}  // namespace lamina::engine::cuda

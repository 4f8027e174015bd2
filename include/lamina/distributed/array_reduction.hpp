// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/array_reduction.hpp - computes sums and maxima of arrays over processes, with
// identical bits in every process.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <lamina/core/dtype.hpp>
#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/common/process_calls.hpp>
#include <lamina/train/gradients/tree_sum.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Reduces one array over the processes of a group. Floating-point sums follow a balanced binary
/// tree over the ranks (train/gradients/tree_sum.hpp), whatever the size of the array. A small
/// array is gathered and reduced by every process. Each process reduces one part of a large array
/// and sends the result to the others.
template <class Group>
class array_reduction {
 public:
  array_reduction(Group& group, const engine::reduction_call& call) : group_(group), call_(call) {}

  /// Reduces `array`, whose memory must satisfy the requirements of world::reduce(). The caller
  /// keeps the scratch memory `parts` between calls.
  LAMINA_COLD void run(void* array, const bool* takes_part, engine::aligned_buffer& parts) const {
    const std::size_t ranks = static_cast<std::size_t>(group_.size());
    const std::size_t size = static_cast<std::size_t>(size_of(call_.type));
    const bool is_short = call_.count * size <= largest_small;
    // The number of elements per part, rounded up to a multiple that tree_sum accepts.
    const std::size_t part = rounded(is_short ? call_.count : (call_.count + ranks - 1) / ranks);
    if (part == 0) return;
    const std::size_t floats = ranks * part * size / sizeof(float);
    if (parts.size() < floats) parts.resize(floats);
    std::byte* const own = static_cast<std::byte*>(array);
    std::byte* const all = reinterpret_cast<std::byte*>(parts.data());
    std::memset(own + call_.count * size, 0,
                ((is_short ? part : part * ranks) - call_.count) * size);
    if (is_short) {
      group_.gather(own, part * size, all);
      return add(all, own, part, takes_part);
    }
    const int me = group_.rank();
    const auto each_other = [&](auto&& message_of) {
      std::vector<typename Group::message> made;
      for (int r = 0; r < group_.size(); ++r)
        if (r != me) made.push_back(message_of(r));
      return made;
    };
    const std::size_t bytes = part * size;
    const auto at = [&](std::byte* of, int r) { return of + static_cast<std::size_t>(r) * bytes; };
    if (bytes > 0) std::memcpy(at(all, me), at(own, me), bytes);
    using message = typename Group::message;
    group_.exchange(each_other([&](int r) {
                      return message{r, at(own, r), bytes};
                    }),
                    each_other([&](int r) {
                      return message{r, at(all, r), bytes};
                    }));
    add(all, at(own, me), part, takes_part);
    group_.exchange(each_other([&](int r) {
                      return message{r, at(own, me), bytes};
                    }),
                    each_other([&](int r) {
                      return message{r, at(own, r), bytes};
                    }));
  }

 private:
  static constexpr std::size_t largest_small = 16384;  // the largest small array, in bytes
  static constexpr std::size_t rounded(std::size_t count) { return (count + 15) / 16 * 16; }

  /// Reduces `count` elements of each rank; `all` has the elements of one rank after the other.
  void add(const std::byte* all, std::byte* to, std::size_t count, const bool* takes_part) const {
    switch (call_.type) {
      case dtype::float32:
        return add_as<float>(all, to, count, takes_part);
      case dtype::float64:
        return add_as<double>(all, to, count, takes_part);
      case dtype::int32:
        return add_as<std::int32_t>(all, to, count, takes_part);
      default:
        return add_as<std::int64_t>(all, to, count, takes_part);
    }
  }
  template <class T>
  void add_as(const std::byte* all, std::byte* to, std::size_t count,
              const bool* takes_part) const {
    std::vector<const T*> of(static_cast<std::size_t>(group_.size()));
    for (std::size_t r = 0; r < of.size(); ++r)
      if (takes_part[r]) of[r] = reinterpret_cast<const T*>(all) + r * count;
    T* const sum = reinterpret_cast<T*>(to);
    if constexpr (std::is_floating_point_v<T>)
      if (call_.kind == engine::process_reduction::sum)
        return tree_sum<T>({of.data(), nullptr, group_.size()}).add(0, count, sum);
    bool is_first = true;
    std::fill_n(sum, count, T(0));
    for (const T* const one : of) {
      if (one == nullptr) continue;
      if (is_first)
        std::copy_n(one, count, sum);
      else if (call_.kind == engine::process_reduction::sum)
        for (std::size_t k = 0; k < count; ++k) sum[k] = math::wrapping_sum(sum[k], one[k]);
      else
        for (std::size_t k = 0; k < count; ++k) sum[k] = larger(sum[k], one[k]);
      is_first = false;
    }
  }
  /// Treats NaN as larger than any number, so that the maximum does not lose it.
  template <class T>
  static T larger(T a, T b) {
    return a != a || a > b ? a : b;
  }

  Group& group_;
  engine::reduction_call call_;
};

}}}  // namespace lamina::distributed

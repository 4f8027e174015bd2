// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/row_scatter.cuh - a kernel that moves rows between one array and many
// other arrays, whose addresses the host knows.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <vector>

#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// With Gathers, rows[r] becomes *position[r], or zeros if position[r] is null. Without Gathers,
/// *position[r] becomes rows[r], unless position[r] is null.
template <bool Gathers>
struct row_scatter_body {
  struct arguments {
    void* rows;
    void* const* position;
    std::ptrdiff_t stride;
    divider columns;
    int bytes, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int column = i;
    const int r = a.columns.divide(column);
    void* const there = a.position[r];
    const std::ptrdiff_t here = r * a.stride + column;
    if constexpr (Gathers) {
      if (there != nullptr)
        copy_element(there, column, a.rows, here, a.bytes);
      else
        zero_element(a.rows, here, a.bytes);
    } else if (there != nullptr) {
      copy_element(a.rows, here, there, column, a.bytes);
    }
  }
};

}  // namespace detail

/// A list with one entry per row of the array `of`: the address of the row in another array from
/// which or to which it is copied. The host sends the list to the scratch memory of the call.
class row_scatter {
 public:
  explicit row_scatter(const operand& of) : of_(of), at_(static_cast<std::size_t>(of.rows)) {}

  /// Pairs row `row` with row r of another array.
  void set(int row, const operand& other, int r) {
    at_[static_cast<std::size_t>(row)] =
        static_cast<char*>(other.data) + r * other.stride * size_of(other.type);
  }
  /// Copies the listed rows into the array; rows of the array without an address become zeros.
  template <class Backend>
  void gather(Backend& b, const call_context& c) const {
    move<true>(b, c);
  }
  /// Copies the rows of the array to the listed addresses.
  template <class Backend>
  void spread(Backend& b, const call_context& c) const {
    move<false>(b, c);
  }
  static std::ptrdiff_t scratch(const call_context& c) {
    constexpr std::ptrdiff_t floats = sizeof(void*) / sizeof(float);
    return floats * row_order::scratch(c);
  }

 private:
  template <bool Gathers, class Backend>
  void move(Backend& b, const call_context& c) const {
    if (at_.empty()) return;
    c.run.reader->write(c.run.reader->machine, c.run.scratch, at_.data(),
                        at_.size() * sizeof(void*));
    b.template elements<detail::row_scatter_body<Gathers>>(
        {of_.data, reinterpret_cast<void* const*>(c.run.scratch), of_.stride, divider(of_.columns),
         size_of(of_.type), of_.rows * of_.columns});
  }

  operand of_;
  std::vector<void*> at_;
};

}}}  // namespace lamina::engine::cuda

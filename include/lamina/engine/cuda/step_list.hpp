// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/step_list.hpp - the steps of a row loop, as the host lists them while it walks
// along the loop: groups that compute, rows that move, rows that are put aside to be added up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include <lamina/engine/cuda/device_buffer.hpp>
#include <lamina/engine/cuda/row_loop_body.hpp>
#include <lamina/engine/cuda/row_map.hpp>

namespace lamina::engine::cuda {

/// A list for a loop at a time. To the kernels of operators that move rows it is a backend, which
/// notes the moves.
template <class Backend>
class step_list {
 public:
  /// Whose arrays of tensors these kernels are given.
  using arrays_of = Backend;
  using word = step_words::word;

  explicit step_list(Backend& b) : backend_(b), memory_(b), at_place_(b) {}

  /// Begins a list. `launch(memory)` does what is listed, and clears the list.
  void open(int group, int block, int arguments, int aside, void* memory, void (*launch)(void*)) {
    group_ = group;
    block_ = block;
    words_ = step_words::of(arguments);
    memory_of_ = memory;
    launch_ = launch;
    aside_.assign(static_cast<std::size_t>(aside), {});
    clear();
  }
  void close() { block_ = -1; }
  bool is_open() const { return block_ >= 0; }
  /// The group whose block it is, and this block.
  int group() const { return group_; }
  int block() const { return block_; }
  /// Does at once what is listed: addresses are about to become others.
  void flush() {
    if (is_open() && count() > 0) launch_(memory_of_);
  }
  void clear() {
    steps_.clear();
    patches_.clear();
    forget_open();
    rows_ = 0;
    for (aside_rows& a : aside_) a = {};
  }
  int count() const { return static_cast<int>(steps_.size()) / words_; }
  /// The most rows of a step.
  int rows() const { return rows_; }

  /// Lists a group that reads and writes so many arrays; bits of `stores` are those that it writes.
  /// `call`: of an operator, whose words follow the arrays.
  void add_group(step_head head, float* const* of, int arguments, unsigned stores,
                 const cell_call* call = nullptr) {
    if (head.rows <= 0) return;
    // Of arrays of two widths, as those of a call, the broad ones count.
    const std::ptrdiff_t stride =
        head.depth > 0 ? head.to_stride : std::max(head.from_stride, head.to_stride);
    const auto range = [&](int i) { return range_of(of[i], head.rows, stride); };
    const int first = head.depth > 0 ? 2 : 0;
    if (head.depth > 0) head.waits = conflicts(range_of(of[0], head.rows, head.from_stride), false);
    for (int i = first; i < arguments && !head.waits; ++i)
      head.waits = conflicts(range(i), (stores >> i & 1u) != 0);
    // The threads of a product wait for each other behind its left side.
    if (head.waits || head.depth > 0) forget_open();
    for (int i = first; i < arguments; ++i) open_.push_back({range(i), (stores >> i & 1u) != 0});
    push(head, of, arguments);
    if (call == nullptr) return;
    const std::size_t words = steps_.size() - static_cast<std::size_t>(words_ - arguments) +
                              static_cast<std::size_t>(step_words::head);
    std::copy_n(call->words, cell_call::most_words,
                steps_.begin() + static_cast<std::ptrdiff_t>(words));
  }
  /// Puts the rows of an operand behind those that list n of what is put aside has.
  void put_aside(int n, const operand& x) {
    if (x.rows <= 0) return;
    aside_rows& a = aside_[static_cast<std::size_t>(n)];
    a.stride = x.stride;
    patches_.push_back({steps_.size() + step_words::head + 1, n, a.rows});
    add_move(step_head::copy, 0, x.rows, x.columns, {static_cast<float*>(x.data), x.stride},
             {nullptr, x.stride});
    a.rows += x.rows;
  }
  int aside_count(int n) const { return aside_[static_cast<std::size_t>(n)].rows; }
  /// Finds memory for what is put aside and `scratch` floats more; returns where these are.
  float* place_aside(std::ptrdiff_t scratch) {
    std::ptrdiff_t end = 0;
    for (aside_rows& a : aside_) {
      a.at = end;
      end += a.rows * a.stride;
    }
    reserve(memory_, static_cast<std::size_t>(end + scratch) * sizeof(float));
    for (const patch& p : patches_) {
      const aside_rows& a = aside_[static_cast<std::size_t>(p.number)];
      steps_[p.word] = reinterpret_cast<word>(aside(p.number) + p.row * a.stride);
    }
    return reinterpret_cast<float*>(memory_.data()) + end;
  }
  float* aside(int n) const {
    return reinterpret_cast<float*>(memory_.data()) + aside_[static_cast<std::size_t>(n)].at;
  }
  /// Sends the list by `send(to, from, bytes)`; returns where it is.
  template <class Send>
  const word* send(const Send& send) {
    const std::size_t bytes = steps_.size() * sizeof(word);
    reserve(at_place_, bytes);
    send(at_place_.data(), steps_.data(), bytes);
    return reinterpret_cast<const word*>(at_place_.data());
  }

  // As a backend.
  template <class Body>
  void elements(const typename Body::arguments& a) {
    const int columns = a.columns.divisor(), rows = a.count / columns;
    constexpr bool adds = __is_same(Body, row_move_body<row_move::gather_add>);
    static_assert(adds || __is_same(Body, row_move_body<row_move::gather>));
    add_move(adds ? step_head::add : step_head::copy, 0, rows, columns,
             {const_cast<float*>(static_cast<const float*>(a.from)), a.from_stride},
             {static_cast<float*>(a.to), a.to_stride});
  }
  /// Columns of rows become columns of others.
  void copy_columns(const std::ptrdiff_t* extent, const engine::array_part& from,
                    const engine::array_part& to) {
    add_move(step_head::copy, 0, static_cast<int>(extent[0]), static_cast<int>(extent[1]),
             {static_cast<float*>(from.data) + from.offset, from.step[0]},
             {static_cast<float*>(to.data) + to.offset, to.step[0]});
  }
  void clear_rows(const operand& to, int first) {
    add_move(step_head::clear, first, to.rows, to.columns, {nullptr, 0},
             {static_cast<float*>(to.data), to.stride});
  }

 private:
  /// Rows of one variable in all steps so far.
  struct aside_rows {
    int rows = 0;
    std::ptrdiff_t stride = 0, at = 0;
  };
  /// An array that a step reads or writes; null for none that others know of.
  struct moved_rows {
    float* data;
    std::ptrdiff_t stride;
  };
  struct address_range {
    const float *begin, *end;
  };
  struct open_range {
    address_range at;
    bool written;
  };
  static address_range range_of(const float* data, int rows, std::ptrdiff_t stride) {
    return {data, data == nullptr ? data : data + rows * stride};
  }
  /// Whether a step that reads or writes these rows has to wait for one before.
  bool conflicts(const address_range& r, bool writes) const {
    for (const open_range& o : open_)
      if ((writes || o.written) && r.begin < o.at.end && o.at.begin < r.end) return true;
    return false;
  }
  void forget_open() {
    open_.clear();
    thread_ = 0;
  }
  void add_move(std::int16_t kind, int first, int rows, int columns, const moved_rows& from,
                const moved_rows& to) {
    if (rows <= first) return;
    const address_range read = range_of(from.data, rows, from.stride);
    const address_range written = range_of(to.data, rows, to.stride);
    const bool waits = conflicts(read, false) || conflicts(written, true);
    if (waits) forget_open();
    open_.push_back({read, false});
    open_.push_back({written, true});
    float* const of[] = {from.data, to.data};
    push({kind, waits, first, rows, columns, static_cast<int>(from.stride),
          static_cast<int>(to.stride), 0, thread_},
         of, 2);
    thread_ = (thread_ + columns + 31) / 32 * 32 % threads_;
  }
  void push(const step_head& head, float* const* of, int arguments) {
    rows_ = std::max(rows_, static_cast<int>(head.rows));
    const std::size_t at = steps_.size();
    steps_.resize(at + static_cast<std::size_t>(words_));
    std::memcpy(&steps_[at], &head, sizeof(head));
    for (int i = 0; i < arguments; ++i)
      steps_[at + static_cast<std::size_t>(step_words::head + i)] = reinterpret_cast<word>(of[i]);
  }

  /// A step whose target is known when all steps are.
  struct patch {
    std::size_t word;
    int number, row;
  };
  /// What was recorded names places of memory that is gone.
  void reserve(device_buffer<Backend>& buffer, std::size_t bytes) {
    if (bytes > buffer.size() && buffer.reserve(bytes + bytes / 4)) backend_.forget();
  }

  static constexpr int threads_ = Backend::row_threads;
  Backend& backend_;
  device_buffer<Backend> memory_, at_place_;
  std::vector<open_range> open_;  // of steps that some threads may still be at
  int thread_ = 0;                // that begins the next move
  std::vector<word> steps_;
  std::vector<patch> patches_;
  std::vector<aside_rows> aside_;
  int group_ = -1, block_ = -1, words_ = 1, rows_ = 0;
  void* memory_of_ = nullptr;
  void (*launch_)(void*) = nullptr;
};

namespace detail {
/// Of a program without row loops.
struct no_step_list {
  template <class Backend>
  explicit no_step_list(Backend&) {}
};
}  // namespace detail

}  // namespace lamina::engine::cuda

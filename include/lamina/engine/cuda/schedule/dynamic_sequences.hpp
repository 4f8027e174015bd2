// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/dynamic_sequences.hpp - the host side of device operators that make
// rows and sequences: the host computes the sequence offsets and sends them to the device.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lamina/engine/common/dynamic_rows.hpp>
#include <lamina/engine/cuda/body/row_map.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The host's view of a call that sets rows and sequences: the type Call of dynamic_rows.hpp.
/// Kernels that were launched before may still be running.
class host_rows : public operator_call {
 public:
  explicit host_rows(const call_context& c) : operator_call(c), c_(c) {}

  sequence_rows sequences(int domain) const {
    return {c_.run.host_offsets[domain], rows_in(parent_of(domain))};
  }
  bool makes_rows() const { return c_.run.allocator != nullptr; }
  /// Whether the number of rows of a domain has been set in this iteration.
  bool knows_rows(int domain) const { return c_.knows_rows(domain); }
  int* make_offsets(int domain, int sequences) const {
    return c_.run.allocator->make_offsets(c_.run.allocator->machine, domain, sequences);
  }
  /// Sets the number of rows of a domain, and copies its sequence offsets to the device.
  void set_rows(int domain, int rows) const {
    c_.set_rows(domain, rows);
    if (kind_of(domain) == domain_kind::sequence)
      c_.run.reader->send_offsets(c_.run.reader->machine, domain);
  }

 private:
  const call_context& c_;
};

/// Returns `of(data, type, at)` for each element of an input. Waits for the device if the host has
/// no copy of the input.
template <class Of>
auto values_of(const call_context& c, int slot, const Of& of) {
  operand o = c.on_host(slot);
  std::vector<std::uint64_t> words;
  if (!o) {
    const std::size_t bytes = static_cast<std::size_t>(o.rows) *
                              static_cast<std::size_t>(o.stride) *
                              static_cast<std::size_t>(size_of(o.type));
    words.resize(bytes / sizeof(std::uint64_t) + 1);
    if (bytes > 0)
      c.run.reader->read(c.run.reader->machine, words.data(), c.input(slot).data, bytes);
    o.data = words.data();
  }
  std::vector<decltype(of(nullptr, o.type, 0))> found;
  for (int r = 0; r < o.rows; ++r)
    for (int j = 0; j < o.columns; ++j) found.push_back(of(o.data, o.type, r * o.stride + j));
  return found;
}
/// Returns the elements of an input as integers.
inline std::vector<std::int64_t> values_of(const call_context& c, int slot) {
  return values_of(c, slot, [](const void* data, dtype type, std::ptrdiff_t at) {
    return load_integer(data, type, at);
  });
}
/// A list of row indices that the host builds and sends to the scratch memory of the call.
class row_order {
 public:
  void add(int first, int n) {
    for (int r = first; r < first + n; ++r) rows_.push_back(r);
  }
  int size() const { return static_cast<int>(rows_.size()); }
  row_map copy_to_device(const call_context& c) const {
    row_map m;
    m.order = reinterpret_cast<const int*>(c.run.scratch);
    c.run.reader->write(c.run.reader->machine, c.run.scratch, rows_.data(),
                        rows_.size() * sizeof(int));
    return m;
  }
  /// Returns the floats of scratch memory for a list with as many entries as the largest variable
  /// of the call has rows.
  static std::ptrdiff_t scratch(const call_context& c) {
    int most = 0;
    const auto count = [&](const operand& o) { most = o.rows > most ? o.rows : most; };
    for (int s = 0; s < c.schema().input_count; ++s)
      for (int i = 0; i < c.input_count(s); ++i) count(c.input(s, i));
    for (int s = 0; s < c.schema().output_count; ++s)
      for (int i = 0; i < c.output_count(s); ++i) count(c.output(s, i));
    return most;
  }

 private:
  std::vector<int> rows_;
};

/// Lists the rows of the selected parts (see make_parts) of an input of domain `from`, in order.
template <class Each>
row_order order_of_parts(const host_rows& h, int from, int levels, const Each& each) {
  row_order order;
  each([&](int part) {
    const int first = first_below(h, from, levels, 0, part);
    order.add(first, first_below(h, from, levels, 0, part + 1) - first);
  });
  return order;
}

/// Copies selected parts (see make_parts) of input `in` to output `out`, and sets the rows and
/// sequences of `out`.
template <class Backend, class Each>
void choose_parts(Backend& b, const call_context& c, int in, int out, int levels,
                  const Each& each) {
  const host_rows h(c);
  const int from = c.input(in).domain;
  make_parts(h, from, c.output(out).domain, levels, each);
  const operand to = c.output(out);
  if (to)
    move_rows<row_move::gather>(b, c.input(in), to, to.rows,
                                order_of_parts(h, from, levels, each).copy_to_device(c));
}

/// Throws lamina::error for a number that is not an index below `count`, with the same message as
/// the CPU engine.
[[noreturn]] LAMINA_COLD inline void fail_range(const call_context& c, const char* what,
                                                std::int64_t value, int row, std::int64_t count) {
  fail(c, {what, " in row ", row, ": expected 0 to ", count - 1, ", found ", value});
}

}}}  // namespace lamina::engine::cuda

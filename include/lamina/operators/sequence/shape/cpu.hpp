// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/cpu.hpp - kernels of operators that change sequences:
// sequence_concat, sequence_slice, sequence_reshape and lod_reset.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/sequence/cpu.hpp>
#include <lamina/operators/sequence/shape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::sequence_concat> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::sequence_concat>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::sequence_slice> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::sequence_slice>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::sequence_reshape> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::sequence_reshape>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::sequence_reverse> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

/// Copies the rows of X to Out. Out gets the sequences of Y, or new sequences with the offsets in Y
/// or target_lod.
template <>
struct call_kernel<operators::lod_reset> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  LAMINA_API static void make_rows(const call_context& c);
  /// The offsets of the new sequences, from an attribute or an operand. Each access looks up the
  /// operand again, because its memory may move when the output gets its rows.
  struct numbers {
    const call_context& c;
    std::size_t size() const {
      return static_cast<std::size_t>(c.input(1) ? c.input(1).rows * c.input(1).columns
                                                 : c.list_size(0));
    }
    std::int64_t operator[](std::size_t i) const {
      const operand o = c.input(1);
      const int n = static_cast<int>(i);
      return o ? integer_in(o, n / o.columns, n % o.columns) : c.integer_at(0, n);
    }
  };
};

template <>
struct call_kernel<gradient_of<operators::lod_reset>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::sequence_concat>::run(const call_context& c) {
  const int inputs = c.input_count(0), sequences = c.sequences(c.input(0)).count;
  for (int i = 1; i < inputs; ++i)
    if (c.sequences(c.input(0, i)).count != sequences)
      fail(c, {"expected ", sequences, " sequences in input ", i, " as in the first, found ",
               c.sequences(c.input(0, i)).count});
  make_sequences(c, c.output(0).domain, sequences, [&](int s) {
    int n = 0;
    for (int i = 0; i < inputs; ++i) n += c.sequences(c.input(0, i)).length(s);
    return n;
  });
  const operand out = c.output(0);
  for_each_concatenated(c, [&](int i, int from, int rows, int to) {
    copy_block(c.input(0, i), from, out, to, rows);
  });
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_concat>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_concat>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::sequence_concat>>::run(const call_context& c) {
  const operand d = c.input(1);
  for_each_concatenated(c, [&](int i, int to, int rows, int from) {
    if (const operand dx = c.output(0, i)) copy_block(d, from, dx, to, rows);
  });
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_concat>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_concat>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::sequence_slice>::run(const call_context& c) {
  const operand offset = c.input(1), length = c.input(2);
  const int sequences = c.sequences(c.input(0)).count;
  if (offset.rows != sequences || length.rows != sequences)
    fail(c, {"expected one offset and length for each of ", sequences, " sequences, found ",
             offset.rows, " and ", length.rows});
  const int from = c.input(0).domain;
  make_sequences(c, c.output(0).domain, sequences, [&](int s) {
    const std::int64_t has = c.sequences(from).length(s);
    const std::int64_t first = integer_in(offset, s, 0), n = integer_in(length, s, 0);
    if (first < 0 || first > has) fail_range(c, "offset", first, s, has + 1, offset);
    if (n < 0 || n > has - first) fail_range(c, "length", n, s, has - first + 1, length);
    return static_cast<int>(n);
  });
  const operand x = c.input(0), first = c.input(1), out = c.output(0);
  const sequence_rows all = c.sequences(x), cut = c.sequences(out);
  for (int s = 0; s < sequences; ++s)
    copy_block(x, all.begin(s) + static_cast<int>(integer_in(first, s, 0)), out, cut.begin(s),
               cut.length(s));
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_slice>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_slice>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::sequence_slice>>::run(const call_context& c) {
  const operand offset = c.input(1), d = c.input(3), dx = c.output(0);
  if (!dx) return;
  clear(dx);
  const sequence_rows all = c.sequences(dx), cut = c.sequences(d);
  for (int s = 0; s < all.count; ++s)
    copy_block(d, cut.begin(s), dx, all.begin(s) + static_cast<int>(integer_in(offset, s, 0)),
               cut.length(s));
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_slice>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_slice>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::sequence_reshape>::run(const call_context& c) {
  const int from = c.input(0).domain, width = c.input(0).columns, wide = c.output(0).columns;
  make_sequences(c, c.output(0).domain, c.sequences(from).count, [&](int s) {
    const int rows = c.sequences(from).length(s);
    const std::int64_t elements = static_cast<std::int64_t>(rows) * width;
    if (elements % wide != 0)
      fail(c, {"expected sequences whose elements fill rows of ", wide, ", found ", rows,
               " rows of ", width, " in sequence ", s});
    return static_cast<int>(elements / wide);
  });
  copy_elements(c.input(0), c.output(0));
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_reshape>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_reshape>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::sequence_reshape>>::run(const call_context& c) {
  const operand dx = c.output(0);
  if (!dx) return;
  require_size(c, dx, c.input(1));
  copy_elements(c.input(1), dx);
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_reshape>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_reshape>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::sequence_reverse>::run(const call_context& c) {
  const operand x = c.input(0), out = c.output(0);
  const sequence_rows all = c.sequences(x);
  for (int s = 0; s < all.count; ++s)
    for (int r = all.begin(s); r < all.end(s); ++r)
      detail::copy_row(x, all.begin(s) + all.end(s) - 1 - r, out, r);
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_reverse>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_reverse>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::lod_reset>::run(const call_context& c) {
  const operand y = c.input(1);
  if (!y || c.kind_of(y.domain) != domain_kind::sequence) make_rows(c);
  detail::copy_rows(c, c.input(0), c.output(0));
}
LAMINA_INSTANCE(void call_kernel<operators::lod_reset>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::lod_reset>::run<double>(const call_context&))

void call_kernel<operators::lod_reset>::make_rows(const call_context& c) {
  made_offsets(c, c.output(0).domain, c.input(0).rows, c.flag(1), numbers{c});
}

template <class Real>
void call_kernel<gradient_of<operators::lod_reset>>::run(const call_context& c) {
  if (const operand dx = c.output(0)) detail::copy_rows(c, c.input(1), dx);
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::lod_reset>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::lod_reset>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu

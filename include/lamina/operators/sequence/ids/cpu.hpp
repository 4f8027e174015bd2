// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/ids/cpu.hpp - operators on sequences of ids: sequence_enumerate,
// sequence_erase, sequence_scatter.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/sequence/ids/definition.hpp>
#if LAMINA_DEFINES
#include <cstdint>

#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/memory/row_parts.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Copies each sequence of the input without some of its rows. `keeps(x, row, first row of its
/// sequence)` tells whether a row is kept; it is called twice per row.
template <class Keeps>
void keep_rows(const call_context& c, const Keeps& keeps) {
  {
    const operand x = c.input(0);
    const int from = x.domain;
    make_sequences(c, c.output(0).domain, c.sequences(x).count, [&](int s) {
      const sequence_rows all = c.sequences(from);
      int n = 0;
      for (int r = all.begin(s); r < all.end(s); ++r) n += keeps(x, r, all.begin(s)) ? 1 : 0;
      return n;
    });
  }
  const operand x = c.input(0), out = c.output(0);
  const sequence_rows all = c.sequences(x);
  int to = 0;
  for (int s = 0; s < all.count; ++s)
    for (int r = all.begin(s); r < all.end(s); ++r)
      if (keeps(x, r, all.begin(s))) copy_block(x, r, out, to++, 1);
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::sequence_enumerate> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::sequence_erase> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

namespace detail {

/// Calls f(sequence, column in the row of Out that belongs to the sequence, row of Ids) for each
/// row of Ids.
template <class F>
void for_each_scattered(const call_context& c, const operand& ids, int width, F&& f) {
  const sequence_rows all = c.sequences(ids);
  for (int s = 0; s < all.count; ++s)
    for (int r = all.begin(s); r < all.end(s); ++r) {
      const std::int64_t id = integer_in(ids, r, 0);
      if (id < 0 || id >= width) fail_range(c, "id", id, r, width, ids);
      f(s, static_cast<int>(id), r);
    }
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::sequence_scatter> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::sequence_scatter>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::sequence_enumerate>::run(const call_context& c) {
  const operand x = c.input(0), out = c.output(0);
  const sequence_rows all = c.sequences(x);
  std::uint64_t bits = 0;
  store_as(&bits, x.type, 0, static_cast<std::int64_t>(c.number(1)));
  with_word(x.type, [&](auto like) {
    using T = decltype(like);
    T pad;
    std::memcpy(&pad, &bits, sizeof(T));
    for (int s = 0; s < all.count; ++s)
      for (int r = all.begin(s); r < all.end(s); ++r) {
        T* const to = out.row<T>(r);
        for (int w = 0; w < out.columns; ++w)
          to[w] = w < all.end(s) - r ? *x.row<const T>(r + w) : pad;
      }
  });
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_enumerate>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_enumerate>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::sequence_erase>::run(const call_context& c) {
  const int erased = c.list_size(0);
  detail::keep_rows(c, [&](const operand& x, int r, int) {
    const std::int64_t id = integer_in(x, r, 0);
    for (int i = 0; i < erased; ++i)
      if (id == c.integer_at(0, i)) return false;
    return true;
  });
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_erase>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_erase>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::sequence_scatter>::run(const call_context& c) {
  const operand x = c.input(0), ids = c.input(1), updates = c.input(2), out = c.output(0);
  require_real<Real>(c, x);
  const int sequences = c.sequences(ids).count;
  if (sequences != x.rows || updates.rows != ids.rows)
    fail(c, {"expected ", x.rows, " sequences of as many ids as updates, found ", sequences,
             " sequences, ", ids.rows, " ids and ", updates.rows, " updates"});
  copy_block(x, 0, out, 0, x.rows);
  detail::for_each_scattered(c, ids, x.columns, [&](int s, int j, int r) {
    out.row<Real>(s)[j] += *updates.row<const Real>(r);
  });
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_scatter>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_scatter>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::sequence_scatter>>::run(const call_context& c) {
  const operand ids = c.input(0), d = c.input(1), dx = c.output(0), updates = c.output(1);
  if (dx) copy_block(d, 0, dx, 0, d.rows);
  if (!updates) return;
  detail::for_each_scattered(c, ids, d.columns, [&](int s, int j, int r) {
    *updates.row<Real>(r) = d.row<const Real>(s)[j];
  });
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_scatter>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_scatter>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu

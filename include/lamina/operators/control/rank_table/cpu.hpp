// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rank_table/cpu.hpp - kernels that process sequences of different lengths
// step by step.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/control/rank_table/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/operators/control/array/cpu.hpp>
#include <lamina/operators/control/rank_table/common.hpp>
#include <lamina/operators/fill/cpu.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::lod_rank_table> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::max_sequence_len> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::lod_tensor_to_array> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::lod_tensor_to_array_gradient> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::array_to_lod_tensor> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::shrink_rnn_memory> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::shrink_rnn_memory>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::reorder_lod_tensor_by_rank> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::reorder_lod_tensor_by_rank>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::last_rnn_memory> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::last_rnn_memory_gradient> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::fill_constant_batch_size_like> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::lod_rank_table>::run(const call_context& c) {
  const sequence_rows all =
      c.sequences(ranked_domain(c, c.input(0).domain, static_cast<int>(c.integer(0))));
  c.set_rows(c.output(0), all.count);
  rank_sequences(c.output(0), all.count, [&](int i) { return all.length(i); });
}
LAMINA_INSTANCE(void call_kernel<operators::lod_rank_table>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::lod_rank_table>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::max_sequence_len>::run(const call_context& c) {
  *c.output(0).row<std::int64_t>(0) = rank_table(c.input(0)).steps();
}
LAMINA_INSTANCE(void call_kernel<operators::max_sequence_len>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::max_sequence_len>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::lod_tensor_to_array>::run(const call_context& c) {
  const operand x = c.input(0), array = c.output(0);
  const rank_table table(c.input(1));
  array_of(array).clear();
  if (const nested_steps nested(c, x.domain, table); nested.levels() > 0) {
    for (int t = 0; t < table.steps(); ++t) {
      const operand step = new_slot(array, t, nested.rows(t));
      int at = 0;
      nested.each(t, [&](int first, int rows) {
        copy_block(x, first, step, at, rows);
        at += rows;
      });
      nested.write_offsets(t, array_of(array));
    }
    return;
  }
  const sequence_rows all = c.sequences(x);
  for (int t = 0; t < table.steps(); ++t) {
    const operand step = new_slot(array, t, table.alive(t));
    const row_copier copy(x, step);
    for (int r = 0; r < step.rows; ++r) copy(all.begin(table.index(r)) + t, r);
  }
}
LAMINA_INSTANCE(void call_kernel<operators::lod_tensor_to_array>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::lod_tensor_to_array>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::lod_tensor_to_array_gradient>::run(const call_context& c) {
  const operand array = c.input(2), dx = c.output(0);
  if (!dx) return;
  const rank_table table(c.input(1));
  const nested_steps nested(c, dx.domain, table);
  for (int t = 0; t < table.steps(); ++t) {
    const bool held = array_of(array).holds(t);
    const operand step = held ? slot_of(array, t) : operand{};
    if (const int n = held ? nested.rows(t) : 0; held && step.rows != n)
      detail::fail_slot(c, t, n, step.rows);
    int at = 0;
    nested.each(t, [&](int first, int rows) {
      if (held)
        copy_block(step, at, dx, first, rows);
      else
        clear_block(dx, first, rows);
      at += rows;
    });
  }
}
LAMINA_INSTANCE(
    void call_kernel<operators::lod_tensor_to_array_gradient>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::lod_tensor_to_array_gradient>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::array_to_lod_tensor>::run(const call_context& c) {
  const operand array = c.input(0), out = c.output(0);
  const rank_table table(c.input(1));
  const sequence_rows all = c.sequences(out);
  const tensor_array& from = array_of(array);
  for (int t = 0; t < table.steps(); ++t) {
    const int n = table.alive(t);
    if (!from.holds(t)) {
      for (int r = 0; r < n; ++r) clear_block(out, all.begin(table.index(r)) + t, 1);
      continue;
    }
    const operand step = slot_of(array, t);
    if (step.rows != n) detail::fail_slot(c, t, n, step.rows);
    const row_copier copy(step, out);
    for (int r = 0; r < n; ++r) copy(r, all.begin(table.index(r)) + t);
  }
}
LAMINA_INSTANCE(void call_kernel<operators::array_to_lod_tensor>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::array_to_lod_tensor>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::shrink_rnn_memory>::run(const call_context& c) {
  const operand x = c.input(0);
  const int n = rank_table(c.input(2)).alive(index_in(c, c.input(1)));
  const int levels = levels_of(c, x.domain);
  const int found = levels == 0 ? x.rows : c.rows_in(domain_above(c, x.domain, levels));
  if (n > found) fail(c, {"expected at least ", n, " rows or sequences, found ", found});
  if (levels > 0)
    return choose_parts(c, 0, 0, levels, [n](auto&& take) {
      for (int i = 0; i < n; ++i) take(i);
    });
  c.set_rows(c.output(0), n);
  if (c.shows()) return c.show(c.input(0).data);
  copy_block(c.input(0), 0, c.output(0), 0, n);
}
LAMINA_INSTANCE(void call_kernel<operators::shrink_rnn_memory>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::shrink_rnn_memory>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::shrink_rnn_memory>>::run(const call_context& c) {
  const operand d = c.input(1), dx = c.output(0);
  if (!dx) return;
  if (d.rows > dx.rows) fail(c, {"expected at most ", dx.rows, " rows, found ", d.rows});
  copy_block(d, 0, dx, 0, d.rows);
  clear_block(dx, d.rows, dx.rows - d.rows);
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::shrink_rnn_memory>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::shrink_rnn_memory>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::reorder_lod_tensor_by_rank>::run(const call_context& c) {
  const operand x = c.input(0);
  const rank_table table(c.input(1));
  const int levels = levels_below(c, x.domain, table.domain());
  const int found = levels == 0 ? x.rows : c.rows_in(table.domain());
  if (found != table.count())
    fail(c, {"expected ", table.count(), " rows or sequences, found ", found});
  // Reads the operand again in each call of this function: its address may change when the output
  // gets its rows, because this may reallocate the machine's memory.
  choose_parts(c, 0, 0, levels, [&c](auto&& take) {
    const rank_table now(c.input(1));
    for (int r = 0; r < now.count(); ++r) take(now.index(r));
  });
}
LAMINA_INSTANCE(
    void call_kernel<operators::reorder_lod_tensor_by_rank>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::reorder_lod_tensor_by_rank>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::reorder_lod_tensor_by_rank>>::run(const call_context& c) {
  const rank_table table(c.input(0));
  const operand d = c.input(1), dx = c.output(0);
  if (!dx) return;
  const int levels = levels_below(c, dx.domain, table.domain());
  if (levels == 0) {
    const row_copier copy(d, dx);
    for (int r = 0; r < d.rows; ++r) copy(r, table.index(r));
    return;
  }
  for (int r = 0; r < table.count(); ++r) {
    const int from = first_below(c, d.domain, levels, 0, r);
    const int n = first_below(c, d.domain, levels, 0, r + 1) - from;
    copy_block(d, from, dx, first_below(c, dx.domain, levels, 0, table.index(r)), n);
  }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::reorder_lod_tensor_by_rank>>::run<float>(
    const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::reorder_lod_tensor_by_rank>>::run<double>(
    const call_context&))

template <class Real>
void call_kernel<operators::last_rnn_memory>::run(const call_context& c) {
  const operand array = c.input(0), out = c.output(0);
  const rank_table table(c.input(1));
  for (int r = 0; r < table.count(); ++r) {
    const int t = table.length(r);
    if (!array_of(array).holds(t) || array_of(array).rows(t) <= r)
      fail(c, {"expected a row for sequence ", table.index(r), " at index ", t,
               " of the array, found none"});
    copy_block(slot_of(array, t), r, out, table.index(r), 1);
  }
}
LAMINA_INSTANCE(void call_kernel<operators::last_rnn_memory>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::last_rnn_memory>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::last_rnn_memory_gradient>::run(const call_context& c) {
  const rank_table table(c.input(0));
  const operand d = c.input(1), array = c.output(0);
  require_real<Real>(c, d);
  for (int r = 0; r < table.count(); ++r) {
    const int t = table.length(r);
    if (!array_of(array).holds(t)) {
      const int rows = t == 0 ? table.count() : table.alive(t - 1);
      clear_block(new_slot(array, t, rows), 0, rows);
    }
    const Real* const from = d.row<const Real>(table.index(r));
    Real* const sum = slot_of(array, t).row<Real>(r);
    for_each_position<Real>(d.columns, [&](std::ptrdiff_t j, auto like) {
      store(sum + j, decltype(like)(load(sum + j, like) + load(from + j, like)));
    });
  }
}
LAMINA_INSTANCE(
    void call_kernel<operators::last_rnn_memory_gradient>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::last_rnn_memory_gradient>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::fill_constant_batch_size_like>::run(const call_context& c) {
  c.set_rows(c.output(0), c.input(0).rows);
  detail::fill(c.output(0), c.number(2));
}
LAMINA_INSTANCE(
    void call_kernel<operators::fill_constant_batch_size_like>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::fill_constant_batch_size_like>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu

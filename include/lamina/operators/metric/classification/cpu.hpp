// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/classification/cpu.hpp - the kernels of top_k, accuracy, auc and one_hot.
#pragma once

#include <lamina/core/config.hpp>

#include <cstring>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/metric/classification/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::top_k> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  /// Writes the indices of the k largest of n elements, the largest first. Equal elements keep
  /// their order, and NaN ranks above all numbers.
  template <class Value>
  LAMINA_NOINLINE static void choose(Value value, int n, int k, std::int64_t* index) {
    int found = 0;
    auto worst = value(0);
    for (int j = 0; j < n; ++j) {
      const auto v = value(j);
      if (found == k && !math::is_above(v, worst)) continue;
      int at = found < k ? found++ : k - 1;
      for (; at > 0 && math::is_above(v, value(index[at - 1])); --at) index[at] = index[at - 1];
      index[at] = j;
      worst = value(index[found - 1]);
    }
  }
};

template <>
struct call_kernel<gradient_of<operators::top_k>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::accuracy> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  /// Whether a score is not NaN. A label with the score NaN does not count as correct.
  static bool is_number(const operand& scores, int row, int column) {
    const double score = load_as<double>(scores.data, scores.type,
                                         row * static_cast<std::ptrdiff_t>(scores.stride) + column);
    return score == score;
  }
};

template <>
struct call_kernel<operators::auc> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  static std::ptrdiff_t position(const operand& o, int i) {
    return i / o.columns * o.stride + i % o.columns;
  }
  static std::int64_t count(const operand& o, int i) {
    return load_as<std::int64_t>(o.data, o.type, position(o, i));
  }
  static void keep(const operand& from, const operand& to) {
    if (from.data != to.data) copy_elements(from, to);
  }
};

template <>
struct call_kernel<operators::one_hot> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::top_k>::run(const call_context& c) {
  const operand in = c.input(0), out = c.output(0), indices = c.output(1);
  const row_lines lines(in);
  const int k = c.integer(0);
  if (k < 1 || k > lines.n) fail(c, {"expected k from 1 to ", lines.n, ", found ", k});
  const std::size_t width = static_cast<std::size_t>(size_of(in.type));
  for (int r = 0; r < lines.rows; ++r)
    for (int o = 0; o < lines.outer; ++o) {
      const std::ptrdiff_t first = r * in.stride + static_cast<std::ptrdiff_t>(o) * lines.n;
      std::int64_t* const index = indices.row<std::int64_t>(r) + o * k;
      if (in.type == dtype::float32)
        choose([x = in.row<const float>(0) + first](std::int64_t j) { return x[j]; }, lines.n, k,
               index);
      else if (is_floating(in.type))
        choose([&](std::int64_t j) { return load_as<double>(in.data, in.type, first + j); },
               lines.n, k, index);
      else
        choose([&](std::int64_t j) { return load_as<std::int64_t>(in.data, in.type, first + j); },
               lines.n, k, index);
      const char* from = in.row<const char>(0) + first * static_cast<std::ptrdiff_t>(width);
      char* to = static_cast<char*>(out.data) +
                 (r * out.stride + o * k) * static_cast<std::ptrdiff_t>(width);
      for (int i = 0; i < k; ++i, to += width)
        std::memcpy(to, from + index[i] * static_cast<std::int64_t>(width), width);
    }
}
LAMINA_INSTANCE(void call_kernel<operators::top_k>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::top_k>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::top_k>>::run(const call_context& c) {
  const operand indices = c.input(1), grad = c.input(2), dx = c.output(0);
  if (!dx) return;
  require_real<Real>(c, dx);
  clear(dx);
  const row_lines lines(dx);
  const int k = c.integer(0);
  for (int r = 0; r < lines.rows; ++r)
    for (int i = 0; i < lines.outer * k; ++i)
      dx.row<Real>(r)[i / k * lines.n + indices.row<const std::int64_t>(r)[i]] +=
          grad.row<const Real>(r)[i];
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::top_k>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::top_k>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::accuracy>::run(const call_context& c) {
  const operand scores = c.input(0), indices = c.input(1), label = c.input(2);
  const operand part = c.output(0), correct = c.output(1), total = c.output(2);
  const row_lines lines(indices);
  std::int64_t hits = 0;
  for (int r = 0; r < lines.rows; ++r)
    for (int o = 0; o < lines.outer; ++o) {
      const std::int64_t wanted = integer_in(label, r, o);
      const std::int64_t* found = indices.row<const std::int64_t>(r) + o * lines.n;
      int i = 0;
      while (i < lines.n && found[i] != wanted) ++i;
      hits += i < lines.n && is_number(scores, r, o * lines.n + i) ? 1 : 0;
    }
  const std::int64_t all = static_cast<std::int64_t>(lines.rows) * lines.outer;
  if (part)
    store_as(part.data, part.type, 0,
             all == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(all));
  if (correct) store_as(correct.data, correct.type, 0, hits);
  if (total) store_as(total.data, total.type, 0, all);
}
LAMINA_INSTANCE(void call_kernel<operators::accuracy>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::accuracy>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::auc>::run(const call_context& c) {
  const operand predict = c.input(0), label = c.input(1);
  const operand area = c.output(0), positive = c.output(1), negative = c.output(2);
  require_real<Real>(c, predict);
  const int thresholds = c.integer(1);
  if (text_of(c, 0) != "ROC") fail(c, {"expected the curve 'ROC', found '", text_of(c, 0), "'"});
  const auto counts = [](const operand& o) { return layout_of(o).size(); };
  if (counts(positive) != thresholds + 1 || counts(negative) != thresholds + 1)
    fail(c, {"expected ", thresholds + 1, " counts in StatPosOut and StatNegOut, found ",
             counts(positive), " and ", counts(negative)});
  keep(c.input(2), positive);
  keep(c.input(3), negative);
  for (int r = 0; r < predict.rows; ++r) {
    const Real score = predict.row<const Real>(r)[predict.columns - 1];
    if (!(score >= 0 && score <= 1))
      fail(c, {"prediction in row ", r, ": expected 0 to 1, found ", score});
    const int bin = static_cast<int>(score * static_cast<Real>(thresholds));
    const operand& to = integer_in(label, r, 0) > 0 ? positive : negative;
    store_as(to.data, to.type, position(to, bin), count(to, bin) + 1);
  }
  // Adds up the areas of the trapezoids under the ROC curve, from the highest score to the lowest.
  double sum = 0, p = 0, n = 0;
  for (int i = thresholds + 1; i-- > 0;) {
    const double more = static_cast<double>(count(positive, i));
    const double width = static_cast<double>(count(negative, i));
    sum += width * (p + p + more) / 2;
    p += more;
    n += width;
  }
  if (area) store_as(area.data, area.type, 0, p > 0 && n > 0 ? sum / p / n : 0.0);
}
LAMINA_INSTANCE(void call_kernel<operators::auc>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::auc>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::one_hot>::run(const call_context& c) {
  const operand in = c.input(0), out = c.output(0);
  const int depth = c.integer(0);
  const bool lenient = c.flag(1);
  clear(out);
  for (int r = 0; r < in.rows; ++r)
    for (int o = 0; o < in.columns; ++o) {
      const std::int64_t k = integer_in(in, r, o);
      if (k >= 0 && k < depth)
        store_as(out.data, out.type, r * out.stride + static_cast<std::ptrdiff_t>(o) * depth + k,
                 1.0);
      else if (!lenient)
        fail_range(c, "number", k, r, depth, in);
    }
}
LAMINA_INSTANCE(void call_kernel<operators::one_hot>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::one_hot>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu

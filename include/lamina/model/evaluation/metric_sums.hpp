// SPDX-License-Identifier: Apache-2.0
// lamina/model/evaluation/metric_sums.hpp - combines metrics over mini-batches, parts of
// mini-batches and processes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/plan/quotient.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A metric of some rows as a quotient of two sums, so that several can be added up.
struct metric_sum {
  double numerator = 0, denominator = 0;
  quotient_sums sums{};  // used instead if the program computes the metric as a quotient of sums
};

namespace detail {

/// The variables in which operator auc counts positive and negative samples per bin of scores; -1
/// for any other metric.
struct auc_counts {
  int positive = -1, negative = -1;
};
constexpr auc_counts auc_counts_of(const program_desc& p, int v) {
  for (int k = 0; p.variables[v].type == dtype::float64 && k < p.count.operators; ++k) {
    const operator_desc& op = p.operators[k];
    if (std::string_view(op.schema->type) == "auc" && p.arguments[op.outputs] == v)
      return {p.arguments[op.outputs + 1], p.arguments[op.outputs + 2]};
  }
  return {};
}

/// Returns the address of the counts of auc in a machine.
template <class Machine>
std::int64_t* counts_in(Machine& m, int variable) {
  return reinterpret_cast<std::int64_t*>(m.address(variable));
}
/// Returns the area under the ROC curve by the trapezoidal rule. `positive` and `negative` have the
/// counts per bin of scores.
inline double area_under(const std::vector<double>& positive, const std::vector<double>& negative) {
  double area = 0, p = 0, n = 0;
  for (std::size_t i = positive.size(); i-- > 0;) {
    area += negative[i] * (p + p + positive[i]) / 2;
    p += positive[i];
    n += negative[i];
  }
  return p > 0 && n > 0 ? area / p / n : 0.0;
}

}  // namespace detail

/// How the metrics of program P are combined over a pass. Metrics that are sums over rows are
/// averaged over mini-batches, weighted by their samples, like the cost. Metrics that are means are
/// weighted by the number of rows over which the mean is taken.
template <program_type P>
struct metric_rules {
  using metrics = program_metrics<P>;
  static constexpr int count = metrics::count;
  struct rule {
    parts_rule parts;
    lamina::quotient quotient;
    detail::auc_counts counts;
  };
  struct list {
    rule of[bound(count)];
    bool any_counts, any_quotients;
  };
  static constexpr list all = [] {
    list l{};
    for (int i = 0; i < count; ++i) {
      const int v = metrics::all.variable[i];
      l.of[i] = {parts_rule_of(P::desc, v), quotient_of(P::desc, v),
                 detail::auc_counts_of(P::desc, v)};
      l.any_counts = l.any_counts || l.of[i].counts.positive >= 0;
      l.any_quotients = l.any_quotients || l.of[i].quotient;
    }
    return l;
  }();

  /// Begins a pass: sets the counts of auc in a machine to 0.
  template <class Machine>
  static void begin_pass(Machine& m) {
    if constexpr (all.any_counts)
      for (int i = 0; i < count; ++i) {
        // The array has a name, because nvcc miscompiles a braced list in the loop.
        const int sides[] = {all.of[i].counts.positive, all.of[i].counts.negative};
        for (const int v : sides) {
          if (v < 0) continue;
          const variable_layout& lies = *m.layout(v);
          std::fill_n(detail::counts_in(m, v), lies.columns, std::int64_t{0});
          // For a machine on a device, counts_in() has returned a copy on the host, so store()
          // copies the counts to the device.
          if constexpr (requires { m.store(lies); }) m.store(lies);
        }
      }
  }
  /// Adds the value of metric i in the machine's last run to `to`.
  template <class Machine>
  static void add(metric_sum& to, Machine& m, int i) {
    const rule& r = all.of[i];
    if constexpr (all.any_quotients)
      if (r.quotient) {
        to.sums.add(r.quotient, m.rows(r.quotient.domain), [&](int v) { return number(m, v); });
        return;
      }
    const double value = metrics::value(m, i);
    const int rows = m.rows(r.parts.domain);
    if (r.counts.positive >= 0)
      to.numerator = value, to.denominator = 1;
    else if (r.parts.is_sum)
      to.numerator += rows > 0 ? value - r.parts.added : 0, to.denominator = 1;
    else if (rows > 0)
      to.numerator += rows * value, to.denominator += rows;
  }
  /// If metric i is an auc, sets `to` to the area under the curve by the counts of several machines
  /// together. `all_reduce(counts, n)`, if given, adds the counts of other processes.
  template <class Machines, class... AllReduce>
  static void add_counts(metric_sum& to, const Machines& machines, int i,
                         AllReduce&&... all_reduce) {
    if constexpr (all.any_counts) {
      std::vector<double> sums[2];
      const int variables[] = {all.of[i].counts.positive, all.of[i].counts.negative};
      for (const auto& each : machines)
        for (int side = 0; side < 2; ++side) {
          auto& m = each->machine();
          sums[side].resize(static_cast<std::size_t>(m.layout(variables[side])->columns));
          const std::int64_t* const counts = detail::counts_in(m, variables[side]);
          for (std::size_t k = 0; k < sums[side].size(); ++k)
            sums[side][k] += static_cast<double>(counts[k]);
        }
      (all_reduce(sums[0].data(), sums[0].size()), ...);
      (all_reduce(sums[1].data(), sums[1].size()), ...);
      to.numerator = detail::area_under(sums[0], sums[1]);
      to.denominator = 1;
    }
  }
  /// Adds metric i of a mini-batch with `samples` samples to the sums of a pass.
  static void extend(metric_sum& pass, const metric_sum& step, int samples, int i) {
    const rule& r = all.of[i];
    if (r.quotient)
      pass.sums.add(step.sums);
    else if (r.counts.positive >= 0)
      pass = step;  // the counts already cover the whole pass until now
    else if (r.parts.is_sum)
      pass.numerator += samples * step.numerator, pass.denominator += samples;
    else
      pass.numerator += step.numerator, pass.denominator += step.denominator;
  }
  /// Returns the value of a metric; 0 if it has no rows.
  static double value(const metric_sum& s, int i) {
    const rule& r = all.of[i];
    if (r.quotient) return s.sums.value(r.quotient);
    return s.denominator > 0 ? s.numerator / s.denominator + r.parts.added : 0;
  }
  /// Returns the value of a scalar variable.
  template <class Machine>
  static double number(Machine& m, int v) {
    const void* const at = m.address(v);
    switch (m.layout(v)->type) {
      case dtype::float64:
        return *static_cast<const double*>(at);
      case dtype::int64:
        return static_cast<double>(*static_cast<const std::int64_t*>(at));
      case dtype::int32:
        return *static_cast<const std::int32_t*>(at);
      default:
        return static_cast<double>(*static_cast<const float*>(at));
    }
  }
};

}}  // namespace lamina

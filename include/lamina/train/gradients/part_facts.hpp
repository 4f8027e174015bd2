// SPDX-License-Identifier: Apache-2.0
// lamina/train/gradients/part_facts.hpp - weights of the parts of a mini-batch, and moving
// statistics over all parts.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/train/gradients/cost_rows.hpp>
#include <lamina/train/gradients/gradient_part.hpp>
#include <lamina/train/parameter_sync.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The facts about one part of a mini-batch from which the weights of all parts are computed. They
/// are plain bytes, because distributed training sends them.
template <program_type P>
struct part_facts {
  real_of<P> weight = 0;  // the weight of the part in the gradient of the mini-batch
  real_of<P> cost = 0;
  int samples = 0;
  // For a cost that is a quotient of sums: the sums of this part, its rows and its denominator.
  quotient_sums sums{};
  double rows = 0, denominator = 0;
};

namespace detail {

/// Records the sums of a part whose cost is a quotient, after its machine has run.
template <program_type P, class Training, class Machine>
void note_quotient(part_facts<P>& f, Machine& m) {
  using metrics = metric_rules<P>;
  constexpr lamina::quotient q = cost_rows<P, Training>::quotient;
  f.rows = m.rows(q.domain);
  f.sums.add(q, f.rows, [&m](int v) { return metrics::number(m, v); });
  f.denominator = metrics::number(m, q.denominator);
}

/// Computes the weights of parts whose cost is a quotient of sums: weight[t] = denominator of part
/// t / denominator of the mini-batch; 0 if part t has no rows. Returns the sums of that
/// denominator. If it is 0, for example because all rows have weight 0, parts with rows get the
/// weight 0 / 0 = NaN; with one thread the gradients are NaN too.
template <program_type P, class Training>
quotient_sums weigh_quotients(std::span<part_facts<P>> parts) {
  constexpr lamina::quotient q = cost_rows<P, Training>::quotient;
  quotient_sums sums;
  for (const part_facts<P>& f : parts)
    if (f.samples > 0 && (!q.of_means || f.rows > 0)) sums.add(f.sums);
  const double whole = sums.denominator(q);
  for (part_facts<P>& f : parts) {
    f.weight = 0;
    if (f.samples == 0) continue;
    if (f.rows <= 0 && (q.of_means || whole == 0)) continue;
    const double fraction = q.of_means ? f.rows / sums.rows : 1;
    f.weight = static_cast<real_of<P>>(fraction * f.denominator / whole);
  }
  return sums;
}

/// Converts the numbers of rows of parts, stored in `weight`, into the weights of their gradients.
/// Calls average() while the weights are fractions of rows. Returns the cost of the mini-batch;
/// sets `divisor` to the number of rows, and `sums` to the sums of a quotient.
template <program_type P, class Training, class Average>
real_of<P> weigh_parts(std::type_identity_t<std::span<part_facts<P>>> parts, quotient_sums& sums,
                       double& divisor, Average&& average) {
  using real = real_of<P>;
  using part_weight = cost_rows<P, Training>;
  real weighed = 0;
  for (const part_facts<P>& f : parts) weighed += f.weight;
  divisor = static_cast<double>(weighed);
  for (part_facts<P>& f : parts) f.weight /= weighed > 1 ? weighed : real(1);
  average();
  if constexpr (part_weight::is_quotient)
    sums = weigh_quotients<P, Training>(parts);
  else if constexpr (part_weight::is_sum)
    for (part_facts<P>& f : parts) f.weight = f.weight > 0 ? real(1) : real(0);
  if constexpr (part_weight::is_quotient)
    return static_cast<real>(sums.ratio(part_weight::quotient));
  // The constant in a sum counts only once.
  constexpr real added = static_cast<real>(part_weight::is_sum ? part_weight::rule.added : 0);
  real cost = added;
  for (const part_facts<P>& f : parts)
    if (f.weight != 0) cost += f.weight * (f.cost - added);
  return cost;
}

/// Computes the weights that weigh_parts() will return for the parts of a mini-batch, if data alone
/// determine them.
template <program_type P, class Training>
LAMINA_COLD void weigh_in_advance(std::vector<real_of<P>>& weights, const batch_view<P>& batch) {
  using real = real_of<P>;
  using part_weight = cost_rows<P, Training>;
  const int parts = static_cast<int>(weights.size());
  real weighed = 0;
  for (int p = 0; p < parts; ++p) {
    real& weight = weights[static_cast<std::size_t>(p)];
    weight = static_cast<real>(part_weight::fed(
        batch.part(first_of_part(batch, p, parts), first_of_part(batch, p + 1, parts))));
    weighed += weight;
  }
  for (real& weight : weights) {
    weight /= weighed > 1 ? weighed : real(1);
    if (part_weight::is_sum) weight = weight > 0 ? real(1) : real(0);
  }
}

/// Combines the shards of a mini-batch that the processes have read: numbers the rows of `mine` as
/// rows of the whole mini-batch, so that they draw the same random numbers as there, and sets
/// `whole` to the numbers of all rows.
template <program_type P>
LAMINA_COLD void gather_rows(parameter_sync& sync, batch_view<P>& mine, batch_view<P>& whole) {
  constexpr int domains = batch_view<P>::domains;
  std::int64_t first[bound(domains)], count[bound(domains)];
  for (int d = 0; d < domains; ++d) count[d] = mine.rows.count[d];
  sync.gather_rows(first, count, domains);
  for (int d = 0; d < domains; ++d) {
    mine.rows.first[d] += first[d];
    whole.rows.count[d] = static_cast<int>(count[d]);
  }
}

/// Sets the moving statistics of a model to the weighted mean over the parts; `copy(t, i)` returns
/// statistic i of part t. A value that is equal in all parts stays unchanged: a counter must not be
/// rounded.
template <program_type P, class Copy>
void average_statistics(std::type_identity_t<std::span<const part_facts<P>>> parts,
                        const Copy& copy, model<P>& to_model) {
  using statistics = moving_statistics<P>;
  using real = real_of<P>;
  for (int i = 0; i < statistics::count; ++i) {
    real* const to = engine::numbers_at<real>(to_model.memory()[statistics::parameter(i)]);
    const std::size_t n = parameters_in<P>().numbers(statistics::parameter(i));
    for (std::size_t k = 0; k < n; ++k) {
      real mean = 0, one = 0;
      bool first = true, equal = true;
      for (std::size_t t = 0; t < parts.size(); ++t) {
        if (parts[t].weight <= 0) continue;
        const real value = engine::numbers_at<real>(copy(t, i))[k];
        mean = (first ? real(0) : mean) + parts[t].weight * value;
        if (first) one = value;
        equal = equal && value == one;
        first = false;
      }
      if (!first) to[k] = equal ? one : mean;
    }
  }
}

}  // namespace detail

}}  // namespace lamina

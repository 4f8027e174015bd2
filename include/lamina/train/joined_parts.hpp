// SPDX-License-Identifier: Apache-2.0
// lamina/train/joined_parts.hpp - weights of the parts of a mini-batch, and moving statistics over
// all parts.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#include <lamina/model/metric_sums.hpp>
#include <lamina/train/gradient_part.hpp>

namespace lamina::inline LAMINA_ABI::detail {

/// Computes the weights of parts whose cost is a quotient of sums: weight[t] = denominator of part
/// t / denominator of the mini-batch; 0 if part t has no rows. Returns the sums of that
/// denominator. If it is 0, as for a mini-batch whose rows all have weight 0, parts with rows get
/// the weight 0 / 0: with one thread the gradients are NaN too.
template <program_type P, class Training>
quotient_sums weigh_quotients(std::vector<std::unique_ptr<gradient_part<P, Training>>>& parts,
                              const std::vector<int>& samples, std::vector<real_of<P>>& weight) {
  using metrics = metric_rules<P>;
  constexpr lamina::quotient q = cost_rows<P, Training>::quotient;
  quotient_sums sums;
  for (std::size_t t = 0; t < parts.size(); ++t) {
    auto& m = parts[t]->machine();
    if (samples[t] > 0)
      sums.add(q, m.rows(q.domain), [&m](int v) { return metrics::number(m, v); });
  }
  const double whole = sums.denominator(q);
  for (std::size_t t = 0; t < parts.size(); ++t) {
    weight[t] = 0;
    if (samples[t] == 0) continue;
    auto& m = parts[t]->machine();
    const double rows = m.rows(q.domain);
    if (rows <= 0 && (q.of_means || whole == 0)) continue;
    const double share = q.of_means ? rows / sums.rows : 1;
    weight[t] = static_cast<real_of<P>>(share * metrics::number(m, q.denominator) / whole);
  }
  return sums;
}

/// Sets the moving statistics of a model to the weighted mean over the parts. A value that all
/// parts agree on stays as it is: a counter must not lose its last digit in a mean.
template <program_type P, class Training>
void average_statistics(const std::vector<std::unique_ptr<gradient_part<P, Training>>>& parts,
                        const std::vector<real_of<P>>& weight, model<P>& to_model) {
  using statistics = moving_statistics<P>;
  using real = real_of<P>;
  for (int i = 0; i < statistics::count; ++i) {
    real* const to = engine::numbers_at<real>(to_model.memory()[statistics::parameter(i)]);
    const std::size_t n = parameters_in<P>().numbers(statistics::parameter(i));
    for (std::size_t k = 0; k < n; ++k) {
      real mean = 0, one = 0;
      bool first = true, equal = true;
      for (std::size_t t = 0; t < parts.size(); ++t) {
        if (weight[t] <= 0) continue;
        const real value = engine::numbers_at<real>(parts[t]->statistics().copy(i))[k];
        mean = (first ? real(0) : mean) + weight[t] * value;
        if (first) one = value;
        equal = equal && value == one;
        first = false;
      }
      if (!first) to[k] = equal ? one : mean;
    }
  }
}

}  // namespace lamina::inline LAMINA_ABI::detail

// SPDX-License-Identifier: Apache-2.0
// lamina/train/gradients/machine_gradients.hpp - combines the gradients of several gradient
// machines as if they belonged to one mini-batch.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/train/gradients/gradient_parts.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Stores the gradients of the last backward() of each machine in `to`, weighted as if all had run
/// one mini-batch together, and averages their moving statistics into the model. Throws
/// lamina::error if the gradients of this cost cannot be computed from those of several
/// mini-batches.
template <program_type P, class Training>
LAMINA_COLD void combine_machines(std::initializer_list<gradient_machine<P>*> machines,
                                  gradient_parts<P, Training>& to, model<P>& m) {
  using parts = gradient_parts<P, Training>;
  using weights = typename parts::part_weight;
  using metrics = metric_rules<P>;
  using real = real_of<P>;
  constexpr lamina::quotient q = weights::quotient;
  if (machines.size() == 0)
    LAMINA_THROW error("lamina: trainer: expected one gradient machine or more, found none");
  if (machines.size() > 1 && !(parts::accumulates_one_by_one && weights::fits))
    LAMINA_THROW error(
        "lamina: trainer: expected one gradient machine for a cost that is not one mean over rows, "
        "a sum over rows or a quotient of two such sums, found several");
  std::vector<double> rows, weight;
  double all_rows = 0, divisor = 0;
  quotient_sums sums;
  for (gradient_machine<P>* const each : machines) {
    auto& machine = each->machine();
    rows.push_back(machine.rows(weights::domain));
    all_rows += rows.back();
    weight.push_back(weights::is_sum ? 1 : rows.back());
    if constexpr (weights::is_quotient) {
      const double n = machine.rows(q.domain);
      sums.add(q, n, [&](int v) { return metrics::number(machine, v); });
      weight.back() = metrics::number(machine, q.denominator) * (q.of_means ? n : 1);
    }
  }
  divisor = weights::is_quotient ? sums.denominator(q) * (q.of_means ? sums.rows : 1)
            : weights::is_sum    ? 1
                                 : (std::max)(1.0, all_rows);
  for (double& w : weight) w /= divisor;
  for (int i = 0; i < parts::parameters; ++i) {
    if (auto* const selected = to.rows(i); selected != nullptr) {
      if constexpr (parts::any_rows) {
        selected->begin(parameter_table<P>::table.of[i].columns);
        for (std::size_t k = 0; k < machines.size(); ++k)
          if (weight[k] != 0)
            selected->add(*machines.begin()[k]->machine().gradient_rows(i),
                          static_cast<real>(weight[k]));
      }
    } else if (to.gradient(i) != nullptr) {
      real* const sum = engine::numbers_at<real>(to.gradient(i));
      const std::size_t n = parameters_in<P>().numbers(i);
      std::fill_n(sum, n, real(0));
      for (std::size_t k = 0; k < machines.size(); ++k) {
        const float* const memory = machines.begin()[k]->gradient_memory(i);
        if (memory == nullptr || weight[k] == 0) continue;
        const real* const from = engine::numbers_at<real>(memory);
        const real w = static_cast<real>(weight[k]);
        for (std::size_t j = 0; j < n; ++j) sum[j] += w * from[j];
      }
    }
  }
  using statistics = moving_statistics<P>;
  for (int i = 0; i < statistics::count && all_rows > 0; ++i) {
    const int p = statistics::parameter(i);
    real* const mean = engine::numbers_at<real>(m.memory()[p]);
    for (std::size_t j = 0; j < parameters_in<P>().numbers(p); ++j) {
      double value = 0;
      for (std::size_t k = 0; k < machines.size(); ++k)
        value += rows[k] / all_rows *
                 static_cast<double>(
                     engine::numbers_at<real>(machines.begin()[k]->statistics().copy(i))[j]);
      mean[j] = static_cast<real>(value);
    }
  }
}

}}}  // namespace lamina::detail

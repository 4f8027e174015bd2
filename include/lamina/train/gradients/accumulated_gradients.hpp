// SPDX-License-Identifier: Apache-2.0
// lamina/train/gradients/accumulated_gradients.hpp - accumulates the gradients of several
// mini-batches for one update.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/train/gradients/cost_rows.hpp>
#include <lamina/train/gradients/gradient_part.hpp>
#include <lamina/train/gradients/part_facts.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Accumulates the gradients of mini-batches as if all were one mini-batch. Each part accumulates
/// its own gradients in separate memory; the sum over the parts follows at the update. So the
/// processes of a distributed training exchange gradients once per update, and the order of the
/// sums does not depend on their number:
///
///   sum[p] = earlier * sum[p] + fraction * weight[p] * gradient[p]   (each mini-batch)
///
/// where `fraction` is the part of the mini-batch in all rows so far, and `earlier` the rest.
template <program_type P, class Training, class Machine>
class accumulated_gradients {
  using real = real_of<P>;
  using rows_type = engine::cpu::basic_selected_rows<real>;
  using part_weight = cost_rows<P, Training>;
  using part_type = gradient_part<P, Training, Machine>;
  static constexpr int parameters = counts_of<P>.parameters;
  static constexpr bool any_rows = plan<Training>::memory.selected_rows > 0;

 public:
  /// The parts of this process, and facts about the parts of all processes; the first part of this
  /// process has index `first`.
  struct parts_of_process {
    std::vector<std::unique_ptr<part_type>>& machines;
    std::vector<part_facts<P>>& facts;
    std::size_t first;
  };

  /// Returns the number of mini-batches whose gradients wait for an update.
  int pending() const { return pending_; }
  /// Numbers the rows of a mini-batch after those of the accumulated mini-batches, so that its rows
  /// draw other random numbers.
  batch_view<P> behind(batch_view<P> batch) const {
    for (int d = batch::domain; d < batch_view<P>::domains; ++d) batch.rows.first[d] += first_[d];
    return batch;
  }
  /// Saves the gradients of the first of several mini-batches, because the next mini-batch
  /// overwrites their memory.
  LAMINA_COLD void keep(worker_pool& pool, const parts_of_process& parts) {
    if (pending_ == 0 || kept_) return;
    floats_ = 0;
    for (int i = 0; i < parameters; ++i)
      floats_ += parts.machines[0]->gradient(i) == nullptr ? 0 : parameters_in<P>().floats(i);
    const std::size_t all = floats_ * parts.machines.size();
    if (sums_.size() < all) sums_.resize(all);
    if constexpr (any_rows)
      row_sums_.resize(static_cast<std::size_t>(parameters) * parts.machines.size());
    has_.assign(parts.facts.size(), 0);
    add_weighted(pool, parts, 0, 1);
    kept_ = true;
  }
  /// Adds the gradients of a mini-batch. `batch` has the numbers of its rows in all processes,
  /// `divisor` is the number by which the sum over them is divided, and `sums` are the sums of a
  /// quotient.
  LAMINA_COLD void add(worker_pool& pool, const parts_of_process& parts, const batch_view<P>& batch,
                       double divisor, const quotient_sums& sums) {
    for (int d = batch::domain; d < batch_view<P>::domains; ++d) first_[d] += batch.rows.count[d];
    const double before = divisor_;
    double one = divisor;
    divisor_ += divisor;
    if constexpr (part_weight::is_quotient) {
      quotient_.add(sums);
      one = divisor_of(sums);
      divisor_ = divisor_of(quotient_);
    }
    const double all = part_weight::is_sum ? 1 : divisor_;
    const bool is_sum = part_weight::is_sum || all == 0;
    if (pending_++ > 0)
      add_weighted(pool, parts, static_cast<real>(is_sum ? 1 : before / all),
                   static_cast<real>(is_sum ? 1 : one / all));
  }
  /// Copies accumulated gradients to the memory of the gradients of a single mini-batch, and sets
  /// the weights of the parts to 1, or 0 for a part without gradients.
  LAMINA_COLD void restore(worker_pool& pool, const parts_of_process& parts) {
    if (!kept_) return;
    pool.run([&](int t) {
      const std::size_t k = static_cast<std::size_t>(t);
      if (has_[parts.first + k] == 0) return;
      each_gradient(*parts.machines[k], k, [](int, std::size_t n, real* gradient, const real* sum) {
        std::copy_n(sum, n, gradient);
      });
      if constexpr (any_rows)
        each_rows(*parts.machines[k], k,
                  [](int, rows_type& rows, rows_type& sum) { std::swap(rows, sum); });
    });
    for (std::size_t p = 0; p < has_.size(); ++p) parts.facts[p].weight = has_[p];
  }
  /// Discards the accumulated gradients: the next mini-batch is the first of an update.
  void forget() {
    pending_ = 0;
    kept_ = false;
    divisor_ = 0;
    quotient_ = {};
    for (std::int64_t& f : first_) f = 0;
  }

 private:
  void add_weighted(worker_pool& pool, const parts_of_process& parts, real earlier, real fraction) {
    const auto weight = [&](std::size_t p) {
      return fraction == 0 ? real(0) : fraction * parts.facts[p].weight;
    };
    pool.run([&](int t) {
      const std::size_t k = static_cast<std::size_t>(t), p = parts.first + k;
      add_part(*parts.machines[k], k, has_[p] != 0 ? earlier : 0, weight(p));
    });
    for (std::size_t p = 0; p < has_.size(); ++p)
      has_[p] = (has_[p] != 0 && earlier != 0) || weight(p) != 0;
  }
  /// Adds the gradients of a part. A weight of 0 discards the corresponding term even if it is NaN.
  void add_part(part_type& part, std::size_t k, real earlier, real weight) {
    each_gradient(part, k, [&](int, std::size_t n, const real* gradient, real* sum) {
      if (earlier == 0)
        for (std::size_t j = 0; weight != 0 && j < n; ++j) sum[j] = weight * gradient[j];
      else if (weight == 0)
        for (std::size_t j = 0; j < n; ++j) sum[j] *= earlier;
      else
        for (std::size_t j = 0; j < n; ++j) sum[j] = earlier * sum[j] + weight * gradient[j];
    });
    if constexpr (any_rows)
      each_rows(part, k, [&](int i, const rows_type& rows, rows_type& sum) {
        if (earlier == 0)
          sum.begin(parameter_table<P>::table.of[i].columns);
        else
          sum.scale(earlier);
        if (weight != 0) sum.add(rows, weight);
      });
  }

  /// Calls f(i, numbers, gradient, sum) for each dense gradient of part number k of this process.
  template <class F>
  void each_gradient(part_type& part, std::size_t k, F&& f) {
    float* sum = sums_.data() + k * floats_;
    for (int i = 0; i < parameters; ++i) {
      float* const gradient = part.gradient(i);
      if (gradient == nullptr) continue;
      f(i, parameters_in<P>().numbers(i), engine::numbers_at<real>(gradient),
        engine::numbers_at<real>(sum));
      sum += parameters_in<P>().floats(i);
    }
  }
  /// Calls f(i, rows, sum) for each sparse gradient (selected rows).
  template <class F>
  void each_rows(part_type& part, std::size_t k, F&& f) {
    for (int i = 0; i < parameters; ++i)
      if (rows_type* const rows = part.machine().gradient_rows(i))
        f(i, *rows,
          row_sums_[k * static_cast<std::size_t>(parameters) + static_cast<std::size_t>(i)]);
  }
  static double divisor_of(const quotient_sums& sums) {
    constexpr lamina::quotient q = part_weight::quotient;
    return sums.denominator(q) * (q.of_means ? sums.rows : 1);
  }

  int pending_ = 0;
  bool kept_ = false;   // the accumulated gradients are in sums_ and row_sums_
  double divisor_ = 0;  // the divisor over all mini-batches since forget()
  quotient_sums quotient_;
  std::int64_t first_[batch_view<P>::domains] = {};  // number of their rows, by domain
  std::vector<char> has_;                            // by part of all processes: has gradients
  std::size_t floats_ = 0;                           // size of the dense gradients of a part
  engine::aligned_buffer sums_;                      // by part of this process
  std::vector<rows_type> row_sums_;
};

}}  // namespace lamina

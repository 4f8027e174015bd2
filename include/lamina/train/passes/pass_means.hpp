// SPDX-License-Identifier: Apache-2.0
// lamina/train/passes/pass_means.hpp - the values that a training loop reports: metrics of the last
// mini-batch, and totals of a pass.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/optimizer/event.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Keeps the metrics of the last mini-batch of a pass, the metrics of the pass so far, and the mean
/// cost per sample. The area under a curve always covers the pass so far.
template <class P>
class pass_means {
  using metrics = metric_rules<P>;
  static constexpr std::size_t count = static_cast<std::size_t>(metrics::count);
  static constexpr std::size_t capacity = at_least_one(metrics::count);
  using values = std::array<optimizer::metric_value, capacity>;

 public:
  pass_means() {
    for (std::size_t i = 0; i < count; ++i)
      now_[i].name = whole_[i].name = program_metrics<P>::all.name[i];
  }
  /// Begins a pass of a trainer.
  template <class Trainer>
  void begin(Trainer& t) {
    t.begin_pass();
    clear();
  }
  /// Resets the totals. The machine keeps the counts of an area under a curve.
  void clear() {
    samples_ = 0;
    cost_ = 0;
    sum_ = {};
  }
  /// Adds a mini-batch of `samples` samples that the trainer has run.
  template <class Trainer>
  void add(Trainer& t, double cost, int samples) {
    samples_ += samples;
    cost_ += cost * samples;
    for (int i = 0; i < metrics::count; ++i) {
      const metric_sum step = t.sum_of_metric(i);
      now_[static_cast<std::size_t>(i)].value = metrics::value(step, i);
      metrics::extend(sum_[static_cast<std::size_t>(i)], step, samples, i);
    }
  }

  /// Sums the totals of a pass over all trainers of an asynchronous training. `parts` trainers have
  /// counted each sample.
  template <class Trainer, class Shared>
  LAMINA_COLD void all_reduce(Trainer& t, Shared& all, int parts) {
    double sums[] = {static_cast<double>(samples_), cost_};
    all.all_reduce_sum(sums, 2);
    samples_ = static_cast<std::int64_t>(sums[0]) / parts;
    cost_ = sums[1] / parts;
    for (int i = 0; i < metrics::count; ++i)
      if (metrics::all.of[i].counts.positive >= 0)
        sum_[static_cast<std::size_t>(i)] = t.sum_of_metric(i);
      else
        all.all_reduce_sum(sum_[static_cast<std::size_t>(i)], false);
  }

  std::int64_t samples() const { return samples_; }
  std::span<const optimizer::metric_value> now() const { return {now_.data(), count}; }
  /// Returns the mean cost per sample; 0 for a pass without samples, like the metrics.
  double cost() const { return samples_ > 0 ? cost_ / static_cast<double>(samples_) : 0; }
  /// Returns the metrics of the pass so far. The span is valid until the next call.
  std::span<const optimizer::metric_value> whole() {
    for (std::size_t i = 0; i < count; ++i)
      whole_[i].value = metrics::value(sum_[i], static_cast<int>(i));
    return {whole_.data(), count};
  }

 private:
  std::int64_t samples_ = 0;
  double cost_ = 0;
  values now_{}, whole_{};
  std::array<metric_sum, capacity> sum_{};
};

}}}  // namespace lamina::detail

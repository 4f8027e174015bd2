// SPDX-License-Identifier: Apache-2.0
// lamina/train/pass_means.hpp - what a training loop tells of mini-batches: metrics of the last
// one, and means over a pass.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <lamina/model/run_result.hpp>
#include <lamina/optimizer/event.hpp>

namespace lamina::detail {

/// The metrics of the last mini-batch of a pass, and the means, by samples, of the cost and the
/// metrics over all so far.
template <class P>
class pass_means {
  using metrics = program_metrics<P>;
  static constexpr std::size_t count = static_cast<std::size_t>(metrics::count);
  static constexpr std::size_t room = at_least_one(metrics::count);
  using values = std::array<optimizer::metric_value, room>;

 public:
  pass_means() {
    for (std::size_t i = 0; i < count; ++i) now_[i].name = mean_[i].name = metrics::all.name[i];
  }
  /// A new pass.
  void begin() {
    samples_ = 0;
    cost_ = 0;
    sum_ = {};
  }
  /// A mini-batch of so many samples that the trainer was given.
  template <class Trainer>
  void add(Trainer& t, double cost, int samples) {
    samples_ += samples;
    cost_ += cost * samples;
    for (std::size_t i = 0; i < count; ++i) {
      now_[i].value = t.metric(static_cast<int>(i));
      sum_[i] += now_[i].value * samples;
    }
  }

  std::int64_t samples() const { return samples_; }
  std::span<const optimizer::metric_value> now() const { return {now_.data(), count}; }
  /// 0 of a pass without samples, as the metrics.
  double cost() const { return mean_of(cost_); }
  /// The span is valid until the next call.
  std::span<const optimizer::metric_value> whole() {
    for (std::size_t i = 0; i < count; ++i) mean_[i].value = mean_of(sum_[i]);
    return {mean_.data(), count};
  }

 private:
  double mean_of(double sum) const {
    return samples_ > 0 ? sum / static_cast<double>(samples_) : 0;
  }

  std::int64_t samples_ = 0;
  double cost_ = 0;
  values now_{}, mean_{};
  std::array<double, room> sum_{};
};

}  // namespace lamina::detail

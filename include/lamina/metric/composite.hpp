// SPDX-License-Identifier: Apache-2.0
// lamina/metric/composite.hpp - several metrics that are updated with the same predictions.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace lamina { inline namespace LAMINA_ABI { namespace metric {

/// Metrics that are updated together: `composite both{precision{}, recall{}};`. update passes its
/// arguments to each metric; eval returns an array of the results in the order of the metrics. If
/// the update of one metric throws, no metric is changed. Fluid: fluid.metrics.CompositeMetric.
template <class... M>
class composite {
 public:
  explicit composite(M... metrics) : metrics_(std::move(metrics)...) {}

  template <class... A>
  void update(const A&... arguments) {
    auto next = metrics_;
    std::apply([&](auto&... m) { (m.update(arguments...), ...); }, next);
    metrics_ = std::move(next);
  }
  std::array<double, sizeof...(M)> eval() const {
    return std::apply(
        [](const auto&... m) { return std::array<double, sizeof...(M)>{m.eval()...}; }, metrics_);
  }
  void reset() {
    std::apply([](auto&... m) { (m.reset(), ...); }, metrics_);
  }

  /// Returns the metric with this index.
  template <std::size_t Index>
  const auto& get() const {
    return std::get<Index>(metrics_);
  }

 private:
  std::tuple<M...> metrics_;
};

}}}  // namespace lamina::metric

// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/sample_schedule.hpp - learning-rate schedules of the v2 API, which depend on the
// number of samples instead of steps. In the comments, n is the number of samples in all
// mini-batches up to the current one, (step + 1) * batch_size. The names of the schedules are those
// of v2, and a and b are v2's learning_rate_decay_a and learning_rate_decay_b.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <lamina/optimizer/schedule.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace schedule::v2 {

/// The rate is learning_rate * (1 + a * n)^-b. v2: "poly".
struct poly {
  float learning_rate = 0;
  double a = 0, b = 0;
  std::int64_t batch_size = 1;
  double at(std::int64_t step) const {
    return learning_rate * std::pow(1 + a * static_cast<double>((step + 1) * batch_size), -b);
  }
};

/// The rate is learning_rate * (1 - n / a)^b, or 0 if n > a. v2: "caffe_poly".
struct caffe_poly {
  float learning_rate = 0;
  double a = 1, b = 1;
  std::int64_t batch_size = 1;
  double at(std::int64_t step) const {
    const double n = static_cast<double>((step + 1) * batch_size);
    return n > a ? 0 : learning_rate * std::pow(1 - n / a, b);
  }
};

/// The rate is learning_rate * a^(n / b). v2: "exp".
struct exp {
  float learning_rate = 0;
  double a = 1, b = 1;
  std::int64_t batch_size = 1;
  double at(std::int64_t step) const {
    return learning_rate * std::pow(a, static_cast<double>((step + 1) * batch_size) / b);
  }
};

/// The rate is learning_rate * a^floor(n / b). v2: "discexp".
struct discexp {
  float learning_rate = 0;
  double a = 1, b = 1;
  std::int64_t batch_size = 1;
  double at(std::int64_t step) const {
    return learning_rate *
           std::pow(a, std::floor(static_cast<double>((step + 1) * batch_size) / b));
  }
};

/// The rate is max(learning_rate - a * n, b). v2: "linear".
struct linear {
  float learning_rate = 0;
  double a = 0, b = 0;
  std::int64_t batch_size = 1;
  constexpr double at(std::int64_t step) const {
    const double falling = learning_rate - a * static_cast<double>((step + 1) * batch_size);
    return falling < b ? b : falling;
  }
};

/// The rate is learning_rate * rates[i] for the first i with n <= segments[i]; if there is none,
/// the last element of `rates` is used. v2: "manual" ("100000:1.0,200000:0.5").
template <std::size_t N>
constexpr piecewise_decay manual(float learning_rate, std::int64_t batch_size,
                                 const std::int64_t (&segments)[N], const float (&rates)[N]) {
  static_assert(N <= piecewise_decay::most, "lamina: manual takes at most 16 segments");
  require(batch_size > 0, "lamina: manual: expected a batch_size above 0");
  std::int64_t ends[N] = {};
  float values[N] = {};
  for (std::size_t i = 0; i < N; ++i) {
    ends[i] = segments[i] / batch_size;
    values[i] = learning_rate * rates[i];
  }
  return {std::span<const std::int64_t>(ends, N - 1), std::span<const float>(values, N)};
}

/// The rate is learning_rate * rates[i] for the first i with pass <= segments[i], where the first
/// pass is 0; if there is none, the last element of `rates` is used. v2: "pass_manual".
template <std::size_t N>
constexpr piecewise_decay pass_manual(float learning_rate, std::int64_t batches_per_pass,
                                      const std::int64_t (&segments)[N], const float (&rates)[N]) {
  static_assert(N <= piecewise_decay::most, "lamina: pass_manual takes at most 16 segments");
  require(batches_per_pass > 0, "lamina: pass_manual: expected batches_per_pass above 0");
  std::int64_t ends[N] = {};
  float values[N] = {};
  for (std::size_t i = 0; i < N; ++i) {
    ends[i] = (segments[i] + 1) * batches_per_pass;
    values[i] = learning_rate * rates[i];
  }
  return {std::span<const std::int64_t>(ends, N - 1), std::span<const float>(values, N)};
}

}}}  // namespace lamina::schedule::v2

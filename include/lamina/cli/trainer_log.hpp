// SPDX-License-Identifier: Apache-2.0
// lamina/cli/trainer_log.hpp - writes a log with the lines and dots of `paddle train`.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <span>
#include <string>
#include <string_view>

#include <lamina/cli/parameter_magnitudes.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/optimizer/event.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Writes lines in the form of glog, "I0612 15:12:50.297226 18323 file.hpp:57] message", and dots
/// between the lines. Each line is written by one system call, so that it reaches a pipe or a file
/// at once and as a whole.
class trainer_log {
 public:
  explicit trainer_log(std::FILE* to = stderr) : to_(to) {}

  /// Ends an open line of dots, and writes a line.
  LAMINA_COLD void line(const std::string& message, const char* file = __builtin_FILE(),
                        int number = __builtin_LINE()) {
    const std::uint64_t now = lamina::detail::system::nanoseconds_since_1970();
    const std::tm local =
        lamina::detail::system::local_time(static_cast<std::time_t>(now / 1'000'000'000));
    char head[64];
    std::snprintf(head, sizeof head, "I%02d%02d %02d:%02d:%02d.%06ld %5ld ", local.tm_mon + 1,
                  local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                  static_cast<long>(now / 1000 % 1'000'000), lamina::detail::system::process_id());
    std::string_view name(file);
    name.remove_prefix(name.find_last_of("/\\") + 1);
    text whole;
    if (dots_) whole << "\n";
    dots_ = false;
    put(whole << head << name << ":" << number << "] " << message << "\n");
  }
  /// Writes a dot.
  LAMINA_COLD void dot() {
    dots_ = true;
    put(".");
  }
  /// Ends an open line of dots.
  LAMINA_COLD void end_dots() {
    if (dots_) put("\n");
    dots_ = false;
  }

 private:
  void put(const std::string& letters) {
    std::fwrite(letters.data(), 1, letters.size(), to_);
    std::fflush(to_);
  }

  std::FILE* to_;
  bool dots_ = false;
};

/// The number of samples and the sum of their costs. One object counts the pass so far, another the
/// mini-batches since the last log line.
struct cost_sum {
  std::int64_t samples = 0;
  double sum = 0;

  /// Adds a mini-batch of `count` samples.
  void add(std::int64_t count, double mean_cost) {
    samples += count;
    sum += mean_cost * static_cast<double>(count);
  }
  /// Returns the mean cost per sample; 0 without samples.
  double mean() const { return samples > 0 ? sum / static_cast<double>(samples) : 0; }
};

/// The result of --job=checkgrad for a parameter.
struct gradient_difference {
  double step = 0;                        // length of the step, along a direction of length 1
  double cost_above = 0, cost_below = 0;  // cost after a step forward, and after a step backward
  double true_delta = 0;                  // half of the difference of the two costs
  double analytic_delta = 0;              // the change of the cost that the gradient predicts
  double diff = 0;                        // relative difference of true_delta and analytic_delta
};

// The messages equal those of PaddlePaddle v2, so that scripts for its logs can read these logs.
// Numbers have six significant digits, as std::ostream prints them, in every locale.
namespace trainer_message {

namespace detail {

/// Pads a text on the right to `width` characters.
LAMINA_COLD inline std::string left(std::string made, std::size_t width, char fill = ' ') {
  if (made.size() < width) made.resize(width, fill);
  return made;
}
LAMINA_COLD inline std::string left(double number, std::size_t width, char fill = ' ') {
  return left(std::string(text().print("%g", number)), width, fill);
}
LAMINA_COLD inline void add_metrics(text& to, std::span<const optimizer::metric_value> metrics) {
  for (const optimizer::metric_value& m : metrics) (to << m.name).print("=%g ", m.value);
}
LAMINA_COLD inline void add_samples(text& to, const cost_sum& costs) {
  (to << "samples=" << costs.samples).print(" AvgCost=%g", costs.mean());
}

}  // namespace detail

/// Returns " Batch=100 samples=12800 AvgCost=0.68 CurrentCost=0.65 Eval: a=0.5 CurrentEval: a=0.6
/// ", the line after mini-batch number `batch` - 1. `current` is the cost of the mini-batches since
/// the last such line.
LAMINA_COLD inline std::string batch(std::int64_t batch, const cost_sum& pass,
                                     const cost_sum& current,
                                     std::span<const optimizer::metric_value> metrics,
                                     std::span<const optimizer::metric_value> current_metrics) {
  text s;
  s << " Batch=" << batch << " ";
  detail::add_samples(s, pass);
  s.print(" CurrentCost=%g Eval: ", current.mean());
  detail::add_metrics(s, metrics);
  s << " CurrentEval: ";
  detail::add_metrics(s, current_metrics);
  return s;
}
/// Returns " Pass=3 Batch=196 samples=25000 AvgCost=0.4 Eval: a=0.8 ", the line after a pass of
/// `batches` mini-batches.
LAMINA_COLD inline std::string pass(int pass, std::int64_t batches, const cost_sum& costs,
                                    std::span<const optimizer::metric_value> metrics) {
  text s;
  s << " Pass=" << pass << " Batch=" << batches << " ";
  detail::add_samples(s, costs);
  s << " Eval: ";
  detail::add_metrics(s, metrics);
  return s;
}
/// Returns " Test samples=25000 cost=0.4 Eval: a=0.8 ", the line after a test during training.
LAMINA_COLD inline std::string test(std::int64_t samples, double cost,
                                    std::span<const optimizer::metric_value> metrics) {
  text s;
  (s << " Test samples=" << samples).print(" cost=%g Eval: ", cost);
  detail::add_metrics(s, metrics);
  return s;
}
/// Returns " Pass=3 samples=25000 AvgCost=0.4 Eval: a=0.8 ", the line after a test of the model of
/// a pass, `--job=test`.
LAMINA_COLD inline std::string tested_pass(int pass, const cost_sum& costs,
                                           std::span<const optimizer::metric_value> metrics) {
  text s;
  s << " Pass=" << pass << " ";
  detail::add_samples(s, costs);
  s << " Eval: ";
  detail::add_metrics(s, metrics);
  return s;
}
/// Returns "fc_0.w_0 avg_abs_val=0.0371914 max_val=..., avg_abs_grad=... max_grad=...", the line
/// about the values of a parameter after an update and the gradient of this update.
LAMINA_COLD inline std::string parameter(const std::string& name, const magnitudes& values,
                                         const magnitudes& gradient) {
  using detail::left;
  return text() << left(name, 20) << " avg_abs_val=" << left(values.mean, 11)
                << " max_val=" << left(values.largest, 11)
                << " avg_abs_grad=" << left(gradient.mean, 11)
                << " max_grad=" << left(gradient.largest, 11);
}
/// Returns "fc_0.w_0 step=1e-05 cost1=0.693 cost2=0.692 true_delta=...", the line that compares the
/// change of the cost along one direction of a parameter with the change that the gradient
/// predicts. The lines are padded with blanks and with dots in turn. The line of a wrong gradient
/// ends in " ***".
LAMINA_COLD inline std::string gradient(const std::string& name, const gradient_difference& d,
                                        bool is_wrong, bool has_dots) {
  using detail::left;
  const char fill = has_dots ? '.' : ' ';
  text s;
  s << left(name, 20, fill) << "step=" << left(d.step, 15, fill)
    << "cost1=" << left(d.cost_above, 10, fill) << "cost2=" << left(d.cost_below, 10, fill)
    << "true_delta=" << left(d.true_delta, 15, fill)
    << "analytic_delta=" << left(d.analytic_delta, 15, fill);
  return s.print("diff=%g", d.diff) << (is_wrong ? " ***" : "");
}
/// Returns a line with the total, mean, longest and shortest time, in milliseconds, of an action
/// that was repeated `count` times.
LAMINA_COLD inline std::string times(const std::string& name, double total, double largest,
                                     double least, std::int64_t count) {
  using detail::left;
  return text() << "Stat=" << left(name, 30)
                << " TID=" << left(text() << lamina::detail::system::process_id(), 6)
                << " total=" << left(total, 10)
                << " avg=" << left(count > 0 ? total / static_cast<double>(count) : 0, 10)
                << " max=" << left(largest, 10) << " min=" << left(least, 10)
                << " count=" << left(text() << count, 10);
}

}  // namespace trainer_message

}}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/train/events/learning_curves.hpp - records costs and metrics of each pass, for CSV.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/optimizer/event.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Costs and metrics of one pass over training data or validation data.
struct curve_point {
  int pass = 0;
  bool is_validation = false;
  double cost = 0;
  std::vector<std::pair<std::string, double>> metrics{};
};

/// An event handler that records the means of each pass and the results of each test of fit. Copies
/// share one record, so the variable sees what the trainer's copy records:
///
///   lamina::learning_curves curves;
///   lamina::trainer t{model, adam, {.on_event = curves}};
///   lamina::fit(t, training, validation, {.patience = 5});
///   curves.save_csv("curves.csv");
class learning_curves {
 public:
  void operator()(const event& e) {
    if (e.kind == event_kind::new_best) record_->best_pass = e.pass;
    if (e.kind == event_kind::early_stop) record_->stopped_early = e.pass;
    if (!e.is_end_pass() && !e.is_end_validation()) return;
    curve_point p{e.pass, e.is_end_validation(), e.cost, {}};
    for (const auto& m : e.metrics) p.metrics.emplace_back(m.name, m.value);
    record_->points.push_back(std::move(p));
  }
  /// Records the result of a test, for loops that do not use fit.
  template <class Result>
  void add_validation(int pass, const Result& tested) {
    curve_point p{pass, true, tested.cost, {}};
    for (const auto& m : tested.metrics) p.metrics.emplace_back(m.name, m.value);
    record_->points.push_back(std::move(p));
  }

  const std::vector<curve_point>& points() const { return record_->points; }
  std::optional<int> best_pass() const { return record_->best_pass; }
  std::optional<int> stopped_early() const { return record_->stopped_early; }
  /// "cost", and the names of all metrics in the order of their first occurrence.
  std::vector<std::string> names() const {
    std::vector<std::string> all{"cost"};
    for (const curve_point& p : points())
      for (const auto& m : p.metrics)
        if (std::find(all.begin() + 1, all.end(), m.first) == all.end()) all.push_back(m.first);
    return all;
  }
  /// Returns the value of the metric with number `i` of names() in a point; NaN if the point has
  /// none.
  static double value(const curve_point& p, const std::vector<std::string>& names, std::size_t i) {
    if (i == 0) return p.cost;
    for (const auto& m : p.metrics)
      if (m.first == names[i]) return m.second;
    return std::nan("");
  }

  /// One line per point: pass, part (training or validation), cost, metrics. Values have 9 digits;
  /// a missing one is empty. Fields with commas, quotes or line breaks are quoted (RFC 4180).
  LAMINA_COLD std::string csv() const {
    const std::vector<std::string> all = names();
    text s;
    s << "pass,part";
    for (const std::string& name : all) s << "," << quoted(name);
    s << "\n";
    for (const curve_point& p : points()) {
      s << p.pass << (p.is_validation ? ",validation" : ",training");
      for (std::size_t i = 0; i < all.size(); ++i) {
        s << ",";
        const double v = value(p, all, i);
        const bool missing = i > 0 && std::none_of(p.metrics.begin(), p.metrics.end(),
                                                   [&](auto& m) { return m.first == all[i]; });
        if (!missing) s.print("%.9g", v);
      }
      s << "\n";
    }
    return s;
  }
  /// Writes csv() to a file. The file is complete or does not exist.
  LAMINA_COLD void save_csv(const file_path& path) const {
    binary_writer to(path.string());
    to.write(csv());
    to.finish();
  }

 private:
  static std::string quoted(const std::string& field) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string s = "\"";
    for (const char c : field) s += c == '"' ? std::string("\"\"") : std::string(1, c);
    return s + "\"";
  }

  struct record {
    std::vector<curve_point> points;
    std::optional<int> best_pass, stopped_early;
  };
  std::shared_ptr<record> record_ = std::make_shared<record>();
};

}}  // namespace lamina

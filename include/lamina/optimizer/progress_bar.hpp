// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/progress_bar.hpp - an event handler that draws how far a pass has come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

#include <lamina/optimizer/event.hpp>

namespace lamina::optimizer {

/// `adam.train(model, reader, {.passes = 5, .on_event = lamina::progress_bar{}})` draws one line a
/// pass: "pass 2 [=======   ]  70/100  cost 0.4312  accuracy 0.91". The line is drawn over itself
/// when the bar grows by a sign, or each 16 mini-batches where their number is not known.
struct progress_bar {
  std::ostream* out = &std::cerr;
  int width = 30;  // signs of a full bar

  void operator()(const event& e) const {
    if (!e.is_end_iteration() && !e.is_end_pass()) return;
    const std::int64_t done = e.is_end_pass() ? e.batch : e.batch + 1;
    if (e.is_end_iteration() && !grows(e, done)) return;
    std::string line = "\rpass " + std::to_string(e.pass) + ' ';
    if (e.batches) {
      const int filled = e.is_end_pass() ? width : signs(e, done);
      line += '[' + std::string(static_cast<std::size_t>(filled), '=') +
              std::string(static_cast<std::size_t>(width - filled), ' ') + "] " +
              std::to_string(done) + '/' + std::to_string(*e.batches);
    } else {
      line += std::to_string(done);
    }
    line += "  cost " + number(e.cost);
    for (const metric_value& m : e.metrics)
      line += "  " + std::string(m.name) + ' ' + number(m.value);
    *out << line << (e.is_end_pass() ? "\n" : "") << std::flush;
  }

  /// How many signs of the bar are filled after `done` mini-batches.
  int signs(const event& e, std::int64_t done) const {
    const std::int64_t all = *e.batches;
    return all <= 0 || done >= all ? width : static_cast<int>(done * width / all);
  }
  /// Whether the line changes with this mini-batch.
  bool grows(const event& e, std::int64_t done) const {
    return e.batches ? signs(e, done) != signs(e, done - 1) : done % 16 == 0;
  }
  /// A number, always of one width, so that a line covers the one before.
  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%-9.4g", value);
    return text;
  }
};

}  // namespace lamina::optimizer

namespace lamina {
using optimizer::progress_bar;
}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/train/events/progress_bar.hpp - prints the progress of a training run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdio>
#include <string>

#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/optimizer/event.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// An event handler that prints pass, mini-batch, cost, metrics and the remaining time: one line
/// redrawn in place on a terminal, one plain line per pass elsewhere.
///   adam.train(model, reader, {.passes = 20, .on_event = lamina::progress_bar{20}});
class progress_bar {
 public:
  /// `passes` is the number of passes of the run, from which the remaining time is estimated (0:
  /// not known); `to` is the output.
  explicit progress_bar(int passes = 0, std::FILE* to = stdout)
      : passes_(passes), to_(to), redraws_(detail::system::is_terminal(to)) {}
  /// As above, but `redraws` decides whether the line is redrawn, whatever the output is.
  progress_bar(int passes, std::FILE* to, bool redraws)
      : passes_(passes), to_(to), redraws_(redraws) {}

  LAMINA_API LAMINA_COLD void operator()(const event& e);

 private:
  LAMINA_API LAMINA_COLD void print(const char* format, const event& e) const;
  /// Returns the number of the last pass, counted from 1. In a resumed run, `passes_` includes the
  /// earlier passes. A call of `train` that continues from earlier calls runs `passes_` more.
  int all_passes() const { return first_pass_ < passes_ ? passes_ : first_pass_ + passes_; }
  LAMINA_API LAMINA_COLD std::string line(const event& e) const;

  int passes_;
  std::FILE* to_;
  bool redraws_;
  bool begun_ = false;
  int first_pass_ = 0;
  double start_ = 0, last_ = 0;  // times in seconds
};

#if LAMINA_DEFINES

void progress_bar::operator()(const event& e) {
  if (e.is_begin_pass() && !begun_) {
    begun_ = true;
    first_pass_ = e.pass;
    start_ = last_ = detail::system::steady_seconds();
  }
  if (e.is_end_iteration() && redraws_ && detail::system::steady_seconds() - last_ >= 0.05) {
    last_ = detail::system::steady_seconds();
    print("\r%s\x1b[K", e);
  }
  if (e.is_end_pass()) print(redraws_ ? "\r%s\x1b[K\n" : "%s\n", e);
}

void progress_bar::print(const char* format, const event& e) const {
  std::fprintf(to_, format, line(e).c_str());
  std::fflush(to_);
}

std::string progress_bar::line(const event& e) const {
  text s;
  s << "pass " << e.pass + 1;
  const int all = all_passes();
  if (passes_ > 0) s << "/" << all;
  double in_pass = e.is_end_pass() ? 1 : 0;
  if (e.batches && !e.is_end_pass()) {
    const double batches = static_cast<double>(*e.batches);
    in_pass = batches > 0 ? static_cast<double>(e.batch + 1) / batches : 0;
    s << " [";
    for (int i = 0; i < 20; ++i) s << (i < in_pass * 20 ? "#" : ".");
    s << "]";
  }
  s << " batch " << (e.is_end_pass() ? e.batch : e.batch + 1);
  if (e.batches) s << "/" << *e.batches;
  s.print(" cost %.4f", e.cost);
  for (const auto& m : e.metrics) (s << " " << m.name).print(" %.4f", m.value);
  const double done = e.pass - first_pass_ + in_pass;
  if (passes_ > 0 && done > 0) {
    const double left =
        (detail::system::steady_seconds() - start_) / done * (all - first_pass_ - done);
    s.print(left >= 100 ? " %.0f s left" : " %.1f s left", left > 0 ? left : 0);
  }
  return s;
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina

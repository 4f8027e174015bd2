// SPDX-License-Identifier: Apache-2.0
// lamina/train/events/best_value.hpp - the best value so far, and the number of values since then.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// Whether a smaller or a larger value is better.
enum class better : std::uint8_t { smaller, larger };

/// Compares each value with the best one so far. A value is better if it differs by more than
/// `min_delta`; NaN never is.
class best_value {
 public:
  constexpr best_value(better is, double min_delta) : is_(is), min_delta_(min_delta) {}

  /// Adds the next value; returns whether it is the best so far.
  constexpr bool take(double value) {
    const double lead = is_ == better::smaller ? best_ - value : value - best_;
    const bool improved = value == value && (at_ < 0 || lead > min_delta_);
    if (improved) best_ = value, at_ = seen_, waited_ = 0;
    if (!improved) ++waited_;
    ++seen_;
    return improved;
  }
  /// Restarts the count of values without improvement.
  constexpr void forgive() { waited_ = 0; }

  constexpr bool any() const { return at_ >= 0; }
  constexpr double best() const { return best_; }
  constexpr int number_of_best() const { return static_cast<int>(at_); }
  constexpr int waited() const { return static_cast<int>(waited_); }
  /// Calls visit(number) for each number of the state, to save or load it.
  template <class Visit>
  void each_number(Visit&& visit) {
    visit(best_);
    visit(seen_);
    visit(at_);
    visit(waited_);
  }

 private:
  better is_;
  double min_delta_;
  double best_ = 0;
  double seen_ = 0;    // number of values so far
  double at_ = -1;     // index of the best value, from 0; -1: none yet
  double waited_ = 0;  // number of values since then
};

}}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/event.hpp - the events that a training loop reports to its handler.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// The kinds of events that a training loop reports. They occur in the same order as in the v2
/// trainer.
enum class event_kind : std::uint8_t {
  begin_pass,            // once per pass
  begin_iteration,       // once per mini-batch, before its computation
  end_forward_backward,  // cost and metrics are known; fused updates are already done
  end_iteration,         // parameters are updated
  end_pass,              // once per pass, with the metrics of the whole pass
  end_validation,        // only in fit: after a test, with the test's cost and metrics
  new_best,              // only in fit: the last test was the best so far
  early_stop             // only in fit: `patience` tests in a row were not the best
};

/// Returns the name of an event in the v2 API.
constexpr std::string_view name_of(event_kind kind) {
  switch (kind) {
    case event_kind::begin_pass:
      return "BeginPass";
    case event_kind::begin_iteration:
      return "BeginIteration";
    case event_kind::end_forward_backward:
      return "EndForwardBackward";
    case event_kind::end_iteration:
      return "EndIteration";
    case event_kind::end_validation:
      return "TestResult";
    case event_kind::new_best:
      return "NewBest";
    case event_kind::early_stop:
      return "EarlyStop";
    default:
      return "EndPass";
  }
}

/// The value of a metric of the program; `name` is the name of its layer.
struct metric_value {
  std::string_view name{};
  double value = 0;
};

/// An event of a training loop. It refers to memory of the loop, so it is valid only during the
/// call of the handler.
///
///   on_event = [](const lamina::event& e) {
///     if (e.is_end_iteration() && e.batch % 100 == 0) std::cout << e.cost << '\n';
///     if (e.is_end_pass() && e.metric("accuracy") > 0.99) e.stop();
///   };
struct event {
  event_kind kind = event_kind::begin_pass;
  int pass = 0;                             // number of the pass, from 0
  std::int64_t batch = 0;                   // number of the mini-batch, from 0 in each pass; in
                                            // end_pass: the number of mini-batches of the pass
  std::optional<std::int64_t> batches{};    // mini-batches per pass, if known
  std::int64_t samples = 0;                 // samples in this mini-batch; in end_pass: in the pass
  double cost = 0;                          // mean over these samples; 0 in begin_* events
  std::span<const metric_value> metrics{};  // empty in begin_* events
  bool* stopping = nullptr;                 // the flag that stop() sets and the loop reads

  constexpr bool is_begin_pass() const { return kind == event_kind::begin_pass; }
  constexpr bool is_begin_iteration() const { return kind == event_kind::begin_iteration; }
  constexpr bool is_end_forward_backward() const {
    return kind == event_kind::end_forward_backward;
  }
  constexpr bool is_end_iteration() const { return kind == event_kind::end_iteration; }
  constexpr bool is_end_pass() const { return kind == event_kind::end_pass; }

  constexpr bool is_end_validation() const { return kind == event_kind::end_validation; }

  /// Makes the loop end: it finishes this mini-batch, reports end_pass and returns.
  constexpr void stop() const {
    if (stopping != nullptr) *stopping = true;
  }

  /// Returns the value of the metric with this name. For an unknown name, throws a lamina::error
  /// that lists the names of the metrics.
  LAMINA_API LAMINA_COLD double metric(std::string_view name) const;
};

#if LAMINA_DEFINES

double event::metric(std::string_view name) const {
  for (const metric_value& m : metrics)
    if (m.name == name) return m.value;
  text known;
  for (const metric_value& m : metrics) known << (&m == metrics.data() ? "" : ", ") << m.name;
  LAMINA_THROW error(text() << "lamina: event: expected the name of a metric, found '" << name
                            << "'; " << name_of(kind)
                            << " has: " << (metrics.empty() ? text() << "none" : known));
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::optimizer

namespace lamina { inline namespace LAMINA_ABI {
using optimizer::event;
using optimizer::event_kind;
}}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/v2/event.hpp - the events of PaddlePaddle v2's trainer, one type per event.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/optimizer/event.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2 {

namespace event {

/// The metrics of an event: `e.metrics["accuracy"]` is a metric, and a loop visits all metrics.
class metric_view {
 public:
  explicit metric_view(const lamina::event& of) : of_(&of) {}

  /// Returns the metric with this name. For an unknown name, throws lamina::error that lists the
  /// known names.
  double operator[](std::string_view name) const { return of_->metric(name); }
  auto begin() const { return of_->metrics.begin(); }
  auto end() const { return of_->metrics.end(); }
  std::size_t size() const { return of_->metrics.size(); }

 private:
  const lamina::event* of_;
};

namespace detail {
template <class Metrics>
LAMINA_COLD std::string text_of(const Metrics& metrics) {
  lamina::text all("{");
  bool first = true;
  for (const auto& m : metrics) {
    all << (first ? "'" : ", '") << m.name << "': " << lamina::text().print("%g", m.value);
    first = false;
  }
  all << "}";
  return std::string(all);
}
}  // namespace detail

/// Returns the metrics as text, as Python prints them: {'accuracy': 0.5}.
inline std::string str(const metric_view& metrics) { return detail::text_of(metrics); }

/// The base class of all events. An event refers to the training loop, so it is valid only during
/// the call of the handler.
class any {
 public:
  explicit any(const lamina::event& of) : of_(&of) {}
  /// Makes the training end after this mini-batch. v2 has no such function; there a handler can
  /// only throw an exception.
  void stop() const { of_->stop(); }
  /// Returns the event in the form that handlers of lamina's trainer receive.
  const lamina::event& of() const { return *of_; }

 private:
  const lamina::event* of_;
};

/// The base class of events with metrics. v2: event.WithMetric.
struct WithMetric : any {
  explicit WithMetric(const lamina::event& of) : any(of), metrics(of) {}
  metric_view metrics;
};

/// Reported before the first mini-batch of a pass. v2: event.BeginPass.
struct BeginPass : any {
  BeginPass(const lamina::event& of, int first) : any(of), pass_id(of.pass - first) {}
  int pass_id;
};
/// Reported after the last mini-batch of a pass, with the metrics of the whole pass. v2:
/// event.EndPass.
struct EndPass : WithMetric {
  EndPass(const lamina::event& of, int first)
      : WithMetric(of), pass_id(of.pass - first), cost(of.cost) {}
  int pass_id;
  double cost;  ///< mean over the samples of the pass; v2 does not have this field
};
/// Reported before a mini-batch is computed. v2: event.BeginIteration.
struct BeginIteration : any {
  BeginIteration(const lamina::event& of, int first)
      : any(of), pass_id(of.pass - first), batch_id(of.batch) {}
  int pass_id;
  std::int64_t batch_id;
};
/// Reported when the cost and the metrics of a mini-batch are computed, before the update. v2:
/// event.EndForwardBackward.
struct EndForwardBackward : any {
  EndForwardBackward(const lamina::event& of, int first)
      : any(of), pass_id(of.pass - first), batch_id(of.batch) {}
  int pass_id;
  std::int64_t batch_id;
};
/// Reported after a mini-batch has updated the parameters. v2: event.EndIteration.
struct EndIteration : WithMetric {
  EndIteration(const lamina::event& of, int first)
      : WithMetric(of), pass_id(of.pass - first), batch_id(of.batch), cost(of.cost) {}
  int pass_id;
  std::int64_t batch_id;
  double cost;  ///< mean over the samples of the mini-batch
};

/// Any of these events.
using Event = std::variant<BeginPass, BeginIteration, EndForwardBackward, EndIteration, EndPass>;

/// The cost and metrics of a test. v2: event.TestResult.
struct TestResult {
  /// The metrics of all test data.
  struct test_metrics {
    std::vector<test_result::metric_value> all;
    double operator[](std::string_view name) const { return test_result{0, 0, all}.metric(name); }
    auto begin() const { return all.begin(); }
    auto end() const { return all.end(); }
    std::size_t size() const { return all.size(); }
  };

  explicit TestResult(test_result found) : cost(found.cost), metrics{std::move(found.metrics)} {}
  double cost;  ///< mean over the samples
  test_metrics metrics;
};
inline std::string str(const TestResult::test_metrics& metrics) { return detail::text_of(metrics); }

/// A handler of events. It is made from a callable that takes an Event, or that takes only some of
/// the event types, such as `[](const v2::event::EndPass& e) { ... }`; such a callable is not
/// called for other events.
class handler {
  template <class F, class... E>
  static constexpr bool takes_one(const std::variant<E...>*) {
    return (std::invocable<F&, const E&> || ...);
  }

 public:
  handler() = default;
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, handler>)
      handler(F&& f) {  // NOLINT: a callable converts
    using target = std::decay_t<F>;
    constexpr bool takes =
        std::invocable<target&, const Event&> || takes_one<target>(static_cast<Event*>(nullptr));
    static_assert(check<takes, gets_type<F>>,
                  "lamina: v2: event_handler: expected a callable that takes const "
                  "lamina::v2::event::Event& or an event, such as EndIteration");
    if constexpr (takes) {
      target_ = std::shared_ptr<void>(new target(std::forward<F>(f)));
      call_ = [](void* to, const Event& e) {
        target& callee = *static_cast<target*>(to);
        if constexpr (std::invocable<target&, const Event&>) {
          callee(e);
        } else {
          const auto call = [&callee]<class E>(const E& one) {
            if constexpr (std::invocable<target&, const E&>) callee(one);
          };
          std::visit(call, e);
        }
      };
    }
  }

  explicit operator bool() const { return call_ != nullptr; }
  /// Converts an event of lamina's training loop and calls the callable. `first` is the number of
  /// the pass that becomes pass 0 for the handler.
  void operator()(const lamina::event& e, int first) const {
    if (e.is_begin_pass()) call_(target_.get(), BeginPass(e, first));
    if (e.is_begin_iteration()) call_(target_.get(), BeginIteration(e, first));
    if (e.is_end_forward_backward()) call_(target_.get(), EndForwardBackward(e, first));
    if (e.is_end_iteration()) call_(target_.get(), EndIteration(e, first));
    if (e.is_end_pass()) call_(target_.get(), EndPass(e, first));
  }

 private:
  std::shared_ptr<void> target_;
  void (*call_)(void*, const Event&) = nullptr;
};

}  // namespace event

/// Returns the event as type E, or null: `if (auto* e = isinstance<event::EndPass>(event))`.
template <class E>
const E* isinstance(const event::Event& of) {
  return std::get_if<E>(&of);
}

}}}  // namespace lamina::v2

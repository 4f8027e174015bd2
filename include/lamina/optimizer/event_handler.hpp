// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/event_handler.hpp - a callable that receives events.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include <lamina/core/messages/check.hpp>
#include <lamina/optimizer/event.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Holds a callable of any type that accepts an event, or no callable. This class is used instead
/// of std::function, whose header would make the include of lamina.hpp take 1.1 times as long
/// (docs/compile_time.md, "Headers of others"). Copies share the callable and its state.
class event_handler {
 public:
  event_handler() = default;

  template <class F>
  requires(std::invocable<F&, const event&> && !std::same_as<std::remove_cvref_t<F>, event_handler>)
      event_handler(F&& f) {  // NOLINT: a callable converts
    using target = std::decay_t<F>;
    if constexpr (requires { f == nullptr; })
      if (f == nullptr) return;
    target_ = std::shared_ptr<void>(new target(std::forward<F>(f)));  // std::make_shared adds more
                                                                      // code
    call_ = [](void* to, const event& e) { (*static_cast<target*>(to))(e); };
  }

  /// Reports an argument that is not a callable for events with a one-line error.
  template <class F>
  requires(!std::invocable<F&, const event&> &&
           !std::same_as<std::remove_cvref_t<F>, event_handler>)
      event_handler(F&&) {  // NOLINT: any argument converts
    static_assert(check<std::invocable<F&, const event&>, gets_type<F>>,
                  "lamina: on_event: expected a callable that takes const lamina::event&");
  }

  /// Whether there is a callable.
  explicit operator bool() const { return call_ != nullptr; }
  void operator()(const event& e) const { call_(target_.get(), e); }

 private:
  std::shared_ptr<void> target_;
  void (*call_)(void*, const event&) = nullptr;
};

}}}  // namespace lamina::optimizer

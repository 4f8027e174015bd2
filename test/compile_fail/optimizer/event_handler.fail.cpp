// SPDX-License-Identifier: Apache-2.0
// A handler of events that takes something else.
// expect-error: static.assert.*on_event: expected a callable that takes const lamina::event&
// expect-fact: gets_type<wrong_handler
// expect-lines: 12
#include <lamina/optimizer/train_options.hpp>

struct handler {
  void operator()(const lamina::event&) {}
};
struct wrong_handler {
  void operator()(int) {}
};

int main() {
#ifdef SHOULD_FAIL
  const lamina::train_options options{.passes = 2, .on_event = wrong_handler{}};  // <- here
#else
  const lamina::train_options options{.passes = 2, .on_event = handler{}};
#endif
  return options.passes != 2;
}

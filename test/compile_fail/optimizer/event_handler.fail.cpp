// SPDX-License-Identifier: Apache-2.0
// A handler of events that takes something else, with all headers: the chain of includes is short.
// expect-error: static.assert.*on_event: expected a callable that takes const lamina::event&
// expect-fact: gets_type<wrong_handler
// expect-lines: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::mean(layer::fc<1>(layer::data<"x", float, 4>(main)));
});
struct sample {
  float x[4];
};
struct handler {
  void operator()(const lamina::event&) {}
};
struct wrong_handler {
  void operator()(int) {}
};

int main() {
  lamina::model m{net};
  const auto batches = std::vector<sample>(8) | lamina::reader::batch(4);
#ifdef SHOULD_FAIL
  lamina::train(m, batches, {.passes = 2, .on_event = wrong_handler{}});  // <- here
#else
  lamina::train(m, batches, {.passes = 2, .on_event = handler{}});
#endif
}

// SPDX-License-Identifier: Apache-2.0
// A configuration whose optimizer stands before its program.
// expect-error: static.assert.*trainer_config: expected a program after the name
// expect-fact: sgd
// expect-lines: 12
#include <vector>

#include <lamina/cli/trainer_config.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x));
});

struct sample {
  float x[2];
};

int main() {
  const std::vector<sample> samples{{{1, 2}}};
  const auto batches = samples | lamina::reader::batch(1);
  const lamina::optimizer::sgd sgd{};
#ifdef SHOULD_FAIL
  const lamina::trainer_config config{"net", sgd, net, batches};  // <- here
#else
  const lamina::trainer_config config{"net", net, sgd, batches};
#endif
  return config.name().empty();
}

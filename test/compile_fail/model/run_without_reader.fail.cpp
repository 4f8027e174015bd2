// SPDX-License-Identifier: Apache-2.0
// A training loop is run without its reader.
// expect-error[gcc]: use of deleted function .*no_match<lamina::run_program_options>
// expect-fact[gcc]: // call run\(model, reader\)
// expect-error[clang]: no matching function for call to 'run'
// expect-lines[gcc]: 12
// expect-lines[clang]: 20
#include <vector>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/train/run.hpp>

namespace layer = lamina::layer;

constexpr auto loop = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  layer::while_loop(more, [&](lamina::block& body) {
    auto [x] = layer::read_minibatch<"train", lamina::field<float, 4>>(body, more);
    lamina::optimizer::sgd{}.minimize(layer::mean(layer::fc<1>(x)));
  });
  return more;
});
struct sample {
  float x[4];
};

int main() {
  const std::vector<sample> samples(8);
  lamina::model model{loop};
#ifdef SHOULD_FAIL
  lamina::run(model);  // <- here
#else
  lamina::run(model, samples | lamina::reader::batch(4));
#endif
}

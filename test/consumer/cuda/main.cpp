// SPDX-License-Identifier: Apache-2.0
// Trains at a device; its kernels are compiled before it is linked.
#include "bent_identity.hpp"

#include <lamina/lamina.cuh>

namespace layer = lamina::layer;

float rate();  // of another file, which has no kernels

template <class V>
constexpr V bent(V x) {
  layer::layer_helper helper(*x.builder, "bent_identity", {});
  const int y = helper.output_like(x.id);
  x.builder->add_operator(lamina::schema_of<bent_identity>(), {x.id}, {y});
  return helper.returns(V{x.builder, y});
}

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = bent(layer::fc<16>(image));
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(hidden), label));
});

int main() {
  lamina::model model{net};
  const lamina::optimizer::sgd sgd{.learning_rate = rate()};
  sgd.train(model, lamina::dataset::digits::train() | lamina::reader::batch(16),
            {.passes = 1, .place = lamina::cuda::place{0}});
}

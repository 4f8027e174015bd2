// SPDX-License-Identifier: Apache-2.0
// expect-error: static.assert.*train: an embedding with is_sparse has gradients of rows
// expect-fact: gets_type<lamina::optimizer::ftrl>
#include <tuple>
#include <vector>

#include <lamina/layers/data.hpp>
#include <lamina/operators/embedding/lookup_table/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/ftrl.hpp>
#include <lamina/train/train.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto id = layer::data<"id", std::int64_t>(main);
#ifdef SHOULD_FAIL
  constexpr bool sparse = true;
#else
  constexpr bool sparse = false;
#endif
  return layer::mean(layer::embedding<9, 4>(id, {.is_sparse = sparse}));
});

int main() {
  lamina::model m{net};
  const std::vector<std::vector<std::tuple<std::int64_t>>> batches;
  lamina::optimizer::ftrl{}.train(m, batches);  // <- here
}

// SPDX-License-Identifier: Apache-2.0
// Words of sentences against words of the sentences of documents.
// expect-error: static.assert.*edit_distance: two sequences of whole numbers
// expect-fact: gets_type<.*tokens<
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/metric/sequence/layer_edit_distance.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto found = layer::sequence<"found", std::int64_t>(main);
  auto label = layer::sequence<"label", std::int64_t>(main);
  auto documents = layer::nested_sequence<"documents", std::int64_t>(main);
  (void)label, (void)documents;
#ifdef SHOULD_FAIL
  return layer::edit_distance(found, documents);  // <- here
#else
  return layer::edit_distance(found, label);
#endif
});

int main() { return net.parameter_count() < 0; }

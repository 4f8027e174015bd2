// SPDX-License-Identifier: Apache-2.0
// Row domains of sequences: in the types of handles and in the recorded program.
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/sequence.hpp>
#include <lamina/transform/append_backward.hpp>

namespace layer = lamina::layer;
using lamina::batch;
using lamina::block;
using lamina::tokens;
using lamina::variable;

namespace {

constexpr auto tagger = lamina::program([](block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto features = layer::sequence<"features", float, 3, 2>(words);
  auto tags = layer::sequence<"tags", std::int64_t>(words);
  using rows = tokens<"words">;
  static_assert(__is_same(decltype(words), variable<std::int64_t, rows, 1>));
  static_assert(__is_same(decltype(features), variable<float, rows, 3, 2>));
  auto x = layer::embedding<20, 6>(words);
  static_assert(__is_same(decltype(x), variable<float, rows, 6>));
  auto h = layer::fc<8>(std::tuple{x, features}, {.act = lamina::activation::tanh});
  h = layer::layer_norm(layer::dropout(layer::relu(h) + layer::scale(h, 0.5f), 0.1f));
  h = layer::elementwise_add<0>(h * h, layer::reduce_sum<1>(h));
  auto both = layer::concat({h, h});
  static_assert(__is_same(decltype(both), variable<float, rows, 16>));
  auto folded = layer::reshape<4, 4>(both);
  static_assert(__is_same(decltype(folded), variable<float, rows, 4, 4>));
  auto scores = layer::softmax(layer::fc<5>(folded));
  auto cost = layer::cross_entropy(scores, tags);
  static_assert(__is_same(decltype(cost), variable<float, rows, 1>));
  layer::accuracy(scores, tags);
  return layer::mean(cost) +
         layer::mean(layer::softmax_with_cross_entropy(layer::log(scores), tags));
});

constexpr auto documents = lamina::program([](block& main) {
  auto words = layer::nested_sequence<"doc", std::int64_t>(main);
  auto other = layer::sequence<"other", float, 4>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  using rows = typename decltype(words)::rows_type;
  static_assert(__is_same(rows, lamina::nested_tokens<"doc">));
  static_assert(rows::lod_level == 2 && rows::parent::lod_level == 1);
  static_assert(__is_same(rows::parent::parent, batch));
  return std::tuple{layer::mean(layer::embedding<9, 4>(words)), other, label};
});

const lamina::variable_desc& data(const lamina::program_view& p, int i) {
  return p.variables[p.data[i]];
}
std::string name_of_domain(const lamina::program_view& p, int d) {
  return {p.characters + p.domains[d].offset, static_cast<std::size_t>(p.domains[d].length)};
}

}  // namespace

TEST_CASE("a program without sequences has the domains once and batch") {
  constexpr auto plain = lamina::program([](block& main) { return layer::data<"x", float>(main); });
  const lamina::program_view p = plain.view();
  REQUIRE(p.count.domains == 2);
  CHECK(p.domains[lamina::once::domain].kind == lamina::domain_kind::once);
  CHECK(p.domains[batch::domain].kind == lamina::domain_kind::batch);
  CHECK(data(p, 0).rows == batch::domain);
}

TEST_CASE("what is made row by row from a sequence has its domain, gradients too") {
  constexpr auto trained = lamina::transform::append_backward(tagger);
  const lamina::program_view p = trained.view();
  REQUIRE(p.count.domains == 3);
  CHECK(p.domains[2].kind == lamina::domain_kind::sequence);
  CHECK(p.domains[2].parent == batch::domain);
  CHECK(name_of_domain(p, 2) == "words");
  CHECK(lamina::lod_level_of(p, 2) == 1);
  CHECK(lamina::lod_level_of(p, batch::domain) == 0);
  int with_rows = 0, gradients = 0;
  for (int v = 0; v < p.count.variables; ++v) {
    const lamina::variable_desc& d = p.variables[v];
    const bool leading = d.rank > 0 && p.dims[d.dims] == -1;
    CHECK(d.rows == (leading ? 2 : 0));
    with_rows += leading ? 1 : 0;
    gradients += leading && d.kind == lamina::variable_kind::gradient ? 1 : 0;
  }
  CHECK(with_rows > 20);
  CHECK(gradients > 10);
}

TEST_CASE("domains of nested and of several sequences") {
  const lamina::program_view p = documents.view();
  REQUIRE(p.count.domains == 5);
  CHECK(data(p, 0).rows == 3);
  CHECK(name_of_domain(p, 3) == "doc");
  CHECK(p.domains[3].parent == 2);
  CHECK(name_of_domain(p, 2) == "doc/sequences");
  CHECK(p.domains[2].parent == batch::domain);
  CHECK(lamina::lod_level_of(p, 3) == 2);
  CHECK(lamina::lod_level_of(p, 2) == 1);
  CHECK(data(p, 1).rows == 4);
  CHECK(name_of_domain(p, 4) == "other");
  CHECK(data(p, 2).rows == batch::domain);
}

// SPDX-License-Identifier: Apache-2.0
// Messages name the layer and the feed that a user wrote: each operator that takes an index, on the
// executor and on the compiled engine.
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>

#include "laws/engine_run.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/operator_place.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto x_of = [](block& main) { return layer::data<"x", float, 5>(main); };
constexpr auto index_of = [](block& main) { return layer::data<"index", std::int64_t>(main); };

// A program per operator; feed 1 has the index, if there are two feeds, else feed 0.
constexpr auto embedding =
    program([](block& main) { return layer::mean(layer::embedding<7, 3>(index_of(main))); });
constexpr auto one_hot =
    program([](block& main) { return layer::mean(layer::one_hot<4>(index_of(main))); });
constexpr auto gather = program([](block& main) {
  auto x = x_of(main);
  return layer::mean(layer::gather(x, index_of(main)));
});
constexpr auto scatter = program([](block& main) {
  auto x = x_of(main);
  auto i = index_of(main);
  return layer::mean(layer::scatter(layer::square(x), i, x));
});
constexpr auto multiplex = program([](block& main) {
  auto x = x_of(main);
  return layer::mean(layer::multiplex({layer::exp(x), x}, index_of(main)));
});
constexpr auto logits = program([](block& main) {
  auto x = x_of(main);
  return layer::mean(layer::softmax_with_cross_entropy(x, index_of(main), {.name = "loss"}));
});
constexpr auto probabilities = program([](block& main) {
  auto x = x_of(main);
  return layer::mean(layer::cross_entropy(layer::softmax(x), index_of(main)));
});
constexpr auto ranked = program([](block& main) {
  auto x = x_of(main);
  return layer::mean(layer::bpr_loss(layer::softmax(x), index_of(main)));
});
// An index that the program computes has no feed.
constexpr auto computed = program([](block& main) {
  return layer::mean(layer::embedding<7, 3>(layer::increment(index_of(main)), {.name = "words"}));
});

/// What both engines say of three rows whose last index is `bad`.
template <class P>
void check(P, const std::string& layer, const std::string& source, std::int64_t bad,
           const std::string& range) {
  using recorded = std::remove_const_t<P>;
  lamina::law::engine_run<recorded> run{lamina::law::engine_law_options{.low = 0.1f, .limit = 2}};
  run.draw(3);
  auto& feed = run.feed(recorded::desc.count.data - 1);
  std::memcpy(feed.bytes.data() + 2 * sizeof bad, &bad, sizeof bad);
  feed.value.template as<std::int64_t>().flat(2) = bad;
  std::string compiled, executed;
  try {
    run.run_engine(0, 3);
  } catch (const lamina::error& e) {
    compiled = e.what();
  }
  try {
    run.template run_executor<float>({});
  } catch (const lamina::error& e) {
    executed = e.what();
  }
  INFO(compiled << "; " << executed);
  CHECK(compiled.starts_with("lamina: layer " + layer + ", " + source + ": "));
  CHECK(compiled.find(" in row 2: expected " + range + ", found ") != std::string::npos);
  CHECK(executed.starts_with("lamina: executor: layer " + layer + ": expected "));
  CHECK(executed.find(" in " + source + ", found ") != std::string::npos);
  CHECK(executed.ends_with(" in row 2"));
  for (const char* never_written : {"lookup_table", "operator '"}) {
    CHECK(compiled.find(never_written) == std::string::npos);
    CHECK(executed.find(never_written) == std::string::npos);
  }
}

}  // namespace

TEST_CASE("an index out of range names the layer, the feed and the row") {
  check(embedding, "embedding_0", "feed 'index'", 7, "0 to 6");
  check(one_hot, "one_hot_0", "feed 'index'", 4, "0 to 3");
  check(gather, "gather_0", "feed 'index'", 3, "0 to 2");
  check(scatter, "scatter_0", "feed 'index'", -1, "0 to 2");
  check(multiplex, "multiplex_0", "feed 'index'", 2, "0 to 1");
  check(logits, "loss", "feed 'index'", 5, "0 to 4");
  check(probabilities, "cross_entropy_0", "feed 'index'", -1, "0 to 4");
  check(ranked, "bpr_loss_0", "feed 'index'", 9, "0 to 4");
}

TEST_CASE("the place of an operator: its layer, that of its gradient, or its type") {
  const lamina::program_view p = decltype(logits)::view();
  const auto find = [&](std::string_view type) -> const lamina::operator_desc* {
    for (int k = 0; k < p.count.operators; ++k)
      if (p.operators[k].schema->type == type) return &p.operators[k];
    return nullptr;
  };
  const lamina::operator_desc* loss = find("softmax_with_cross_entropy");
  REQUIRE(loss != nullptr);
  CHECK(lamina::place_of(p, loss, *loss->schema) == "layer loss");
  CHECK(lamina::place_of(p, nullptr, *loss->schema) == "softmax_with_cross_entropy");
  CHECK(lamina::layer_of(p, nullptr).empty());
  CHECK(lamina::source_of(p, p.data[1]) == "feed 'index'");
  CHECK(lamina::source_of(p, p.outputs[0]) == "variable 'mean_0.tmp_0'");
}

TEST_CASE("a gradient's operator is that of its layer") {
  using differentiated = lamina::with_backward<std::remove_const_t<decltype(logits)>, true>;
  const lamina::program_view p = differentiated::view();
  std::string found;
  for (int k = 0; k < p.count.operators; ++k)
    if (p.operators[k].schema->type == std::string_view("softmax_with_cross_entropy_grad"))
      found = lamina::layer_of(p, &p.operators[k]);
  CHECK(found == "gradient of layer loss");
}

TEST_CASE("an index that the program computes has the name of its variable") {
  check(computed, "words", "variable 'increment_0.tmp_0'", 6, "0 to 6");
}

// SPDX-License-Identifier: Apache-2.0
// Sequences through the interpreter: feeding, sharing, fetching, and what is refused.
#include <sstream>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/executor/domain_rows.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/operator_definition.hpp>
#include <lamina/transform/append_backward.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::lod;
using lamina::lod_tensor;
using lamina::tensor;

namespace {

constexpr auto tagger = lamina::program([](block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto tags = layer::sequence<"tags", std::int64_t>(words);
  auto label = layer::data<"label", float, 1>(main);
  auto x = layer::tanh(layer::fc<3>(layer::embedding<6, 4>(words), {.name = "scores"}));
  auto cost = layer::softmax_with_cross_entropy(x, tags);
  return std::tuple{layer::mean(cost) + layer::mean(label), x};
});

constexpr auto trained = lamina::transform::append_backward(tagger);

constexpr auto documents = lamina::program([](block& main) {
  auto words = layer::nested_sequence<"doc", float, 2>(main);
  auto label = layer::data<"label", float, 1>(main);
  auto each_sentence = layer::sequence<"other", float, 2>(main);
  return std::tuple{layer::scale(words, 2.f), label, layer::relu(each_sentence)};
});

template <class P>
std::vector<lod_tensor> run(P, const lamina::feed_map& feed,
                            const std::vector<std::string>& fetch) {
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope, 1);
  return executor.run(P::view(), scope, feed, fetch);
}

lod_tensor words() { return lamina::sequences<std::int64_t>({{3, 1}, {}, {4}}); }

lod_tensor tags() { return lamina::sequences<std::int64_t>({{0, 1}, {}, {2}}); }

tensor numbers(std::size_t rows) { return tensor({rows, 1}, std::vector<float>(rows, 1.f)); }

lod_tensor pairs(const std::vector<lod::level>& lengths) {
  const std::size_t rows = lod::from_lengths(lengths).rows();
  return lamina::create_lod_tensor(tensor({rows, 2}, std::vector<float>(rows * 2, 1.f)), lengths);
}

}  // namespace

TEST_CASE("whatever is made row by row from sequences has their lengths, gradients too") {
  const auto r = run(trained, {{"words", words()}, {"tags", tags()}, {"label", numbers(3)}},
                     {"tanh_0.tmp_0", "mean_0.tmp_0", "tanh_0.tmp_0@GRAD", "embedding_0.tmp_0@GRAD",
                      "embedding_0.w_0@GRAD", "scores.tmp_1"});
  for (const std::size_t i : {0u, 2u, 3u, 5u}) {
    CHECK(r[i].lod() == words().lod());
    CHECK(r[i].shape()[0] == 3);
  }
  CHECK(r[1].lod().empty());
  CHECK(r[4].lod().empty());
  CHECK(r[4].shape() == lamina::tensor_shape{6, 4});
  // The rows do not know of their sequences: other lengths, the same numbers.
  const auto other = run(trained,
                         {{"words", lamina::sequences<std::int64_t>({{3}, {1, 4}})},
                          {"tags", lamina::sequences<std::int64_t>({{0}, {1, 2}})},
                          {"label", numbers(2)}},
                         {"tanh_0.tmp_0", "mean_0.tmp_0"});
  CHECK(other[0].recursive_sequence_lengths() == std::vector<lod::level>{{1, 2}});
  CHECK(other[0].as<float>() == r[0].as<float>());
  CHECK(other[1].as<float>() == r[1].as<float>());
}

TEST_CASE("two levels of sequences go through unchanged") {
  const lod_tensor doc = pairs({{2, 1}, {3, 0, 1}});
  const auto r = run(documents, {{"doc", doc}, {"label", numbers(2)}, {"other", pairs({{1, 0}})}},
                     {"scale_0.tmp_0", "relu_0.tmp_0", "label"});
  CHECK(r[0].lod() == doc.lod());
  CHECK(r[0].as<float>()(3, 1) == 2);
  CHECK(r[1].lod() == lod::from_lengths({{1, 0}}));
  CHECK(r[2].lod().empty());
}

TEST_CASE("print writes the offsets of sequences") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::nested_sequence<"x", float, 2>(main);
    return layer::print(layer::print(x, {.tensor_lod = false, .name = "quiet"}), {.summarize = 0});
  });
  std::ostringstream out;
  lamina::run_options options;
  options.print_to = &out;
  lamina::executor executor;
  lamina::scope scope;
  const auto r = executor.run(p.view(), scope, {{"x", pairs({{2, 1}, {3, 0, 1}})}}, options);
  const std::string line = "\tLoD: [[ 0,2,3, ][ 0,3,3,4, ]]\n";
  CHECK(r[0].lod() == lod::from_lengths({{2, 1}, {3, 0, 1}}));
  CHECK(out.str().find(line) != std::string::npos);
  CHECK(out.str().find("LoD") == out.str().rfind("LoD"));
}

TEST_CASE("sequences with another number of levels than the variable's are refused") {
  const std::vector<std::string> none;
  CHECK_THROWS_WITH(run(tagger, {{"words", tensor(words())}}, none),
                    Contains("expected sequences of 1 levels to be fed to variable 'words'") &&
                        Contains("found 0 levels"));
  CHECK_THROWS_WITH(run(tagger, {{"words", lamina::nested_sequences<std::int64_t>({{{1}}})}}, none),
                    Contains("'words'") && Contains("found 2 levels"));
  CHECK_THROWS_WITH(run(tagger, {{"label", lamina::sequences<float>({{1}})}}, none),
                    Contains("expected sequences of 0 levels to be fed to variable 'label'"));
  CHECK_THROWS_WITH(run(documents, {{"doc", pairs({{1, 2}})}}, none),
                    Contains("expected sequences of 2 levels to be fed to variable 'doc'"));
}

TEST_CASE("feeds of one domain have equal sequences, and one for each sample") {
  const std::vector<std::string> none;
  CHECK_THROWS_WITH(
      run(tagger, {{"words", words()}, {"tags", lamina::sequences<std::int64_t>({{0}, {1}, {2}})}},
          none),
      Contains("expected sequences of lengths [[2, 0, 1]] to be fed to variable 'tags' as to "
               "'words', found [[1, 1, 1]]"));
  CHECK_THROWS_WITH(
      run(tagger, {{"words", words()}, {"tags", tags()}, {"label", numbers(2)}}, none),
      Contains("expected 3 rows to be fed to variable 'label' as in 'words', found 2"));
  CHECK_THROWS_WITH(
      run(documents, {{"doc", pairs({{1, 1}, {1, 1}})}, {"other", pairs({{1, 1, 1}})}}, none),
      Contains("expected 2 sequences to be fed to variable 'other' as in 'doc', found 3"));
}

namespace {

struct forgets_lod : lamina::operator_definition {
  static constexpr const char* type = "forgets_lod";
  static constexpr auto inputs = lamina::slots_x;
  static constexpr auto outputs = lamina::slots_out;
};

template <class Rows>
constexpr lamina::variable<float, Rows, 2> other_rows(lamina::variable<float, lamina::batch, 2> x) {
  layer::layer_helper helper(*x.builder, "other_rows");
  const auto y = helper.output<lamina::variable<float, Rows, 2>>();
  x.builder->add_operator(lamina::schema_of<forgets_lod>(), {x.id}, {y.id});
  return y;
}

}  // namespace

TEST_CASE("a kernel that makes sequences has to say which") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    return layer::scale(other_rows<lamina::tokens<"made">>(x), 3.f);
  });
  const lamina::feed_map feed{{"x", tensor({3, 2}, std::vector<float>(6, 1.f))}};
  lamina::scope scope;
  const auto with = [&](lamina::kernel_function<float> kernel) {
    lamina::executor executor;
    executor.add_kernel("forgets_lod", kernel);
    return executor.run(p.view(), scope, feed).at(0);
  };
  const lod_tensor made = with([](lamina::call_context<float>& c) {
    c.give("Out", c.real("X"));
    c.set_lod("Out", lod::from_lengths({{1, 2}}));
  });
  CHECK(made.lod() == lod::from_lengths({{1, 2}}));
  CHECK(made.as<float>()(2, 1) == 3);
  CHECK_THROWS_WITH(with([](lamina::call_context<float>& c) { c.give("Out", c.real("X")); }),
                    Contains(": expected sequences of 1 levels") &&
                        Contains("'other_rows_0.tmp_0'") && Contains("found lengths []"));
  CHECK_THROWS_WITH(with([](lamina::call_context<float>& c) {
                      c.give("Out", c.real("X"));
                      c.set_lod("Out", lod::from_lengths({{1, 1}}));
                    }),
                    Contains("over the rows of [3, 2]") && Contains("found lengths [[1, 1]]"));
}

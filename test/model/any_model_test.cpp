// SPDX-License-Identifier: Apache-2.0
// Models whose program is chosen while the application runs.
#include <array>
#include <thread>

#include "model/samples.hpp"

#include <lamina/model/any_model.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto dense = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 3>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<3>(x, {.name = "output"});
  layer::argmax<-1>(logits, {.name = "best"});
  layer::reshape<3, 1>(logits, {.name = "column"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label), {.name = "cost"});
});
constexpr auto ragged = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto weight = layer::sequence<"weight", float>(words);
  auto e = layer::embedding<9, 4>(words);
  return layer::sequence_pool(layer::elementwise_mul(e, layer::expand<1, 4>(weight)),
                              {.type = lamina::pooling_type::sum, .name = "sum"});
});

lamina::any_model open(bool is_ragged) {
  if (is_ragged) return lamina::model{ragged, 3};
  return lamina::model{dense, 3};
}

}  // namespace

TEST_CASE("an any_model tells its inputs, outputs and parameters") {
  const lamina::any_model m = open(false);
  const auto in = m.inputs(), out = m.outputs(), parameters = m.parameters();
  REQUIRE(in.size() == 2);
  CHECK(in[0].name == "x");
  CHECK(in[0].type == lamina::dtype::float32);
  CHECK(in[0].shape == std::vector<std::int64_t>{-1, 2, 3});
  CHECK(in[1].type == lamina::dtype::int64);
  REQUIRE(out.size() == 4);
  CHECK(out[0].name == "output");
  CHECK(out[0].shape == std::vector<std::int64_t>{-1, 3});
  CHECK(out[1].name == "best");
  CHECK(out[1].type == lamina::dtype::int64);
  CHECK(out[3].name == "cost");
  CHECK(out[3].shape == std::vector<std::int64_t>{1});
  REQUIRE(parameters.size() == 2);
  CHECK(parameters[0].name == "output.w_0");
  CHECK(parameters[0].shape == std::vector<std::int64_t>{6, 3});
  CHECK(open(true).inputs()[0].levels == 1);
}

TEST_CASE("an any_model computes what its model computes") {
  lamina::model own{dense, 3};
  lamina::evaluator e{own};
  const std::vector<float> x{1, 2, 3, 4, 5, 6, -1, 0, 1, 0, -1, 0};
  const std::array<std::int64_t, 2> label{2, 0};
  e.forward(lamina::feed<"x">(x), lamina::feed<"label">(label));
  const lamina::array<float> output(e.activation<"output">()), column(e.activation<"column">());
  const float cost = e.cost();

  const lamina::any_model m = open(false);
  std::array<bool, 2> same{};
  std::array<std::thread, 2> threads;
  for (std::size_t i = 0; i < 2; ++i)
    threads[i] = std::thread([&, i] {
      lamina::any_evaluator a = m.evaluator();
      a.forward({{"label", label}, {"x", x.data(), x.size()}});
      same[i] = a.activation("output") == output && a.activation("column") == column &&
                a.activation("cost") == lamina::array<float>{cost};
    });
  for (std::thread& t : threads) t.join();
  CHECK((same[0] && same[1]));
  lamina::any_evaluator a = m.evaluator();
  a.forward({{"x", x}});
  const auto best = a.activation<std::int64_t>("best");
  CHECK(best.shape() == lamina::array<std::int64_t>(e.activation<"best">()).shape());
  CHECK(best == lamina::array<std::int64_t>(e.activation<"best">()));
}

TEST_CASE("an any_model takes sequences by their lengths") {
  lamina::model own{ragged, 3};
  lamina::evaluator e{own};
  const std::vector<std::vector<std::int64_t>> words{{1, 2, 3}, {}, {4}};
  const std::vector<std::vector<float>> weights{{1, 2, 3}, {}, {4}};
  e.forward(lamina::feed<"words">(words), lamina::feed<"weight">(weights));
  lamina::any_evaluator a = open(true).evaluator();  // which keeps the model alive
  const std::vector<std::int64_t> all{1, 2, 3, 4};
  const std::vector<float> weight{1, 2, 3, 4};
  const std::vector<int> lengths{3, 0, 1};
  a.forward({{"words", all, lengths}, {"weight", weight, lengths}});
  CHECK(a.activation("sum") == lamina::array<float>(e.activation<"sum">()));
  const auto fails = [&](std::initializer_list<lamina::any_feed> feeds, const char* with) {
    CHECK_THAT(test::error_of([&] { a.forward(feeds); }), Contains(with));
  };
  fails({{"words", all, std::vector<int>{3, 2}}}, "feed words: expected lengths with the sum 4");
  fails({{"words", all, std::vector<int>{5, -1}}}, "expected lengths of at least 0, found -1");
  fails({{"words", all, lengths}, {"weight", weight, std::vector<int>{2, 1, 1}}},
        "feed weight: expected the lengths of another feed");
}

TEST_CASE("what does not fit is an error that names it") {
  lamina::any_evaluator e = open(false).evaluator();
  const std::vector<float> six(6), seven(7), twelve(12);
  const std::vector<std::int64_t> one{0};
  const auto fails = [&](std::initializer_list<lamina::any_feed> feeds, const char* with) {
    CHECK_THAT(test::error_of([&] { e.forward(feeds); }), Contains(with));
  };
  fails({}, "forward: expected a feed of x, label, found none");
  fails({{"y", six}}, "feed: expected one of x, label, found 'y'");
  fails({{"x", one}}, "feed x: expected float32, found int64");
  fails({{"x", seven}}, "feed x: expected a multiple of 6 values, found 7");
  fails({{"x", twelve}, {"label", one}}, "feed label: expected 2 rows as in the other feeds");
  fails({{"x", six}, {"x", six}}, "feed x: expected one feed, found two");
  fails({{"x", six, std::vector<int>{1}}}, "feed x: expected no lengths, found 1");
  e.forward({{"x", six}});
  CHECK(e.activation("output").shape() == std::vector<std::size_t>{1, 3});
  const auto wrong = [&](const auto& call, const char* with) {
    CHECK_THAT(test::error_of(call), Contains(with));
  };
  wrong([&] { (void)e.activation("cost"); }, "expected a feed of label in the last forward()");
  wrong([&] { (void)e.activation("outputs"); },
        "expected one of output, best, column, cost, found 'outputs'");
  wrong([&] { (void)e.activation("output.w_0"); }, "found 'output.w_0'");
  wrong([&] { (void)e.activation("best"); }, "activation best: expected elements of int64");
}

TEST_CASE("copies of an any_model share parameters, which go to files and come back") {
  const test::folder folder;
  lamina::model source{dense, 8};
  source.save(folder / "net");
  const std::vector<float> x(6, 1.f);
  lamina::any_model m = open(false);
  const lamina::any_model copy = std::move(m);
  lamina::any_evaluator e = copy.evaluator();
  m.load(folder / "net");
  e.forward({{"x", x}});
  lamina::evaluator own{source};
  own.forward(lamina::feed<"x">(x));
  CHECK(e.activation("output") == lamina::array<float>(own.activation<"output">()));
  copy.save(folder / "again");
  CHECK(test::read(folder / "again") == test::read(folder / "net"));
  lamina::any_model other = open(true);
  CHECK_THAT(test::error_of([&] { other.load(folder / "net"); }),
             Contains("expected a parameter embedding_0.w_0, found none"));
}

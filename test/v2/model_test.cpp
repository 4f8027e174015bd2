// SPDX-License-Identifier: Apache-2.0
// model::create and load, evaluator::create, data_provider, train and the default optimizer:
// models of flowers, which are made up. docs/v2.md shows what stands between a line `// == name`
// and `// ==`, with the comment in front of it as Python (test/docs/v2_page.py).
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <locale>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;
using paddle::data_type::dense_vector;

namespace {

struct flower {
  std::array<float, 5> measures;
  std::int64_t kind;
};
using flowers = std::vector<flower>;

/// The flower of a number; its kind is the position of the largest of the last three measures.
flower flower_of(std::uint64_t number) {
  lamina::reader::random random(1, 0, number);
  flower f{};
  for (float& x : f.measures) x = random.uniform();
  for (std::int64_t k = 1; k < 3; ++k)
    if (f.measures[static_cast<std::size_t>(2 + k)] >
        f.measures[static_cast<std::size_t>(2 + f.kind)])
      f.kind = k;
  return f;
}
flowers first_flowers(std::uint64_t count) {
  flowers all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(flower_of(i));
  return all;
}

// A file of flowers, one per line, their numbers separated by blanks.

std::ifstream opened(const std::string& path) {
  std::ifstream source(path);
  source.imbue(std::locale::classic());
  return source;
}
/// Up to `count` flowers, fewer at the end of the file.
flowers next_flowers(std::ifstream& source, std::size_t count) {
  flowers next;
  flower f{};
  const auto reads_one = [&] {
    for (float& x : f.measures) source >> x;
    return static_cast<bool>(source >> f.kind);
  };
  while (next.size() < count && reads_one()) next.push_back(f);
  source >> std::ws;
  return next;
}
bool at_end(std::ifstream& source) { return source.peek() == std::ifstream::traits_type::eof(); }
void write_flowers(const std::string& path, std::uint64_t count) {
  std::ofstream to(path);
  to.imbue(std::locale::classic());
  to.precision(9);
  for (const flower& f : first_flowers(count)) {
    for (const float x : f.measures) to << x << ' ';
    to << f.kind << '\n';
  }
}

// == models: From a file to a trained model
// def flowers_of(settings):
//     source = open(settings["path"])
//     while True:
//         minibatch = next_flowers(source, settings["count"])
//         last = at_end(source)
//         if last:
//             source = open(settings["path"])  # the next pass starts over
//         yield minibatch, last
struct settings {
  std::string path;
  std::size_t count;
};
lamina::generator<std::pair<flowers, bool>> flowers_of(settings from) {
  auto source = opened(from.path);
  while (true) {
    auto minibatch = next_flowers(source, from.count);
    const bool last = at_end(source);
    if (last) source = opened(from.path);  // the next pass starts over
    co_yield {std::move(minibatch), last};
  }
}
// ==

// == models: Activations by name
// measures = paddle.layer.data(name="measures", type=paddle.data_type.dense_vector(5))
// hidden = paddle.layer.fc(measures, size=8, act=paddle.activation.Tanh(), name="hidden")
// kinds = paddle.layer.softmax(paddle.layer.fc(hidden, size=3), name="kinds")
// cost = paddle.layer.cross_entropy_cost(
//     input=kinds,
//     label=paddle.layer.data(name="kind", type=paddle.data_type.integer_value(3)))
constexpr auto cost = lamina::program([](lamina::block& main) {
  auto measures = layer::data<"measures", dense_vector<5>>(main);
  auto hidden = layer::fc<8>(measures, {.act = paddle::activation::Tanh(), .name = "hidden"});
  auto kinds = layer::softmax(layer::fc<3>(hidden), {.name = "kinds"});
  auto kind = layer::data<"kind", paddle::data_type::integer_value<3>>(main);
  return layer::cross_entropy_cost(kinds, kind);
});
// ==

// == models: One matrix in a model
// question = paddle.layer.data(name="question", type=paddle.data_type.dense_vector(30))
// answer = paddle.layer.data(name="answer", type=paddle.data_type.dense_vector(30))
// left, right = (
//     paddle.layer.fc(side, size=4, bias_attr=False, parameter_name="meaning")
//     for side in (question, answer))
// match = paddle.layer.cosine(left, right, name="match")
constexpr auto match = lamina::program([](lamina::block& main) {
  auto question = layer::data<"question", dense_vector<30>>(main);
  auto answer = layer::data<"answer", dense_vector<30>>(main);
  const auto meaning_of = [](auto side) {
    return layer::fc<4>(side, {.param = {.name = "meaning"}, .bias = false});
  };
  auto left = meaning_of(question);
  auto right = meaning_of(answer);
  return layer::mean(layer::cosine(left, right, {.name = "match"}));
});
// ==

// == models: One matrix in two models
// colours = paddle.layer.data(name="colours", type=paddle.data_type.dense_vector(7))
// season = paddle.layer.fc(colours, size=4, parameter_name="palette",
//                          act=paddle.activation.Softmax())
// seasons = paddle.model.create(season)
//
// # The vectors of sketches, by the matrix that the seasons train.
// sketch = paddle.layer.data(name="sketch", type=paddle.data_type.dense_vector(7))
// vector = paddle.layer.fc(sketch, size=4, parameter_name="palette", parameter_model=seasons)
constexpr auto season_cost = lamina::program([](lamina::block& main) {
  auto colours = layer::data<"colours", dense_vector<7>>(main);
  auto season =
      layer::fc<4>(colours, {.act = paddle::activation::Softmax(), .param = {.name = "palette"}});
  auto label = layer::data<"season", paddle::data_type::integer_value<4>>(main);
  return layer::cross_entropy_cost(season, label);
});
// The vectors of sketches, by the matrix that the seasons train.
constexpr auto vector_of_sketch = lamina::program([](lamina::block& main) {
  auto sketch = layer::data<"sketch", dense_vector<7>>(main);
  return layer::fc<4>(sketch, {.param = {.name = "palette"}, .name = "vector"});
});
// ==

template <class P>
std::vector<float> numbers_of(const lamina::model<P>& m, int i) {
  const auto a = m.get(i);
  return {a.begin(), a.end()};
}

}  // namespace

TEST_CASE("Models and evaluators, a function that reads a file gives what a reader gives") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/flowers.txt";
  write_flowers(path, 50);
  // == models: From a file to a trained model
  //
  // model = paddle.model.create(cost)  # the network is in the next section
  // paddle.train(model, data_provider=flowers_of)
  auto model = paddle::model::create(cost);  // the network is in the next section
  paddle::train(model, paddle::data_provider(flowers_of, settings{path, 6}));
  // ==
  lamina::model same{cost};
  CHECK(lamina::train(same, first_flowers(50) | lamina::reader::batch(6)).steps == 9);
  for (int i = 0; i < same.parameter_arrays(); ++i)
    CHECK(numbers_of(model, i) == numbers_of(same, i));

  // The next pass begins where the function has opened the file again.
  int batches = 0;
  std::vector<double> costs;
  const auto provider = paddle::data_provider(flowers_of, settings{path, 6});
  const auto count = [&](const lamina::event& e) {
    batches += e.is_end_iteration() ? 1 : 0;
    if (!e.is_end_pass()) return;
    CHECK(e.samples == 50);
    costs.push_back(e.cost);
  };
  paddle::train(model, provider, {.passes = 3, .on_event = count});
  CHECK(batches == 27);
  CHECK(costs[1] < costs[0]);
  CHECK(costs[2] < costs[1]);
}

TEST_CASE("Models and evaluators, owners, references, and the functions of each") {
  const flowers minibatch = first_flowers(40);
  const auto batches = minibatch | lamina::reader::batch(10);
  const temporary_folder folder;
  // == models: Owners and references
  // model = paddle.model.create(cost)              # owns the topology and the parameters
  //
  // evaluator = paddle.evaluator.create(model)     # owns activations, refers to the model
  // evaluator.forward(minibatch[0])
  // untrained = evaluator.test(batches)
  //
  // machine = GradientMachine(model)               # owns gradients too
  // machine.backward(minibatch)
  //
  // optimizer = Optimizer(learning_rate=0.5)       # refers to gradient machines
  // optimizer.update(machine)                      # by the gradients of this one
  // optimizer.train(batches)                       # by machines of its own
  // optimizer.checkpoint("after_a_pass")
  lamina::model model{cost};  // owns the program and the parameters

  lamina::evaluator evaluator{model};  // owns activations, refers to the model
  evaluator.forward(lamina::feed<"measures">(minibatch[0].measures));
  const auto untrained = evaluator.test(batches);

  lamina::gradient_machine machine{model};  // owns gradients too
  machine.backward(minibatch);

  lamina::optimizer::sgd sgd{.learning_rate = 0.5f};
  lamina::trainer optimizer{model, sgd};  // refers to gradient machines
  optimizer.update({&machine});           // by the gradients of this one
  optimizer.pass(batches);                // by machines of its own
  optimizer.save(folder.path() + "/after_a_pass");
  // ==
  CHECK(optimizer.steps() == 5);
  CHECK(evaluator.test(batches).cost < untrained.cost);
  lamina::trainer other{model, sgd};
  other.load(folder.path() + "/after_a_pass");
  CHECK(other.steps() == 5);
}

namespace {

/// Stands for a server: two threads call the handler, each for every other flower of eight.
template <class Handler>
std::array<std::vector<float>, 8> serve(const Handler& handler) {
  std::array<std::vector<float>, 8> answers;
  const auto every_other = [&](std::size_t first) {
    for (std::size_t i = first; i < answers.size(); i += 2)
      answers[i] = handler(flower_of(i).measures);
  };
  std::thread a(every_other, 0), b(every_other, 1);
  a.join();
  b.join();
  return answers;
}

}  // namespace

TEST_CASE("Models and evaluators, one model serves requests of several threads", "[threads]") {
  const temporary_folder folder;
  const std::string file = folder.path() + "/flowers.model";
  lamina::model(cost, 5).save(file);
  // == models: A model for several threads
  // model = paddle.model.load("flowers.model")
  //
  // def kinds_of(measures):
  //     own = paddle.evaluator.create(model)  # the parameters are those of the model
  //     own.forward(measures)
  //     return own.activation(layer="kinds")
  //
  // serve(kinds_of)  # each thread of a server calls the function
  auto model = paddle::model::load(cost, file);

  const auto kinds_of = [&](const auto& measures) {
    auto own = paddle::evaluator::create(model);  // the parameters are those of the model
    own.forward(lamina::feed<"measures">(measures));
    const auto kinds = own.activation<"kinds">();
    return std::vector<float>(kinds.begin(), kinds.end());
  };

  const auto answers = serve(kinds_of);  // each thread of a server calls the function
  // ==
  lamina::evaluator alone{model};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    alone.forward(lamina::feed<"measures">(flower_of(i).measures));
    const auto expected = alone.activation<"kinds">();
    CHECK(answers[i] == std::vector<float>(expected.begin(), expected.end()));
    CHECK(answers[i].size() == 3);
  }
  CHECK_THROWS_AS(paddle::model::load(match, file), lamina::error);
}

TEST_CASE("Models and evaluators, activations of layers with names") {
  const flower lily = flower_of(3);
  // == models: Activations by name
  //
  // flowers = paddle.model.create(cost)
  // look = paddle.evaluator.create(flowers)
  // look.forward(lily.measures)
  // hidden, kinds = (look.activation(layer=name) for name in ("hidden", "kinds"))
  auto flowers = paddle::model::create(cost);
  auto look = paddle::evaluator::create(flowers);
  look.forward(lamina::feed<"measures">(lily.measures));  // computes what needs no label
  auto hidden = look.activation<"hidden">();
  auto kinds = look.activation<"kinds">();
  // ==
  const auto first = flowers.parameter<"hidden.w_0">();
  for (std::size_t k = 0; k < 8; ++k) {
    double expected = 0;
    for (std::size_t i = 0; i < 5; ++i)
      expected += static_cast<double>(lily.measures[i]) * static_cast<double>(first(i, k));
    CHECK(static_cast<double>(hidden(0, k)) == Approx(std::tanh(expected)).margin(1e-6));
  }
  const auto second = flowers.parameter<"fc_0.w_0">();
  std::array<double, 3> scores{};
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < 8; ++i)
      scores[k] += static_cast<double>(hidden(0, i)) * static_cast<double>(second(i, k));
    sum += std::exp(scores[k]);
  }
  for (std::size_t k = 0; k < 3; ++k)
    CHECK(static_cast<double>(kinds(0, k)) == Approx(std::exp(scores[k]) / sum));
}

TEST_CASE("Models and evaluators, two layers of a model have one matrix") {
  auto model = paddle::model::create(match);
  CHECK(model.parameter_arrays() == 1);
  CHECK(model.parameter<"meaning">().shape() == std::vector<std::size_t>{30, 4});
  std::vector<float> a(30), b(30);
  for (std::size_t i = 0; i < 30; ++i) {
    a[i] = flower_of(i).measures[0];
    b[i] = flower_of(i).measures[1];
  }
  auto e = paddle::evaluator::create(model);
  const auto cosine = [&](const auto& question, const auto& answer) {
    e.forward(lamina::feed<"question">(question), lamina::feed<"answer">(answer));
    return e.activation<"match">()(0, 0);
  };
  const float once = cosine(a, b);
  CHECK(cosine(b, a) == once);
  CHECK(cosine(a, a) == Approx(1));
  CHECK(once < 0.9999f);
}

TEST_CASE("Models and evaluators, two models have one matrix") {
  // == models: One matrix in two models
  auto seasons = paddle::model::create(season_cost);
  auto vectors = paddle::model::create(vector_of_sketch, /* parameter_model */ seasons);
  // ==
  const auto before = vectors.parameter<"palette">();
  CHECK(before == seasons.parameter<"palette">());
  struct painting {
    std::array<float, 7> colours;
    std::int64_t season;
  };
  const std::vector<painting> paintings{{{1, 0, 0, 2, 0, 0, 0}, 1}, {{0, 1, 0, 0, 0, 3, 0}, 3}};
  paddle::train(seasons, paintings | lamina::reader::batch(2), {.passes = 3});
  CHECK(vectors.parameter<"palette">() == seasons.parameter<"palette">());
  CHECK_FALSE(vectors.parameter<"palette">() == before);
  CHECK(vectors.parameter<"vector.b_0">() == lamina::array<float>{0.f, 0.f, 0.f, 0.f});
}

TEST_CASE("Models and evaluators, train is a call of the default optimizer") {
  const auto minibatches = first_flowers(32) | lamina::reader::batch(8);
  auto model = paddle::model::create(cost);
  // == models: The default optimizer
  // # paddle.train(model, minibatches, num_passes=3) does the same.
  // descent = paddle.optimizer.SGD(learning_rate=0.01)
  // descent.train(model, minibatches, num_passes=3)
  auto descent = paddle::optimizer::SGD({.learning_rate = 0.01f});
  descent.train(model, minibatches, {.passes = 3});  // as paddle::train(model, minibatches, ...)
  // ==
  auto by_default = paddle::model::create(cost);
  paddle::train(by_default, minibatches, {.passes = 3});
  auto by_name = paddle::model::create(cost);
  paddle::optimizer::Default.train(by_name, minibatches, {.passes = 3});
  for (int i = 0; i < model.parameter_arrays(); ++i) {
    CHECK(numbers_of(by_default, i) == numbers_of(model, i));
    CHECK(numbers_of(by_name, i) == numbers_of(model, i));
  }
}

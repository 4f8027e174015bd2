// SPDX-License-Identifier: Apache-2.0
// The examples of the document "PaddlePaddle API", line by line. What stands between a line
// `// == name` and `// ==` is shown by docs/v2.md, the comment in front of it as the document's
// side (test/docs/v2_page.py).
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

namespace document {  // POSIX has a function read, too
namespace {

// What the document calls and leaves to the reader.

struct sample {
  std::array<float, 4> input;
  std::int64_t label;
};
using minibatch = std::vector<sample>;

/// The sample of a number; its label is the largest of the first three inputs.
sample sample_of(std::uint64_t i) {
  lamina::reader::random random(1, 0, i);
  sample s{};
  for (float& x : s.input) x = random.uniform();
  for (std::int64_t k = 1; k < 3; ++k)
    if (s.input[static_cast<std::size_t>(k)] > s.input[static_cast<std::size_t>(s.label)])
      s.label = k;
  return s;
}
std::ifstream open_file(const std::string& name) {
  std::ifstream f(name);
  f.imbue(std::locale::classic());
  return f;
}
/// The next eight samples of a file of numbers; fewer at its end.
minibatch read_a_minibatch(std::ifstream& f) {
  minibatch mb;
  sample s{};
  while (mb.size() < 8 && f >> s.input[0] >> s.input[1] >> s.input[2] >> s.input[3] >> s.label)
    mb.push_back(s);
  f >> std::ws;
  return mb;
}
bool eof(std::ifstream& f) { return f.peek() == std::ifstream::traits_type::eof(); }
void write_samples(const std::string& name, std::uint64_t count) {
  std::ofstream to(name);
  to.imbue(std::locale::classic());
  to.precision(9);
  for (std::uint64_t i = 0; i < count; ++i) {
    const sample s = sample_of(i);
    for (const float x : s.input) to << x << ' ';
    to << s.label << '\n';
  }
}

// == API: Programming
// def read(args):
//     f = open_file(args["filename"])
//     mb = read_a_minibatch(f)
//     end_pass = eof(f)
//     if end_pass:
//        f = open_file(args["filename"]) # rewind for reading again
//     yield mb, end_pass
struct arguments {
  std::string filename;
};
lamina::generator<std::pair<minibatch, bool>> read(arguments args) {
  auto f = open_file(args.filename);
  for (;;) {
    auto mb = read_a_minibatch(f);
    bool end_pass = eof(f);
    if (end_pass) f = open_file(args.filename);  // rewind for reading again
    co_yield {std::move(mb), end_pass};
  }
}
// ==

// == API: Topology
// input = paddle.layer.data(...)
// intermediate = paddle.layer.fc(input, name="inter", ...)
// output = paddle.layer.softmax(intermediate, name="output", ...)
constexpr auto output = lamina::program([](lamina::block& main) {
  auto input = layer::data<"input", dense_vector<4>>(main);
  auto intermediate = layer::fc<3>(input, {.name = "inter"});
  auto output = layer::softmax(intermediate, {.name = "output"});
  auto label = layer::data<"label", paddle::data_type::integer_value<3>>(main);
  return layer::cross_entropy_cost(output, label);
});
// ==

// == API: Sharing Parameters, within a model
// text1 = paddle.layer.data(...)
// sematic1 = paddle.layer.fc(text1, ..., parameter_name="sematic_projection")
// text2 = paddle.layer.data(...)
// sematic2 = paddle.layer.fc(text2, ..., parameter_name="sematic_projection")
// out = paddle.layer.cosine(semantic1, semantic2)
constexpr auto similarity = lamina::program([](lamina::block& main) {
  auto text1 = layer::data<"text1", dense_vector<20>>(main);
  auto semantic1 = layer::fc<5>(text1, {.param = {.name = "semantic_projection"}, .bias = false});
  auto text2 = layer::data<"text2", dense_vector<20>>(main);
  auto semantic2 = layer::fc<5>(text2, {.param = {.name = "semantic_projection"}, .bias = false});
  return layer::mean(layer::cosine(semantic1, semantic2, {.name = "out"}));
});
// ==

// == API: Sharing Parameters, between models
// model1_input = paddle.layer.data(...)
// model1_output = paddle.layer.softmax(model1_input, ...,
//                                      parameter_name="a_parameter_matrix")
// model1 = paddle.model.create(model1_output)
//
// # Another model
// model2_semantic = paddle.layer.fc(text2, ...,
//                                   parameter_name="a_parameter_matrix",
//                                   parameter_model=model1)
constexpr auto model1_output = lamina::program([](lamina::block& main) {
  auto model1_input = layer::data<"model1_input", dense_vector<6>>(main);
  auto label = layer::data<"label", paddle::data_type::integer_value<3>>(main);
  auto output = layer::fc<3>(model1_input, {.act = paddle::activation::Softmax(),
                                            .param = {.name = "a_parameter_matrix"}});
  return layer::cross_entropy_cost(output, label);
});
// Another model
constexpr auto model2_semantic = lamina::program([](lamina::block& main) {
  auto text2 = layer::data<"text2", dense_vector<6>>(main);
  return layer::fc<3>(text2, {.param = {.name = "a_parameter_matrix"}, .name = "semantic"});
});
// ==

template <class P>
std::vector<float> numbers_of(const lamina::model<P>& m, int i) {
  const auto a = m.get(i);
  return {a.begin(), a.end()};
}

}  // namespace

TEST_CASE("PaddlePaddle API, Programming: four steps from a reader to a trained model") {
  const temporary_folder folder;
  write_samples(folder.path() + "/samples.txt", 60);
  const auto& name = folder.path();
  // == API: Programming
  //
  // input = paddle.layer.data(...)
  // intermediate = paddle.layers.fc(input)
  // output = paddle.layer.softmax(intermediate)
  //
  // model = paddle.model.create(output)
  //
  // paddle.train(model, data_provider=read)
  auto model = paddle::model::create(output);  // the program of the section Topology

  paddle::train(model, paddle::data_provider(read, arguments{name + "/samples.txt"}));
  // ==
  minibatch all;
  for (std::uint64_t i = 0; i < 60; ++i) all.push_back(sample_of(i));
  lamina::model same{output};
  CHECK(lamina::train(same, all | lamina::reader::batch(8)).steps == 8);
  for (int i = 0; i < same.parameter_arrays(); ++i)
    CHECK(numbers_of(model, i) == numbers_of(same, i));

  // The next pass begins where the function has rewound the file.
  int batches = 0;
  std::vector<double> costs;
  const auto provider = paddle::data_provider(read, arguments{name + "/samples.txt"});
  const auto count = [&](const lamina::event& e) {
    batches += e.is_end_iteration() ? 1 : 0;
    if (!e.is_end_pass()) return;
    CHECK(e.samples == 60);
    costs.push_back(e.cost);
  };
  paddle::train(model, provider, {.passes = 3, .on_event = count});
  CHECK(batches == 24);
  CHECK(costs[1] < costs[0]);
  CHECK(costs[2] < costs[1]);
}

TEST_CASE("PaddlePaddle API, Ingredients: what owns, what refers, and which methods each has") {
  minibatch samples;
  for (std::uint64_t i = 0; i < 40; ++i) samples.push_back(sample_of(i));
  const auto batches = samples | lamina::reader::batch(10);
  const temporary_folder folder;
  // == API: Ingredients
  // Model = {topology, parameters}
  //
  // Evaluator = {Model*, activations}
  // - forward
  // - test(cost, ...)
  //
  // GradientMachine = {Evaluator*, gradients}
  // - backward
  //
  // Optimizer = {GradientMachine*}
  // - train(cost, ...)
  // - update
  // - checkpoint
  lamina::model model{output};  // {program, parameters}

  lamina::evaluator evaluator{model};  // {model&, activations}
  evaluator.forward(lamina::feed<"input">(samples[0].input));
  const auto before = evaluator.test(batches);

  lamina::gradient_machine machine{model};  // {model&, activations, gradients}
  machine.backward(samples);

  lamina::optimizer::sgd sgd{.learning_rate = 0.5f};
  lamina::trainer optimizer{model, sgd};  // {model&, gradient machines&}
  optimizer.pass(batches);                // train
  optimizer.update({&machine});
  optimizer.save(folder.path() + "/checkpoint");
  // ==
  CHECK(optimizer.steps() == 5);
  CHECK(evaluator.test(batches).cost < before.cost);
  lamina::trainer other{model, sgd};
  other.load(folder.path() + "/checkpoint");
  CHECK(other.steps() == 5);
}

namespace {
namespace http {

/// Stands for a server: calls the handler from two threads, for requests of its own.
template <class Handler>
std::array<std::vector<float>, 8> handle(const char*, const Handler& handler) {
  std::array<std::vector<float>, 8> answers;
  const auto serve = [&](std::size_t first) {
    for (std::size_t i = first; i < answers.size(); i += 2)
      answers[i] = handler(sample_of(i).input);
  };
  std::thread a(serve, 0), b(serve, 1);
  a.join();
  b.join();
  return answers;
}

}  // namespace http
}  // namespace

TEST_CASE("PaddlePaddle API, Evaluator: one model serves requests of several threads",
          "[threads]") {
  const temporary_folder folder;
  const std::string trained = folder.path() + "/trained.model";
  lamina::model(output, 5).save(trained);
  // == API: Evaluator
  // m = paddle.model.load("trained.model")
  //
  // http.handle("/",
  //             lambda req:
  //                 e = paddle.evaluator.create(m)
  //                 e.forward(req)
  //                 e.activation(layer="output")) # returns activations of layer "output"
  auto m = paddle::model::load(output, trained);

  auto answers = http::handle("/", [&](const auto& req) {
    auto e = paddle::evaluator::create(m);
    e.forward(lamina::feed<"input">(req));
    const auto found = e.activation<"output">();  // activations of layer "output"
    return std::vector<float>(found.begin(), found.end());
  });
  // ==
  lamina::evaluator alone{m};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    alone.forward(lamina::feed<"input">(sample_of(i).input));
    const auto expected = alone.activation<"output">();
    CHECK(answers[i] == std::vector<float>(expected.begin(), expected.end()));
    CHECK(answers[i].size() == 3);
  }
  CHECK_THROWS_AS(paddle::model::load(similarity, trained), lamina::error);
}

TEST_CASE("PaddlePaddle API, Topology: activations of layers with names") {
  const sample read_an_input = sample_of(3);
  // == API: Topology
  //
  // m = paddle.model.create(output)
  // e = paddle.evaluator.create(model)
  // e.forward(read_an_input()) # compute activations of all layers.
  // print e.activations(layer="inter")  # retrieve the activations of layer "inter"
  // print e.activations(layer="output") # retrieve the activations of layer "output"
  auto m = paddle::model::create(output);
  auto e = paddle::evaluator::create(m);
  e.forward(lamina::feed<"input">(read_an_input.input));  // all that needs no label
  auto inter = e.activation<"inter">();
  auto activation = e.activation<"output">();
  // ==
  const auto w = m.parameter<"inter.w_0">();
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    double expected = 0;
    for (std::size_t i = 0; i < 4; ++i)
      expected += static_cast<double>(read_an_input.input[i]) * static_cast<double>(w(i, k));
    CHECK(static_cast<double>(inter(0, k)) == Approx(expected).margin(1e-6));
    sum += std::exp(expected);
  }
  for (std::size_t k = 0; k < 3; ++k)
    CHECK(static_cast<double>(activation(0, k)) ==
          Approx(std::exp(static_cast<double>(inter(0, k))) / sum));
}

TEST_CASE("PaddlePaddle API, Sharing Parameters: two layers of a model have one matrix") {
  auto model = paddle::model::create(similarity);
  CHECK(model.parameter_arrays() == 1);
  CHECK(model.parameter<"semantic_projection">().shape() == std::vector<std::size_t>{20, 5});
  std::vector<float> a(20), b(20);
  for (std::size_t i = 0; i < 20; ++i) a[i] = sample_of(i).input[0], b[i] = sample_of(i).input[1];
  auto e = paddle::evaluator::create(model);
  const auto out = [&](const auto& text1, const auto& text2) {
    e.forward(lamina::feed<"text1">(text1), lamina::feed<"text2">(text2));
    return e.activation<"out">()(0, 0);
  };
  const float once = out(a, b);
  CHECK(out(b, a) == once);
  CHECK(out(a, a) == Approx(1));
  CHECK(once < 0.9999f);
}

TEST_CASE("PaddlePaddle API, Sharing Parameters: two models have one matrix") {
  // == API: Sharing Parameters, between models
  auto model1 = paddle::model::create(model1_output);
  auto model2 = paddle::model::create(model2_semantic, /* parameter_model */ model1);
  // ==
  const auto before = model2.parameter<"a_parameter_matrix">();
  CHECK(before == model1.parameter<"a_parameter_matrix">());
  struct labelled {
    std::array<float, 6> input;
    std::int64_t label;
  };
  const std::vector<labelled> data{{{1, 0, 0, 2, 0, 0}, 1}, {{0, 1, 0, 0, 0, 3}, 2}};
  paddle::train(model1, data | lamina::reader::batch(2), {.passes = 3});
  CHECK(model2.parameter<"a_parameter_matrix">() == model1.parameter<"a_parameter_matrix">());
  CHECK_FALSE(model2.parameter<"a_parameter_matrix">() == before);
  CHECK(model2.parameter<"semantic.b_0">() == lamina::array<float>{0.f, 0.f, 0.f});
}

TEST_CASE("PaddlePaddle API, Training: train is a call of the default optimizer") {
  minibatch samples;
  for (std::uint64_t i = 0; i < 32; ++i) samples.push_back(sample_of(i));
  const auto read = samples | lamina::reader::batch(8);
  auto model = paddle::model::create(output);
  // == API: Training
  // opt = paddle.optimizer.SGD(...)
  // opt.train(model, reader=read, ...)
  auto opt = paddle::optimizer::SGD({.learning_rate = 0.01f});
  opt.train(model, read, {.passes = 3});
  // ==
  auto by_default = paddle::model::create(output);
  paddle::train(by_default, read, {.passes = 3});
  auto by_name = paddle::model::create(output);
  paddle::optimizer::Default.train(by_name, read, {.passes = 3});
  for (int i = 0; i < model.parameter_arrays(); ++i) {
    CHECK(numbers_of(by_default, i) == numbers_of(model, i));
    CHECK(numbers_of(by_name, i) == numbers_of(model, i));
  }
}

}  // namespace document

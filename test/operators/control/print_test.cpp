// SPDX-License-Identifier: Apache-2.0
// print: text, first elements, sequences, and values and gradients that pass through.
#include <algorithm>
#include <sstream>
#include <string>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include "stderr_text.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>

#include <lamina/executor/matrix_product.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::tensor;

namespace {

constexpr auto printing = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  return layer::mean(layer::print(x, {.message = "seen", .first_n = 1, .summarize = 4}));
});

constexpr auto printing_sequences = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", float, 2>(main);
  return layer::mean(
      layer::sequence_pool(layer::print(words), {.type = lamina::pooling_type::sum}));
});

}  // namespace

TEST_CASE("print writes message, name, shape, type and the first elements, the first times") {
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(printing)>>;
  run_type run{lamina::law::engine_law_options{.low = 0.5f, .high = 0.5f}};
  run.draw(2);
  const std::string text = test::written_by([&] { run.run_engine(0, 2); });
  const std::string tail =
      "\tseen\tTensor[x]\n\tshape: [2,3,]\n\tdtype: f\n\tdata: 0.5,0.5,0.5,0.5,\n";
  REQUIRE(text.find(tail) != std::string::npos);
  CHECK(text.find_first_not_of("0123456789") == text.find(tail));
  // Forward and backward are two operators, each of which prints once.
  CHECK(text.find("Tensor[print_0.tmp_0@GRAD]") != std::string::npos);
  CHECK(test::written_by([&] { run.run_engine(0, 2); }).empty());
  CHECK(run.on_engine(run_type::desc.outputs[0])[0] == Approx(0.5));
}

TEST_CASE("print writes where sequences begin and end") {
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(printing_sequences)>>;
  run_type run{lamina::law::engine_law_options{.low = 0.5f, .high = 0.5f}};
  run.draw(3);
  const std::string of_engine = test::written_by([&] { run.run_engine(0, 3); });
  CHECK(of_engine.find("\tshape: [8,2,]\n\tdtype: f\n\tLoD: [[ 0,3,4,8, ]]\n\tdata: 0.5,") !=
        std::string::npos);
  // A shard counts from its own first row.
  CHECK(test::written_by([&] { run.run_engine(1, 2); }).find("LoD: [[ 0,1,5, ]]") !=
        std::string::npos);
}

TEST_CASE("print passes values and gradients on, as the executor's does") {
  const std::string text = test::written_by([] { lamina::law::check_engine(printing); });
  CHECK(text.find("Tensor[x]") != std::string::npos);
}

namespace {

tensor reals(const lamina::tensor_shape& shape, const std::vector<float>& values) {
  return tensor(shape, values);
}

}  // namespace

TEST_CASE("print writes Fluid's lines, values and gradients, as often as asked") {
  constexpr auto p = lamina::transform::append_backward(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto h = layer::fc<2>(x, {.param = {.initializer = lamina::init::constant(1)}, .bias = false});
    return layer::mean(layer::print(h, {.message = "here", .first_n = 1, .summarize = 3}));
  }));
  std::ostringstream text;
  lamina::run_options options;
  options.print_to = &text;
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(p.view(), scope);
  const lamina::feed_map feed{{"x", reals({2, 2}, {1, 2, 3, 4})}};
  executor.run(p.view(), scope, feed, options);
  const std::string once = text.str();
  CHECK_THAT(once,
             Contains("\there\tTensor[fc_0.tmp_0]\n\tshape: [2,2,]\n\tdtype: f\n\tdata: 3,3,7,\n"));
  CHECK_THAT(once, Contains("@GRAD]\n\tshape: [2,2,]\n\tdtype: f\n\tdata: 0.25,0.25,0.25,\n"));
  executor.run(p.view(), scope, feed, options);
  CHECK(text.str() == once);
}

// SPDX-License-Identifier: Apache-2.0
// The inference program of a program: what the targets need.

#include "io/program_samples.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/fluid/prune_message.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/transform/clone_for_test.hpp>

using lamina::lod_tensor;
using lamina::tensor;

namespace {

std::vector<float> values(const lod_tensor& t) {
  const auto& a = t.as<float>();
  return {a.begin(), a.end()};
}

struct trained {
  trained() {
    executor.run_startup(samples::perceptron.view(), variables, 4);
    std::vector<float> x;
    for (int i = 0; i < 12; ++i) x.push_back(0.3f * static_cast<float>(i % 5) - 0.5f);
    feed["x"] = tensor({3, 4}, x);
    feed["y"] = tensor({3, 1}, std::vector<std::int64_t>{0, 2, 1});
  }
  lamina::executor executor;
  lamina::scope variables;
  lamina::feed_map feed;
};

}  // namespace

TEST_CASE("inference model: values that training stores are not stored") {
  namespace layer = lamina::layer;
  constexpr auto counting = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto steps = layer::create_global_var<float>(main, 3, {.name = "steps"});
    layer::store(steps + 1.0f, steps);
    auto more = layer::fill_constant<bool>(main, true);
    auto y = layer::fc<2>(x, {.name = "out"}) * steps;
    layer::while_loop(more, [&](lamina::block& loop) {
      layer::store(steps * 2.0f, steps);
      y = y + steps;
      more = layer::fill_constant<bool>(loop, false);
    });
    return y;
  });
  lamina::executor executor;
  lamina::scope variables;
  executor.run_startup(counting.view(), variables, 4);
  const lamina::feed_map feed{{"x", tensor({1, 2}, std::vector<float>{1, 2})}};
  const auto expected =
      executor.run(lamina::transform::clone_for_test(counting).view(), variables, feed);
  const auto target = lamina::variable_name(counting.view(), counting.desc.outputs[0]);
  const temporary_folder folder;
  save_inference_model(folder.path(), counting.view(), variables, {target});
  const lamina::inference_model m = lamina::load_inference_model(folder.path());
  for (int run = 0; run < 2; ++run)
    CHECK(values(executor.run(m.program, *m.variables, feed).at(0)) == values(expected.at(0)));
  CHECK(m.variables->get("steps").as<float>()(0) == 3);
}

TEST_CASE("inference model: the targets' part, in separate files and in one, gives the same bits") {
  trained t;
  const auto expected =
      t.executor.run(lamina::transform::clone_for_test(samples::perceptron).view(), t.variables,
                     t.feed, {"p.tmp_0"});
  for (const lamina::inference_files& files :
       {lamina::inference_files{}, lamina::inference_files{"model.bin", "all"}}) {
    const temporary_folder folder;
    save_inference_model(folder.path(), samples::perceptron.view(), t.variables, {"p.tmp_0"},
                         files);
    const lamina::inference_model m = lamina::load_inference_model(folder.path(), files);
    CHECK(m.program.feed_names() == std::vector<std::string>{"x"});
    CHECK(m.program.fetch_names() == std::vector<std::string>{"p.tmp_0"});
    CHECK(m.variables->names() ==
          std::vector<std::string>{"fc_0.b_0", "fc_0.w_0", "logits.b_0", "logits.w_0"});
    const auto found = t.executor.run(m.program, *m.variables, {{"x", t.feed.at("x")}});
    CHECK(values(found.at(0)) == values(expected.at(0)));
    for (const lamina::operator_message& op : m.program.message().blocks[0].operators)
      CHECK(
          (op.type != "accuracy" && op.type != "mean" && op.type != "softmax_with_cross_entropy"));
  }
}

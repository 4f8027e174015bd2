// SPDX-License-Identifier: Apache-2.0
// Random numbers inside a main program on the compiled engine: those of the executor.
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

// A user's own layer: random numbers [3, 4] in each run.
template <class Op>
constexpr auto noise(block& main, double a, double b, int seed) {
  layer::layer_helper layer(*main.builder, "noise");
  const auto made = layer.output<lamina::variable<float, lamina::once, 3, 4>>();
  lamina::program_builder& builder = *main.builder;
  builder.variables[made.id].stop_gradient = true;
  const int extents[] = {3, 4};
  const lamina::attribute_value shape = builder.integer_list(extents, 2);
  const int type = static_cast<int>(lamina::dtype::float32);
  lamina::operator_desc op = builder.begin(lamina::schema_of<Op>());
  builder.argument(made.id);
  op.end = builder.arguments.count;
  op.outputs = op.inputs;
  op.attributes = builder.attribute_list(shape, type, a, b, seed);
  builder.operators.push(op);
  return layer.returns(made);
}

constexpr auto noisy = program([](block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto a = noise<lamina::uniform_random>(main, -2, 3, 0);
  auto b = noise<lamina::gaussian_random>(main, 1, 0.5, 0);
  auto c = noise<lamina::truncated_gaussian_random>(main, 0, 2, 17);
  return std::tuple{layer::mean(layer::fc<3>(x)) + layer::mean(a), a, b, c};
});

}  // namespace

TEST_CASE("random numbers of a main program are those of the executor") { check_engine(noisy); }

TEST_CASE("random numbers of a main program follow the seed of the run, or their own") {
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(noisy)>>;
  run_type run({});
  run.draw(2);
  const auto drawn = [&](int output, std::uint64_t seed) {
    run.run_engine(0, 2, seed);
    return run.on_engine(run_type::desc.outputs[output]);
  };
  for (const int output : {1, 2}) {
    CHECK(drawn(output, 3) == drawn(output, 3));
    CHECK(drawn(output, 3) != drawn(output, 4));
  }
  CHECK(drawn(3, 3) == drawn(3, 4));
  for (const double u : drawn(1, 3)) CHECK((u >= -2 && u < 3));
  for (const double g : drawn(3, 3)) CHECK((g >= -4 && g <= 4));
}

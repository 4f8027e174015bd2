// SPDX-License-Identifier: Apache-2.0
// Variables of a program from a file that share their rows.

#include "io/program_samples.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/fluid/row_domains.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/transform/append_backward.hpp>

using lamina::loaded_program;
using lamina::lod_tensor;
using lamina::tensor;

namespace {

template <class P>
loaded_program reread(P program) {
  return loaded_program(lamina::from_proto(lamina::to_proto(program)), "again");
}

std::vector<float> values(const lod_tensor& t) {
  const auto& a = t.as<float>();
  return {a.begin(), a.end()};
}

}  // namespace

TEST_CASE("loaded program: gradients have the sequences of their variables behind others' rows") {
  namespace layer = lamina::layer;
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto twice = layer::sequence_concat<"twice">(std::tuple{x, x});
    auto h = layer::tanh(x);
    return layer::mean(layer::tanh(twice)) + layer::mean(h);
  });
  constexpr auto backward = decltype(lamina::transform::append_backward_to_data(net)){};
  const lod_tensor x = lamina::create_lod_tensor(
      tensor({3, 2}, std::vector<float>{1, -2, 0.5f, 3, -1, 2}), {{2, 0, 1}});
  lamina::executor executor;
  lamina::scope scope;
  const std::vector<std::string> names{"x@GRAD", "tanh_0.tmp_0@GRAD", "tanh_1.tmp_0@GRAD"};
  const auto expected = executor.run(backward.view(), scope, {{"x", x}}, names);
  const auto found = executor.run(reread(backward), scope, {{"x", x}}, names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    INFO(names[i]);
    CHECK(values(found[i]) == values(expected[i]));
    CHECK(!expected[i].lod().empty());
    CHECK(found[i].lod() == expected[i].lod());
  }
}

// SPDX-License-Identifier: Apache-2.0
// The operator by which rows depend on all rows of a mini-batch.
#include <cstdint>
#include <string>
#include <type_traits>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/plan/rows_met.hpp>

namespace layer = lamina::layer;

namespace {

/// A cost of x [4] and of sequences, made by F.
template <class F>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  return layer::mean(F{}(x, layer::sequence<"s", float, 4>(main)));
});
/// The type of the operator, or "" if rows do not meet.
template <class F>
constexpr std::string_view met(F) {
  using program = std::remove_const_t<decltype(net<F>)>;
  constexpr int op = lamina::detail::rows_met_at(program::desc, program::desc.cost);
  if constexpr (op < 0)
    return "";
  else
    return program::desc.operators[op].schema->type;
}

}  // namespace

TEST_CASE("rows meet along their own dimension, by numbers of all rows and by choosing rows") {
  CHECK(met([](auto x, auto) { return layer::cumsum<0>(x); }) == "cumsum");
  CHECK(met([](auto x, auto) { return layer::cumsum<1>(x); }) == "");
  CHECK(met([](auto x, auto) { return layer::cumsum(x); }) == "");
  CHECK(met([](auto x, auto) { return layer::clip_by_norm(x, 1); }) == "clip_by_norm");
  CHECK(met([](auto x, auto) { return x - layer::reduce_mean<0>(x); }) == "elementwise_sub");
  CHECK(met([](auto x, auto) { return layer::softmax(x); }) == "");
  CHECK(met([](auto x, auto) {
          return layer::matmul(x, layer::matmul<layer::matmul_form{.transpose_x = true}>(x, x));
        }) == "matmul");
  CHECK(met([](auto x, auto) {
          auto first = layer::cast<std::int64_t>(layer::reduce_sum<1>(x));
          return layer::gather(x, first);
        }) == "gather");
}

TEST_CASE("samples do not meet in sequences, and the longest one is no value of theirs") {
  CHECK(met([](auto, auto s) { return layer::sequence_pool(s); }) == "");
  CHECK(met([](auto, auto s) { return layer::sequence_softmax(layer::fc<1>(s)); }) == "");
  CHECK(met([](auto, auto s) {
          return layer::dynamic_rnn(s, [&](auto& step) {
            auto h = step.memory(lamina::dims<4>);
            step.update(h, layer::tanh(step.input(s) + h));
            return step.last(h);
          });
        }) == "");
  CHECK(met([](auto x, auto s) { return layer::lod_reset(layer::sequence_expand(x, s), s); }) ==
        "");
}

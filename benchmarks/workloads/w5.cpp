// SPDX-License-Identifier: Apache-2.0
// W5 is one step of an LSTM for audio, with batches of 1, inputs of width 1, and hidden widths of
// 8, 16, 32 and 64. The state after a step is the state before the next step.
#include <algorithm>
#include <memory>

#include "../workload.hpp"

namespace layer = lamina::layer;

namespace {

template <int Hidden>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  auto hidden = layer::data<"hidden", float, Hidden>(main);
  auto cell = layer::data<"cell", float, Hidden>(main);
  auto [next_hidden, next_cell] = layer::lstm_unit(x, hidden, cell, {.name = "step"});
  return std::tuple{next_hidden, next_cell};
});

template <int Hidden>
workload::job step(const std::filesystem::path& path, int) {
  using program = std::remove_const_t<decltype(net<Hidden>)>;
  const workload::folder to(path);
  const auto x = workload::normal(20, 1);
  const lamina::model<program> model(net<Hidden>);
  to.write("x", x, {x.size()});
  to.write(model);
  auto e = std::make_shared<lamina::static_evaluator<program>>();
  e->load(model);
  const auto once = [](lamina::static_evaluator<program>& s, float now) {
    s.template input<"x">()[0] = now;
    s.forward();
    std::ranges::copy(s.template activation<"step">(), s.template input<"hidden">().begin());
    std::ranges::copy(s.template activation<"step.tmp_0">(), s.template input<"cell">().begin());
  };
  return {[=] {
            for (const float now : x) once(*e, now);
            const auto h = e->template activation<"step">();
            return std::vector<float>(h.begin(), h.end());
          },
          [=](int n) {
            for (int i = 0; i < n; ++i) once(*e, 0.5f);
          }};
}

}  // namespace

int main(int count, char** argument) {
  return workload::serve(
      count, argument,
      {{"W5h8", step<8>}, {"W5h16", step<16>}, {"W5h32", step<32>}, {"W5h64", step<64>}});
}

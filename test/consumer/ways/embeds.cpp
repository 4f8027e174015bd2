// SPDX-License-Identifier: Apache-2.0
// Contains a file of parameters that lamina_embed put into the executable; says what is expected if
// a model loads them.
#include <cstdint>
#include <cstdio>

#include <parameters.hpp>

#include <lamina/io/safetensors.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/model.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<1>(layer::data<"x", float, 2>(main), {.bias = false, .name = "y"});
});

int main() {
  lamina::model model{net};
  lamina::load_safetensors(parameters(), model);
  const auto w = model.parameter<"y.w_0">();
  const bool aligned = reinterpret_cast<std::uintptr_t>(parameters().data()) % 64 == 0;
  if (w(0, 0) == 1 && w(1, 0) == -2 && aligned) std::puts("lamina: expected, found");
}

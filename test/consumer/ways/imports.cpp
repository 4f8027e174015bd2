// SPDX-License-Identifier: Apache-2.0
// Contains a net that lamina_import made of a saved model; says what is expected if its parameters
// are those of the model and the net computes what it says.
#include <cstdio>
#include <vector>

#include <net.hpp>

#include <lamina/io/model_files.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/model/evaluator.hpp>

int main() {
  lamina::model made{net}, saved{net};
  lamina::load_safetensors(LAMINA_IMPORTED_NET, made);
  lamina::load_persistables(MODEL, saved);
  lamina::evaluator e{made};
  const std::vector<float> x{1, -2, 3, 0.5f};
  e.forward(lamina::feed<"x">(x));
  const auto y = e.activation<"y">();
  const auto w = saved.parameter<"y.w_0">();
  float first = 0;
  for (int i = 0; i < 4; ++i) first += x[static_cast<std::size_t>(i)] * w(i, 0);
  if (made.get(0) == saved.get(0) && y(0, 0) - first < 1e-5f && first - y(0, 0) < 1e-5f)
    std::puts("lamina: expected, found");
}

// SPDX-License-Identifier: Apache-2.0
// Saves and loads a model in the current folder without threads, and provokes an error, of which
// the program gets the message with and without exceptions.
#include <cstdio>
#include <cstdlib>

#include "output.hpp"

#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/model.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  return layer::fc<2>(x, {.act = lamina::activation::tanh, .name = "y"});
});

void print_outputs(const auto& model) {
  const float x[] = {0.5F, -1, 2};
  lamina::evaluator e{model};
  e.forward(lamina::feed<"x">(x));
  const auto y = e.template activation<"y">();
  output::number("y", y(0, 0));
  output::number("y", y(0, 1));
}

[[noreturn]] void end_with(const char* message) {
  output::text(message);
  output::text("\n");
  std::fflush(stdout);
  std::_Exit(0);
}

int main() {
  const char* const file = "small.model";
  {
    lamina::model model{net};
    print_outputs(model);
    model.save(file);
    model.save(file);  // replaces the first file
  }
  lamina::model loaded{net, 2};
  print_outputs(loaded);
  loaded.load(file);
  print_outputs(loaded);
  if (std::remove(file) != 0) return 1;
#if LAMINA_EXCEPTIONS
  try {
    lamina::worker_pool none{0};
  } catch (const lamina::error& e) {
    end_with(e.what());
  }
#else
  lamina::set_error_handler(end_with);
  lamina::worker_pool none{0};
#endif
  return 1;
}

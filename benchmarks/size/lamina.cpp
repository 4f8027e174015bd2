// SPDX-License-Identifier: Apache-2.0
// The program of benchmarks/size.py in lamina, with an evaluator. Given a second argument, it
// writes the model as an ONNX file of this name instead.
#include "numbers.hpp"
#include "perceptron.hpp"

#include <lamina/lamina.hpp>
#if defined(EXPORT)
#include <lamina/io/export_onnx.hpp>
#endif

int main(int count, char** argument) {
  if (count < 2) return 2;
  static float values[size_benchmark::parameters];
  size_benchmark::read(argument[1], values);
  lamina::model model{net};
  const float* const first[] = {values, values + size_benchmark::inputs * size_benchmark::hidden,
                                values + (size_benchmark::inputs + 1) * size_benchmark::hidden,
                                values + size_benchmark::parameters - size_benchmark::outputs};
  model.set_all(first);
#if defined(EXPORT)
  lamina::export_onnx(argument[2], model);
#else
  std::array<float, size_benchmark::inputs> image;
  for (int i = 0; i < size_benchmark::inputs; ++i)
    image[static_cast<std::size_t>(i)] = size_benchmark::pixel(i);
  lamina::evaluator e{model};
  e.forward(lamina::feed<"image">(image));
  const auto scores = e.activation<"scores">();
  for (int i = 0; i < size_benchmark::outputs; ++i) size_benchmark::print(scores(0, i));
#endif
}

// SPDX-License-Identifier: Apache-2.0
// The program of benchmarks/size.py in libtorch.
#include "numbers.hpp"
#include <torch/torch.h>

int main(int count, char** argument) {
  if (count != 2) return 2;
  using namespace size_benchmark;
  static float values[parameters];
  read(argument[1], values);
  const c10::InferenceMode guard;
  torch::nn::Linear first(inputs, hidden), second(hidden, outputs);
  const float* from = values;
  for (auto* layer : {&first, &second}) {
    auto& weight = (*layer)->weight;
    auto& bias = (*layer)->bias;
    weight.copy_(torch::from_blob(const_cast<float*>(from), {weight.size(1), weight.size(0)}).t());
    from += weight.numel();
    bias.copy_(torch::from_blob(const_cast<float*>(from), {bias.size(0)}));
    from += bias.numel();
  }
  auto image = torch::empty({1, inputs});
  for (int i = 0; i < inputs; ++i) image[0][i] = pixel(i);
  const auto scores = second(torch::relu(first(image)));
  for (int i = 0; i < outputs; ++i) print(scores[0][i].item<float>());
}

// SPDX-License-Identifier: Apache-2.0
// The program of benchmarks/size.py in ONNX Runtime: (library, file of the model).
#include "../peers/onnxruntime_api.hpp"
#include "numbers.hpp"

int main(int count, char** argument) {
  if (count != 3) return 2;
  using namespace size_benchmark;
  const peer::runtime runtime(argument[1]);
  std::vector<float> image, scores(outputs);
  for (int i = 0; i < inputs; ++i) image.push_back(pixel(i));
  std::vector<peer::handle> out{runtime.tensor(scores, {1, outputs})};
  runtime.run(runtime.session(argument[2], 1), {"image"}, {runtime.tensor(image, {1, inputs})},
              {"scores.tmp_1"}, out);
  for (const float score : scores) print(score);
}

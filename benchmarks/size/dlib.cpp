// SPDX-License-Identifier: Apache-2.0
// The program of benchmarks/size.py in dlib.
#include "numbers.hpp"
#include <dlib/dnn.h>

int main(int count, char** argument) {
  if (count != 2) return 2;
  using namespace size_benchmark;
  static float values[parameters];
  read(argument[1], values);
  using network = dlib::fc<outputs, dlib::relu<dlib::fc<hidden, dlib::input<dlib::matrix<float>>>>>;
  network net;
  dlib::matrix<float> image(inputs, 1);
  for (int i = 0; i < inputs; ++i) image(i) = pixel(i);
  net(image);  // allocates the parameters: rows of the inputs, and a last row with the biases
  float* const first = dlib::layer<2>(net).layer_details().get_layer_params().host();
  float* const second = dlib::layer<0>(net).layer_details().get_layer_params().host();
  std::copy_n(values, (inputs + 1) * hidden, first);
  std::copy_n(values + (inputs + 1) * hidden, (hidden + 1) * outputs, second);
  for (const float score : dlib::mat(net(image))) print(score);
}

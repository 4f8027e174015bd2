// SPDX-License-Identifier: Apache-2.0
// The workloads W1, W2 and their forward passes in tiny-dnn. It reads the files that lamina's
// programs write. Inputs are already tensors of tiny-dnn.
#include <cmath>
#include <memory>

#include "../job.hpp"
#include "../npy.hpp"
#include <tiny_dnn/tiny_dnn.h>

namespace {

using net_type = tiny_dnn::network<tiny_dnn::sequential>;
template <class Activation>
using fc = tiny_dnn::fully_connected_layer<Activation>;
using tiny_dnn::activation::identity;
using tiny_dnn::activation::relu;
using tiny_dnn::activation::softmax;

/// `Last` is the layer after the logits.
template <class Last>
void perceptron(net_type& net) {
  net << fc<relu>(784, 128) << fc<relu>(128, 64) << fc<Last>(64, 10);
}
template <class Last>
void lenet(net_type& net) {
  using convolution = tiny_dnn::convolutional_layer<relu>;
  using pool = tiny_dnn::max_pooling_layer<identity>;
  net << convolution(28, 28, 5, 1, 20) << pool(24, 24, 20, 2) << convolution(12, 12, 5, 20, 50)
      << pool(8, 8, 50, 2) << fc<relu>(800, 500) << fc<Last>(500, 10);
}

/// A network with the parameters of lamina's network; tiny-dnn has the same order and layout of
/// parameters.
struct start {
  start(const std::filesystem::path& folder, void (*make)(net_type&)) {
    const peer::array images = peer::read_npy(folder / "image.npy");
    const auto rows = static_cast<std::size_t>(images.shape[0]);
    const std::size_t size = images.floats.size() / rows;
    const peer::array labels = peer::read_npy(folder / "label.npy");
    for (std::size_t i = 0; i < rows; ++i) {
      const float* const from = images.floats.data() + i * size;
      samples.emplace_back(from, from + size);
      batch.push_back({samples.back()});
      label.push_back(static_cast<tiny_dnn::label_t>(labels.integers[i]));
    }
    make(net);
    net.init_weight();
    int number = 0;
    for (std::size_t l = 0; l < net.depth(); ++l)
      for (tiny_dnn::vec_t* const to : net[l]->weights()) {
        const std::string name = "parameter_0" + std::to_string(number++) + ".npy";
        const peer::array values = peer::read_npy(folder / name);
        if (to->size() != values.floats.size())
          throw std::runtime_error("a parameter has another size");
        std::copy(values.floats.begin(), values.floats.end(), to->begin());
      }
    sgd.alpha = 0.01F;
    sgd.lambda = 0;
  }
  void step() {
    const auto nothing = [] {};
    net.train<tiny_dnn::cross_entropy_multiclass>(sgd, samples, label, label.size(), 1, nothing,
                                                  nothing);
  }
  std::vector<float> forward() {
    std::vector<float> all;
    for (const tiny_dnn::tensor_t& row : net.predict(batch))
      all.insert(all.end(), row[0].begin(), row[0].end());
    return all;
  }
  // Returns the cost for the current parameters; it is called before each step.
  float cost() {
    const std::vector<float> p = forward();
    double sum = 0;
    for (std::size_t i = 0; i < label.size(); ++i)
      sum -= std::log(static_cast<double>(p[10 * i + label[i]]));
    return static_cast<float>(sum / static_cast<double>(label.size()));
  }

  net_type net;
  tiny_dnn::gradient_descent sgd;
  std::vector<tiny_dnn::vec_t> samples;
  std::vector<tiny_dnn::tensor_t> batch;
  std::vector<tiny_dnn::label_t> label;
};

template <void (*Make)(net_type&)>
workload::job train(const std::filesystem::path& folder, int) {
  auto s = std::make_shared<start>(folder, Make);
  return {[s] {
            std::vector<float> costs;
            for (int i = 0; i < 5; ++i) costs.push_back(s->cost()), s->step();
            return costs;
          },
          [s](int n) {
            for (int i = 0; i < n; ++i) s->step();
          }};
}

template <void (*Make)(net_type&)>
workload::job infer(const std::filesystem::path& folder, int) {
  auto s = std::make_shared<start>(folder, Make);
  return {[s] { return s->forward(); },
          [s](int n) {
            for (int i = 0; i < n; ++i) s->net.predict(s->batch);
          }};
}

}  // namespace

int main(int count, char** argument) {
  return workload::serve(count, argument,
                         {{"W1", train<perceptron<softmax>>},
                          {"W1f", infer<perceptron<identity>>},
                          {"W1b", infer<perceptron<identity>>},
                          {"W2", train<lenet<softmax>>},
                          {"W2i", infer<lenet<identity>>},
                          {"W2i1", infer<lenet<identity>>}});
}

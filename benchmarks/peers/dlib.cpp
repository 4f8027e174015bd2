// SPDX-License-Identifier: Apache-2.0
// The workloads W1, W2, their forward passes, and B1 in dlib. It reads the files that lamina's
// programs write. Inputs are already tensors of dlib, so the time to convert images is not counted.
#include <algorithm>
#include <cmath>
#include <memory>

#include "../job.hpp"
#include "../npy.hpp"
#include <dlib/dnn.h>

namespace {

using image = dlib::input<dlib::matrix<float>>;
template <int First, int Second>
using perceptron = dlib::loss_multiclass_log<
    dlib::fc<10, dlib::relu<dlib::fc<Second, dlib::relu<dlib::fc<First, image>>>>>>;
// A convolution without padding, its bias, and a maximum pooling over 2 by 2 pixels.
template <int Filters, class Below>
using convolution = dlib::relu<
    dlib::max_pool<2, 2, 2, 2, dlib::add_layer<dlib::con_<Filters, 5, 5, 1, 1, 0, 0>, Below>>>;
using lenet = dlib::loss_multiclass_log<
    dlib::fc<10, dlib::relu<dlib::fc<500, convolution<50, convolution<20, image>>>>>>;

/// A network with the parameters of lamina's network. dlib stores the bias of a layer after its
/// weights, and numbers layers from the last to the first.
template <class Net>
struct start {
  explicit start(const std::filesystem::path& folder) {
    const peer::array a = peer::read_npy(folder / "image.npy");
    const bool flat = a.shape.size() == 2;
    const long rows = flat ? 1 : static_cast<long>(a.shape[2]);
    const long columns = static_cast<long>(a.shape.back());
    std::vector<dlib::matrix<float>> images(static_cast<std::size_t>(a.shape[0]));
    const float* from = a.floats.data();
    for (auto& m : images) {
      m.set_size(rows, columns);
      std::copy_n(from, rows * columns, m.begin());
      from += rows * columns;
    }
    net.to_tensor(images.begin(), images.end(), x);
    for (const std::int64_t y : peer::read_npy(folder / "label.npy").integers)
      label.push_back(static_cast<unsigned long>(y));
    forward();  // allocates the parameters
    std::vector<dlib::tensor*> parameters;
    dlib::visit_layer_parameters(net, [&](std::size_t, dlib::tensor& t) {
      if (t.size() > 0) parameters.push_back(&t);
    });
    std::reverse(parameters.begin(), parameters.end());
    int number = 0;
    for (dlib::tensor* const t : parameters) {
      float* to = t->host();
      for (int part = 0; part < 2; ++part, ++number) {
        const std::string name = "parameter_0" + std::to_string(number) + ".npy";
        const peer::array values = peer::read_npy(folder / name);
        if (to + values.floats.size() > t->host() + t->size())
          throw std::runtime_error("a parameter has another size");
        to = std::copy(values.floats.begin(), values.floats.end(), to);
      }
      if (to != t->host() + t->size()) throw std::runtime_error("a parameter has another size");
    }
    solvers.assign(Net::num_computational_layers, dlib::sgd(0, 0));
  }
  const dlib::tensor& forward() { return net.subnet().forward(x); }
  void step() {
    net.compute_parameter_gradients(x, label.begin());
    net.update_parameters(solvers, 0.01);
  }
  // Returns the cost of the last step. (dlib's own cost is limited to -log(1e-10) per sample.)
  float cost() {
    const dlib::tensor& logits = net.subnet().get_output();
    const float* row = logits.host();
    double sum = 0;
    for (const unsigned long y : label) {
      const float most = *std::max_element(row, row + logits.k());
      double all = 0;
      for (long k = 0; k < logits.k(); ++k) all += std::exp(row[k] - most);
      sum += std::log(all) + most - row[y];
      row += logits.k();
    }
    return static_cast<float>(sum / static_cast<double>(label.size()));
  }

  Net net;
  dlib::resizable_tensor x;
  std::vector<unsigned long> label;
  std::vector<dlib::sgd> solvers;
};

template <class Net>
workload::job train(const std::filesystem::path& folder, int) {
  auto s = std::make_shared<start<Net>>(folder);
  return {[s] {
            std::vector<float> costs;
            for (int i = 0; i < 5; ++i) s->step(), costs.push_back(s->cost());
            return costs;
          },
          [s](int n) {
            for (int i = 0; i < n; ++i) s->step();
          }};
}

template <class Net>
workload::job infer(const std::filesystem::path& folder, int) {
  auto s = std::make_shared<start<Net>>(folder);
  return {[s] {
            const dlib::tensor& y = s->forward();
            return std::vector<float>(y.host(), y.host() + y.size());
          },
          [s](int n) {
            for (int i = 0; i < n; ++i) s->forward();
          }};
}

}  // namespace

int main(int count, char** argument) {
  using w1 = perceptron<128, 64>;
  return workload::serve(count, argument,
                         {{"W1", train<w1>},
                          {"W1f", infer<w1>},
                          {"W1b", infer<w1>},
                          {"B1", infer<perceptron<2048, 2048>>},
                          {"W2", train<lenet>},
                          {"W2i", infer<lenet>},
                          {"W2i1", infer<lenet>}});
}

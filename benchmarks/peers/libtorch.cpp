// SPDX-License-Identifier: Apache-2.0
// The workloads W1, W1f, W1b and B1 in libtorch, in eager mode. It reads the files that
// benchmarks/workloads/w1.cpp and wide.cpp write.
#include <memory>

#include "../job.hpp"
#include "../npy.hpp"
#include <torch/torch.h>

namespace {

torch::Tensor tensor(const peer::array& a) {
  if (a.integers.empty()) return torch::tensor(a.floats).reshape(a.shape);
  return torch::tensor(a.integers).reshape(a.shape);
}

struct start {
  explicit start(const std::filesystem::path& folder)
      : image(tensor(peer::read_npy(folder / "image.npy"))),
        label(tensor(peer::read_npy(folder / "label.npy"))) {
    for (int i = 0; i < 6; i += 2) {
      const std::string name = (folder / "parameter_0").string();
      const auto weight = tensor(peer::read_npy(name + std::to_string(i) + ".npy"));
      torch::nn::Linear layer(weight.size(0), weight.size(1));
      const torch::NoGradGuard guard;
      layer->weight.copy_(weight.t());
      layer->bias.copy_(
          tensor(peer::read_npy(name + std::to_string(i + 1) + ".npy")).reshape({-1}));
      if (i > 0) net->push_back(torch::nn::ReLU());
      net->push_back(layer);
    }
  }
  torch::Tensor image, label;
  torch::nn::Sequential net;
};

workload::job train(const std::filesystem::path& folder, int) {
  auto s = std::make_shared<start>(folder);
  auto optimizer = std::make_shared<torch::optim::SGD>(s->net->parameters(), 0.01);
  return workload::training([s, optimizer] {
    optimizer->zero_grad();
    auto cost = torch::nn::functional::cross_entropy(s->net->forward(s->image), s->label);
    cost.backward();
    optimizer->step();
    return cost.item<float>();
  });
}

workload::job infer(const std::filesystem::path& folder, int) {
  auto s = std::make_shared<start>(folder);
  const auto run = [s] {
    const c10::InferenceMode guard;
    return s->net->forward(s->image);
  };
  return {[run] {
            const auto y = run().contiguous();
            return std::vector<float>(y.data_ptr<float>(), y.data_ptr<float>() + y.numel());
          },
          [run](int n) {
            for (int i = 0; i < n; ++i) run();
          }};
}

}  // namespace

int main(int count, char** argument) {
  if (count == 3) at::set_num_threads(std::stoi(argument[2]));
  return workload::serve(count, argument,
                         {{"W1", train}, {"W1f", infer}, {"W1b", infer}, {"B1", infer}});
}

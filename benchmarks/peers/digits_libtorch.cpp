// SPDX-License-Identifier: Apache-2.0
// What examples/01_digits.cpp does, in libtorch, for benchmarks/compile_time.py: trains, saves,
// loads, serves from four threads. Arguments: the file of the training images, the file of the
// others.
#include <array>
#include <thread>

#include "digits.hpp"
#include <torch/torch.h>

namespace {

torch::Tensor images(const peer::digits& from) {
  return torch::tensor(from.pixels).reshape({-1, 64});
}

torch::Tensor labels(const peer::digits& from) {
  return torch::tensor(from.labels).to(torch::kLong);
}

torch::nn::Sequential network() {
  return torch::nn::Sequential(torch::nn::Linear(64, 128), torch::nn::ReLU(),
                               torch::nn::Linear(128, 10));
}

}  // namespace

int main(int count, char** argument) try {
  if (count != 3) throw std::runtime_error("usage: digits_libtorch TRAIN TEST");
  const char* const file = "digits_libtorch.model";
  {
    const peer::digits train = peer::read_digits(argument[1]);
    const auto image = images(train), label = labels(train);
    auto net = network();
    torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
    for (int pass = 0; pass < 30; ++pass) {
      double cost = 0;
      for (const auto& rows : torch::randperm(image.size(0)).split(16)) {
        optimizer.zero_grad();
        auto loss = torch::nn::functional::cross_entropy(net->forward(image.index_select(0, rows)),
                                                         label.index_select(0, rows));
        loss.backward();
        optimizer.step();
        cost += loss.item<double>() * static_cast<double>(rows.size(0));
      }
      std::printf("pass %d: cost %.4f\n", pass, cost / static_cast<double>(image.size(0)));
    }
    torch::save(net, file);
  }

  auto net = network();
  torch::load(net, file);
  std::remove(file);
  const peer::digits test = peer::read_digits(argument[2]);
  const auto requests = images(test);
  std::array<std::vector<torch::Tensor>, 4> answers;
  std::vector<std::thread> threads;
  for (auto& scores : answers)
    threads.emplace_back([&] {
      const c10::InferenceMode guard;
      for (const auto& request : requests.split(1)) scores.push_back(net->forward(request));
    });
  for (auto& t : threads) t.join();
  for (const auto& scores : answers)
    if (!torch::equal(torch::cat(scores), torch::cat(answers[0])))
      throw std::runtime_error("the threads do not agree");

  const double accuracy =
      net->forward(requests).argmax(1).eq(labels(test)).to(torch::kDouble).mean().item<double>();
  std::printf("test accuracy %.4f\n", accuracy);
  return accuracy >= 0.97 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
// B1 is the forward pass of a perceptron 1024-2048-2048-10 with batches of 1. Its speed is limited
// by reading its 6.3 million weights from memory. B1 stores the weights as bfloat16, B1_float as
// floats. The weights are rounded to bfloat16 before, so that all programs compute the same
// numbers.
#include <memory>

#include "../workload.hpp"

#include <lamina/model/bfloat16/bfloat16_machine.hpp>

namespace layer = lamina::layer;
using lamina::activation;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 1024>(main);
  auto h1 = layer::fc<2048>(image, {.act = activation::relu});
  auto h2 = layer::fc<2048>(h1, {.act = activation::relu});
  return layer::fc<10>(h2, {.name = "logits"});
});

using program = std::remove_const_t<decltype(net)>;

// `Storage...` is the type of storage::bfloat16, or empty.
template <class... Storage>
workload::job infer(const std::filesystem::path& path, Storage... storage) {
  const workload::folder to(path);
  const auto model = std::make_shared<lamina::model<program>>(net);
  for (int i = 0; i < lamina::counts_of<program>.parameters; ++i) {
    auto value = model->get(i);
    for (float& x : value) x = lamina::rounded_to_bfloat16(x);
    model->set(i, value);
  }
  const auto image = workload::normal(1024, 1);
  to.write("image", image, {1, 1024});
  to.write("label", workload::labels(1, 10, 2), {1});
  to.write(*model);
  const auto make = [&] { return lamina::evaluator{*model, storage...}; };
  auto e = std::make_shared<decltype(make())>(*model, storage...);
  const auto run = [model, e, image](int n) {
    for (int i = 0; i < n; ++i) e->forward(lamina::feed<"image">(image));
  };
  return {[run, e] {
            run(1);
            const auto y = e->template activation<"logits">();
            return std::vector<float>(y.begin(), y.end());
          },
          run};
}

}  // namespace

int main(int count, char** argument) {
  return workload::serve(
      count, argument,
      {{"B1", [](const std::filesystem::path& path,
                 int) { return infer(path, lamina::storage::bfloat16); }},
       {"B1_float", [](const std::filesystem::path& path, int) { return infer(path); }}});
}

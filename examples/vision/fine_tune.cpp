// SPDX-License-Identifier: Apache-2.0
// fine_tune - trains a new head on the frozen body of ResNet-18, whose parameters PyTorch has saved
//
//   examples/run fine_tune [resnet18.safetensors]
//
// In Python, the file is made by
//   import safetensors.torch, torchvision
//   net = torchvision.models.resnet18(weights="DEFAULT")
//   safetensors.torch.save_file(net.state_dict(), "resnet18.safetensors")
// Without a file, the example writes one with random parameters, so that it runs anywhere. It
// learns the colours of 160 noisy images.
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "resnet18.hpp"

#include <lamina/io/safetensors.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

constexpr int side = 64;  // of an image; ResNet-18 accepts images of any size
constexpr int classes = 4;

constexpr auto colours = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 3, side, side>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<classes>(examples::resnet18(image), {.name = "head"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

struct sample {
  std::vector<float> image;
  std::int64_t label;
};

// Noisy images of one of four colours, which is the class: red, green, blue or yellow.
std::vector<sample> images(std::size_t count, unsigned seed) {
  constexpr float colour[classes][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}};
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0.f, 0.5f);
  std::uniform_real_distribution<float> brightness(0.5f, 1.f);
  std::vector<sample> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    made[i] = {std::vector<float>(3 * side * side), static_cast<std::int64_t>(i % classes)};
    const float bright = brightness(random);
    for (std::size_t p = 0; p < made[i].image.size(); ++p)
      made[i].image[p] = bright * colour[i % classes][p / (side * side)] + noise(random);
  }
  return made;
}

// Writes random parameters as PyTorch would save them; the file has PyTorch's last layer, too.
void write_random(const std::string& path) {
  const lamina::renaming to_torch = lamina::rename_suffix(".w_0", ".weight") |
                                    lamina::rename_suffix(".b_0", ".bias") |
                                    lamina::rename_suffix(".w_1", ".running_mean") |
                                    lamina::rename_suffix(".w_2", ".running_var");
  const lamina::model random{colours, 7};
  lamina::named_tensors values;
  for (const auto& [name, value] : lamina::tensors_of(random))
    if (!name.starts_with("head.")) values.emplace(to_torch(name), value);
  values.emplace("fc.weight", lamina::tensor::filled<float>({1000, 512}, 0));
  values.emplace("fc.bias", lamina::tensor::filled<float>({1000}, 0));
  lamina::save_safetensors(path, values);
}

int main(int count, char** argument) try {
  const std::string path = count > 1 ? argument[1] : "random_resnet18.safetensors";
  if (count == 1) write_random(path);

  // The body comes from the file and is frozen; the head is new.
  lamina::model model{lamina::transform::freeze_except<"head">(colours)};
  lamina::safetensors_options from_torch = lamina::torch_state_dict();
  from_torch.skip_missing = true;
  const lamina::load_report report = load_safetensors(path, model, from_torch);
  if (count == 1) std::remove(path.c_str());
  std::printf("%zu parameters loaded, %zu missing (", report.loaded.size(), report.missing.size());
  for (const std::string& name : report.missing) std::printf(" %s", name.c_str());
  std::printf(" ), %zu not in the model\n", report.surplus.size());

  const lamina::named_tensors before = lamina::tensors_of(model);
  const auto test = images(80, 2);
  const auto accuracy = [&] {
    return lamina::evaluator{model}.test(test | reader::batch(16)).metric("accuracy");
  };
  const double untrained = accuracy();
  constexpr int passes = 10;
  lamina::optimizer::adam{.learning_rate = 1e-2f}.train(
      model, images(160, 1) | reader::shuffle(160, 1) | reader::batch(16),
      {.passes = passes, .on_event = lamina::progress_bar{passes}});
  const double trained = accuracy();

  std::size_t changed = 0, others = 0;
  for (const auto& [name, value] : lamina::tensors_of(model)) {
    const bool same = value.as<float>() == before.at(name).as<float>();
    (name.starts_with("head.") ? changed : others) += same ? 0 : 1;
  }
  std::printf("accuracy %.3f before, %.3f after; changed: %zu parameters of the head, %zu others\n",
              untrained, trained, changed, others);
  return report.loaded.size() == 100 && changed == 2 && others == 0 && trained >= 0.8 ? 0 : 1;
} catch (const lamina::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

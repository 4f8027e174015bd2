// SPDX-License-Identifier: Apache-2.0
// files - a program in three runs, in one folder: `train` trains with two threads, writes
// checkpoints and a model in several formats, below names beyond ASCII; `killed` dies while it
// writes a checkpoint and a model; `resume` finds the old files whole and trains on.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
namespace digits = lamina::dataset::digits;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::dropout(layer::fc<32>(image, {.act = lamina::activation::tanh}), 0.1f);
  auto logits = layer::fc<10>(hidden, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

const std::filesystem::path folder(u8"Mod\u00e8le \u6570\u5b57");

auto train(lamina::model<decltype(net)>& model, int passes) {
  const lamina::optimizer::adam adam{.learning_rate = 3e-3f};
  lamina::train_options options;
  options.passes = passes;
  options.threads = 2;
  options.checkpoint.directory = lamina::file_path(folder / "checkpoints").string();
  options.checkpoint.resume = true;
  return adam.train(model, digits::train() | reader::shuffle(500, 7) | reader::batch(32), options)
      .steps;
}

// Prints the scores of some images, from four threads, each with an evaluator of its own.
void print_scores(const char* name, const lamina::model<decltype(net)>& model) {
  std::vector<double> sums(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < sums.size(); ++t)
    threads.emplace_back([&, t] {
      lamina::evaluator e{model};
      const auto test = digits::test();
      for (std::size_t i = t; i < 40; i += sums.size()) {
        e.forward(lamina::feed<"image">(test[i].image));
        const auto scores = e.template activation<"output">();
        for (int k = 0; k < 10; ++k) sums[t] += k * static_cast<double>(scores(0, k));
      }
    });
  for (auto& t : threads) t.join();
  lamina::evaluator e{model};
  const double accuracy = e.test(digits::test() | reader::batch(64)).metric("accuracy");
  std::printf("%s: %.6g %.6g %.6g %.6g, accuracy %.4f\n", name, sums[0], sums[1], sums[2], sums[3],
              accuracy);
}

int main(int count, char** words) try {
  const std::string_view run = count > 1 ? words[1] : "";
  lamina::model<decltype(net)> model{net};
  if (run == "train") {
    std::filesystem::create_directories(folder);
    std::printf("%lld steps\n", static_cast<long long>(train(model, 2)));
    print_scores("trained", model);
    model.save(folder / "model");
    lamina::save_safetensors(folder / "model.safetensors", model);
    lamina::save_npz(folder / "model.npz", model);
    lamina::to_tar(folder / "model.tar", model);
    return 0;
  }
  if (run == "killed") {
    // Both files are open and half written; nothing closes or removes them.
    for (const char* const name : {"model", "checkpoints/checkpoint_2"}) {
      auto* const writer = new lamina::binary_writer(lamina::file_path(folder / name).string());
      writer->write(std::string(100000, 'x'));
    }
    std::_Exit(3);
  }
  lamina::model<decltype(net)> other{net, 5};
  other.load(folder / "model");
  print_scores("model", other);
  lamina::load_safetensors(folder / "model.safetensors", model);
  print_scores("model.safetensors", model);
  lamina::model<decltype(net)> third{net, 6}, fourth{net, 7};
  lamina::load_npz(folder / "model.npz", third);
  print_scores("model.npz", third);
  lamina::from_tar(folder / "model.tar", fourth);
  print_scores("model.tar", fourth);
  std::printf("%lld steps\n", static_cast<long long>(train(fourth, 4)));
  print_scores("trained on", fourth);
  int left = 0, whole = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    (entry.path().extension() == ".writing" ? left : whole) += entry.is_regular_file() ? 1 : 0;
  std::printf("%d whole files, %d of the killed run\n", whole, left);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

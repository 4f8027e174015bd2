// SPDX-License-Identifier: Apache-2.0
// transfer_learning - learns digits, then with frozen features from 100 samples which are even
#include <cstdio>
#include <vector>

#include <lamina/lamina.hpp>
#include <lamina/model/load_by_name.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

// What both programs begin with.
constexpr auto features(lamina::block& main) {
  auto h = layer::fc<64>(layer::data<"image", float, 64>(main),
                         {.act = lamina::activation::relu, .name = lamina::indexed("features", 0)});
  return layer::fc<32>(h,
                       {.act = lamina::activation::relu, .name = lamina::indexed("features", 1)});
}
// What both end with.
constexpr auto cost_of(lamina::block& main, auto logits) {
  auto label = layer::data<"label", std::int64_t>(main);
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
}
constexpr auto which_digit = lamina::program([](lamina::block& main) {
  return cost_of(main, layer::fc<10>(features(main), {.name = "digit"}));
});
constexpr auto is_even = lamina::program([](lamina::block& main) {
  return cost_of(main, layer::fc<2>(features(main), {.name = "parity"}));
});

template <class Samples>
auto parities(const Samples& all) {
  std::vector<lamina::dataset::digits::sample> made;
  for (const auto& s : all) made.push_back({s.image, s.label % 2 == 0 ? 1 : 0});
  return made;
}

int main() try {
  const char* const file = "which_digit.model";
  lamina::optimizer::adam adam{.learning_rate = 3e-3f};
  {
    lamina::model model{which_digit};
    adam.train(model, lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(16),
               {.passes = 20});
    model.save(file);
  }

  // The features come from the file and are frozen; the head is new.
  lamina::model model{lamina::transform::freeze<"features">(is_even)};
  const lamina::load_report report = load_by_name(file, model);
  std::remove(file);
  std::printf("%s", report.text().c_str());
  const auto before = model.parameter<"features_1.w_0">();

  auto few = parities(lamina::dataset::digits::train());
  few.resize(100);
  adam.learning_rate = 1e-2f;
  adam.train(model, few | reader::shuffle(100) | reader::batch(10), {.passes = 100});
  const bool frozen = model.parameter<"features_1.w_0">() == before;

  lamina::evaluator e{model};
  const double accuracy =
      e.test(parities(lamina::dataset::digits::test()) | reader::batch(64)).metric("accuracy");
  std::printf("even or odd after %zu samples: accuracy %.4f\n", few.size(), accuracy);
  return frozen && report.missing.size() == 2 && accuracy >= 0.89 ? 0 : 1;
} catch (const lamina::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

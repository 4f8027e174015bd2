// SPDX-License-Identifier: Apache-2.0
// transfer_learning - learns five digits, then five others from few samples with frozen features
#include <cstdio>
#include <string>
#include <vector>

#include <lamina/lamina.hpp>
#include <lamina/model/load_by_name.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

// What both programs begin with. `Head` names the layer that is their own.
template <lamina::fixed_string Head>
constexpr auto record(lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto features = layer::fc<64>(
      image, {.act = lamina::activation::relu, .name = lamina::indexed("features", 0)});
  features = layer::fc<64>(
      features, {.act = lamina::activation::relu, .name = lamina::indexed("features", 1)});
  auto logits = layer::fc<5>(features, {.name = Head.view()});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
}
constexpr auto low_digits = lamina::program([](lamina::block& main) {  // 0 to 4
  return record<"low">(main);
});
constexpr auto high_digits = lamina::program([](lamina::block& main) {  // 5 to 9
  return record<"high">(main);
});

// The samples with the digits from `first` to `first` + 4, labelled from 0.
template <class Samples>
auto digits_from(int first, const Samples& all) {
  std::vector<std::ranges::range_value_t<Samples>> some;
  for (auto s : all)
    if (s.label >= first && s.label < first + 5) {
      s.label -= first;
      some.push_back(s);
    }
  return some;
}

int main() try {
  const char* const file = "low_digits.model";
  lamina::optimizer::adam adam{.learning_rate = 3e-3f};
  {
    lamina::model model{low_digits};
    adam.train(model,
               digits_from(0, lamina::dataset::digits::train()) | reader::shuffle(2000) |
                   reader::batch(16),
               {.passes = 15});
    model.save(file);
  }

  // The features come from the file and are frozen; the head is new.
  lamina::model model{lamina::transform::freeze<"features">(high_digits)};
  const lamina::load_report report = load_by_name(file, model);
  std::remove(file);
  std::printf("%s", report.text().c_str());
  const auto features = model.parameter<"features_1.w_0">();

  auto few = digits_from(5, lamina::dataset::digits::train());
  few.resize(100);
  adam.train(model, few | reader::shuffle(100) | reader::batch(10), {.passes = 40});
  const bool frozen = model.parameter<"features_1.w_0">() == features;

  const auto test = digits_from(5, lamina::dataset::digits::test());
  lamina::evaluator e{model};
  const double accuracy = e.test(test | reader::batch(64)).metric("accuracy");
  std::printf("accuracy on 5 to 9 after %zu samples: %.4f\n", few.size(), accuracy);
  return frozen && report.missing.size() == 2 && accuracy >= 0.85 ? 0 : 1;
} catch (const lamina::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
// plugin_library/library.cpp - libdigits.so: a program chosen by name, behind a C
// interface.
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "digits.h"

#include <lamina/lamina.hpp>
#include <lamina/model/any_model.hpp>

namespace layer = lamina::layer;

namespace {

template <int Width>
constexpr auto record(lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<10>(layer::fc<Width>(image, {.act = lamina::activation::relu}));
  layer::argmax<1>(logits, {.name = "digit"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
}
constexpr auto small = lamina::program([](lamina::block& main) { return record<16>(main); });
constexpr auto large = lamina::program([](lamina::block& main) { return record<128>(main); });

// Calls `f` with the model of a program that is named while the application runs.
template <class F>
auto with_model(std::string_view net, F&& f) {
  if (net == "small") return f(lamina::model{small});
  if (net == "large") return f(lamina::model{large});
  throw lamina::error("digits: expected small or large, found '" + std::string(net) + "'");
}

thread_local std::string last_error;

// No exception may leave a C function.
template <class F>
int guarded(F&& f) {
  try {
    f();
    return 0;
  } catch (const std::exception& e) {
    last_error = e.what();
  } catch (...) {
    last_error = "unknown error";
  }
  return -1;
}

}  // namespace

struct digits {
  lamina::any_model model;
  lamina::any_evaluator evaluator = model.evaluator();
};

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int digits_train(const char* net, int passes, const char* path) {
  return guarded([&] {
    const lamina::optimizer::adam adam{.learning_rate = 3e-3f};
    with_model(net, [&](auto model) {
      adam.train(model,
                 lamina::dataset::digits::train() | lamina::reader::shuffle(2000) |
                     lamina::reader::batch(16),
                 {.passes = passes});
      model.save(path);
    });
  });
}

EXPORTED digits* digits_open(const char* net, const char* path) {
  digits* made = nullptr;
  guarded([&] {
    lamina::any_model model =
        with_model(net, [](auto m) { return lamina::any_model(std::move(m)); });
    model.load(path);
    made = new digits{std::move(model)};
  });
  return made;
}

EXPORTED void digits_close(digits* of) { delete of; }

EXPORTED int digits_classify(digits* of, const float* pixels, int count, int* result) {
  return guarded([&] {
    of->evaluator.forward({{"image", pixels, static_cast<std::size_t>(count) * 64}});
    const auto digit = of->evaluator.activation<std::int64_t>("digit");
    for (std::size_t i = 0; i < digit.size(); ++i) result[i] = static_cast<int>(digit.flat(i));
  });
}

EXPORTED const char* digits_error(void) { return last_error.c_str(); }

// SPDX-License-Identifier: Apache-2.0
// audio_lstm - an LSTM learns the sound of an amplifier and plays sample by sample without a heap
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

constexpr int width = 16;

// One step: of all sequences in training, of a single sample when playing.
constexpr auto step(auto x, auto hidden, auto cell) {
  auto [next_hidden, next_cell] = layer::lstm_unit(
      x, hidden, cell,
      {.param = {.name = "lstm.w"}, .bias_param = {.name = "lstm.b"}, .name = "lstm"});
  auto y = layer::fc<1>(next_hidden,
                        {.param = {.name = "y.w"}, .bias_param = {.name = "y.b"}, .name = "y"});
  return std::tuple{y, next_hidden, next_cell};
}

constexpr auto training = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 1>(main);
  auto target = layer::sequence<"target", float, 1>(x);
  auto y = layer::dynamic_rnn(x, [&](auto& rnn) {
    auto hidden = rnn.memory(lamina::dims<width>), cell = rnn.memory(lamina::dims<width>);
    auto [now, next_hidden, next_cell] = step(rnn.input(x), hidden, cell);
    rnn.update(hidden, next_hidden);
    rnn.update(cell, next_cell);
    return now;
  });
  return layer::mean(layer::square_error_cost(y, target));
});

constexpr auto playing = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  auto hidden = layer::data<"hidden", float, width>(main);
  auto cell = layer::data<"cell", float, width>(main);
  return step(x, hidden, cell);
});

// The amplifier: it saturates, and remembers a little.
struct amplifier {
  float before = 0;
  float operator()(float x) { return before = std::tanh(2 * x + 0.5f * before); }
};

struct sound {
  std::vector<float> x, y;
};

int main() {
  std::vector<sound> sounds(64);
  for (std::size_t s = 0; s < sounds.size(); ++s) {
    amplifier real;
    for (std::size_t t = 0; t < 100; ++t) {
      const auto i = static_cast<float>(s + 1), at = static_cast<float>(t);
      sounds[s].x.push_back(0.02f * i * std::sin(0.01f * i * at) + 0.2f * std::sin(i + 0.7f * at));
      sounds[s].y.push_back(real(sounds[s].x.back()));
    }
  }
  lamina::model model{training};
  lamina::optimizer::adam{.learning_rate = 5e-3f}.train(
      model, sounds | reader::shuffle(64) | reader::batch(16), {.passes = 400});

  // What an audio thread has: an object, no heap, no lock.
  static lamina::static_evaluator<decltype(playing)> player;
  player.load(lamina::model{playing, lamina::share_parameters_of(model)});
  std::vector<float> played(48000);
  const auto input = [](std::size_t t) { return 0.6f * std::sin(0.05f * static_cast<float>(t)); };
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t t = 0; t < played.size(); ++t) {
    player.input<"x">()[0] = input(t);
    player.forward();
    std::ranges::copy(player.activation<"lstm">(), player.input<"hidden">().begin());
    std::ranges::copy(player.activation<"lstm.tmp_0">(), player.input<"cell">().begin());
    played[t] = player.activation<"y">()[0];
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;

  amplifier real;
  double error = 0, power = 0;
  for (std::size_t t = 0; t < played.size(); ++t) {
    const double wanted = real(input(t));
    error += (wanted - played[t]) * (wanted - played[t]);
    power += wanted * wanted;
  }
  std::printf("error %.2f %% of the sound, %.0f ns a sample, %zu bytes\n",
              100 * std::sqrt(error / power), took.count() / static_cast<double>(played.size()),
              sizeof player);
  return error < 0.0025 * power ? 0 : 1;
}

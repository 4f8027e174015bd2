// SPDX-License-Identifier: Apache-2.0
// amp - an amplifier that Neural Amp Modeler captured plays a sound, block by block, without a heap
//
//   amp MODEL.nam IN.wav OUT.wav   MODEL.nam has the architecture "WaveNet, standard" of most
//                                  captures; `import` makes C++ of others
//   amp                            plays a tone with random parameters
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "helpers/wav_file.hpp"
#include <nlohmann/json.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr int block = 64;  // samples per run

// The name of the state of layer Layer: "past_00".
template <int Layer>
constexpr lamina::fixed_string<8> past_name = [] {
  lamina::fixed_string<8> name("past_00");
  name.text[5] = static_cast<char>('0' + Layer / 10);
  name.text[6] = static_cast<char>('0' + Layer % 10);
  return name;
}();

// Layer Layer: a convolution that looks 2 * Dilation samples back, and the input once more.
template <int Layer, int Dilation>
constexpr auto wavenet_layer(lamina::block& main, auto x, auto sound) {
  constexpr int channels = layer::whole_shape<decltype(x)>.at[1];
  auto past = layer::data<past_name<Layer>, float, channels, 2 * Dilation>(main);
  auto [seen, next] =
      layer::conv1d_with_state<channels, 3, lamina::window1{.dilation = Dilation}>(x, past);
  auto z = layer::tanh(seen + layer::conv1d<channels, 1>(sound, {.bias = false}));
  return std::pair{z, x + layer::conv1d<channels, 1>(z)};
}

// Ten layers of dilations 1 to 512, from layer First on. Returns the output, and the sum of what
// all layers heard.
template <int First, int Channels>
constexpr auto wavenet_array(lamina::block& main, auto in, auto sound, auto... sum_before) {
  auto x = layer::conv1d<Channels, 1>(in, {.bias = false});
  auto [sum, out] = wavenet_layer<First, 1>(main, x, sound);
  ((sum = sum + sum_before), ...);
  [&]<int... I>(std::integer_sequence<int, I...>) {
    const auto next = [&](auto made) { sum = sum + made.first, out = made.second; };
    (next(wavenet_layer<First + 1 + I, (2 << I)>(main, out, sound)), ...);
  }
  (std::make_integer_sequence<int, 9>{});
  return std::pair{out, sum};
}

constexpr auto wavenet = lamina::program([](lamina::block& main) {
  auto sound = layer::data<"sound", float, 1, block>(main);
  auto [x, sum] = wavenet_array<0, 16>(main, sound, sound);
  auto head = layer::conv1d<8, 1>(sum, {.bias = false});
  auto [unused, last] = wavenet_array<10, 8>(main, x, sound, head);
  return layer::conv1d<1, 1>(last, {.name = "y"});
});
using player = lamina::static_evaluator<std::remove_const_t<decltype(wavenet)>>;

// The numbers of a file are the parameters of the program in their order; the last number scales
// the output.
std::vector<float> read_nam(const std::string& path) {
  const auto file = nlohmann::json::parse(lamina::read_file(path));
  auto weights = file.at("weights").get<std::vector<float>>();
  if (file.at("architecture") != "WaveNet" || weights.size() != player::parameter_elements + 1)
    throw std::runtime_error(path + ": expected " + std::to_string(player::parameter_elements + 1) +
                             " numbers of a standard WaveNet, found " +
                             std::to_string(weights.size()) + "; see the example import");
  return weights;
}

int main(int argc, char** argv) try {
  if (argc != 1 && argc != 4) {
    std::fputs("usage: amp [MODEL.nam IN.wav OUT.wav]\n", stderr);
    return 2;
  }
  wav_file sound;
  std::vector<float> weights(player::parameter_elements + 1, 0.02F);
  if (argc == 4) {
    weights = read_nam(argv[1]);
    sound = read_wav(argv[2]);
  } else {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 0.2F);
    for (std::size_t i = 0; i + 1 < weights.size(); ++i) weights[i] = normal(random);
    for (int t = 0; t < sound.rate; ++t)
      sound.samples.push_back(0.5F * std::sin(0.03F * static_cast<float>(t)));
  }
  const std::size_t length = sound.samples.size();
  sound.samples.resize((length + block - 1) / block * block);

  static player amp;
  amp.load(std::span(weights).first<player::parameter_elements>());
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t t = 0; t < sound.samples.size(); t += block) {
    float* const now = sound.samples.data() + t;
    std::copy_n(now, block, amp.input<"sound">().begin());
    amp.forward();
    amp.feed_back();
    for (int i = 0; i < block; ++i)
      now[i] = weights.back() * amp.activation<"y">()[static_cast<std::size_t>(i)];
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  sound.samples.resize(length);
  if (argc == 4) write_wav(argv[3], sound);
  float loudest = 0;
  for (const float y : sound.samples) loudest = std::max(loudest, std::fabs(y));
  std::printf("%.1f times as fast as real time, %zu bytes, peak %.3f\n",
              static_cast<double>(length) / sound.rate / took.count(), sizeof amp,
              static_cast<double>(loudest));
  return loudest > 0 && std::isfinite(loudest) ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "amp: %s\n", e.what());
  return 1;
}

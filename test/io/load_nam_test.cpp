// SPDX-License-Identifier: Apache-2.0
// load_nam: WaveNet and LSTM compute their equations, block by block; damaged files are errors.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "io/stream_run.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <lamina/core/files/file.hpp>
#include <lamina/io/load_nam.hpp>

using nlohmann::json;

namespace {

std::vector<double> numbers(std::size_t n) {
  static std::mt19937 random(5);
  std::normal_distribution<double> normal(0, 0.5);
  std::vector<double> all(n);
  for (double& x : all) x = static_cast<float>(normal(random));
  return all;
}
std::string write(const json& file) {
  static const temporary_folder folder;
  const std::string path = folder.path() + "/amp.nam";
  lamina::write_file(path, file.dump());
  return path;
}
std::string message_of(const json& file) {
  try {
    lamina::load_nam(write(file));
  } catch (const lamina::format_error& e) {
    const std::string all = e.what();
    return all.substr(all.find("model"));
  }
  return "none";
}
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

using signal = std::vector<std::vector<double>>;  // channels of samples

// Takes the next weights of a file in the order of the format.
struct reference {
  const std::vector<double>& w;
  std::size_t next = 0;

  signal conv(const signal& x, std::size_t filters, std::size_t taps, std::size_t dilation,
              bool bias) {
    const std::size_t first = next, channels = x.size(), length = x[0].size();
    next += filters * channels * taps + (bias ? filters : 0);
    signal y(filters, std::vector<double>(length));
    for (std::size_t f = 0; f < filters; ++f)
      for (std::size_t t = 0; t < length; ++t) {
        double sum = bias ? w[first + filters * channels * taps + f] : 0;
        for (std::size_t c = 0; c < channels; ++c)
          for (std::size_t k = 0; k < taps; ++k)
            if (t + k * dilation >= (taps - 1) * dilation)
              sum += w[first + (f * channels + c) * taps + k] *
                     x[c][t + k * dilation - (taps - 1) * dilation];
        y[f][t] = sum;
      }
    return y;
  }
};
void add(signal& to, const signal& x) {
  for (std::size_t c = 0; c < to.size(); ++c)
    for (std::size_t t = 0; t < to[c].size(); ++t) to[c][t] += x[c][t];
}

// Two arrays of layers; the second is gated and has two taps and a head of three taps.
const json config = {{"head_scale", 0.5},
                     {"head", nullptr},
                     {"layers",
                      {{{"input_size", 1},
                        {"condition_size", 1},
                        {"channels", 3},
                        {"head_size", 2},
                        {"head_bias", false},
                        {"kernel_size", 3},
                        {"dilations", {1, 4}},
                        {"activation", "Tanh"},
                        {"gated", false}},
                       {{"input_size", 3},
                        {"condition_size", 1},
                        {"channels", 2},
                        {"head", {{"out_channels", 1}, {"kernel_size", 3}, {"bias", true}}},
                        {"kernel_sizes", {2}},
                        {"dilations", {5}},
                        {"activation", {{{"type", "LeakyReLU"}, {"negative_slope", 0.1}}}},
                        {"gated", true}}}}};

std::vector<double> wavenet(const std::vector<double>& weights, const std::vector<float>& x) {
  reference r{weights};
  const signal in{std::vector<double>(x.begin(), x.end())};
  signal now = r.conv(in, 3, 1, 1, false), head;
  for (const std::size_t dilation : {1u, 4u}) {
    signal z = r.conv(now, 3, 3, dilation, true);
    add(z, r.conv(in, 3, 1, 1, false));
    for (auto& channel : z)
      for (double& v : channel) v = std::tanh(v);
    add(now, r.conv(z, 3, 1, 1, true));
    if (head.empty())
      head = z;
    else
      add(head, z);
  }
  head = r.conv(head, 2, 1, 1, false);
  now = r.conv(now, 2, 1, 1, false);
  signal z = r.conv(now, 4, 2, 5, true);
  add(z, r.conv(in, 4, 1, 1, false));
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t t = 0; t < x.size(); ++t)
      z[c][t] = (z[c][t] > 0 ? z[c][t] : 0.1 * z[c][t]) * sigmoid(z[c + 2][t]);
  z.resize(2);
  add(now, r.conv(z, 2, 1, 1, true));
  add(head, z);
  signal y = r.conv(head, 1, 3, 1, true);
  for (double& v : y[0]) v *= weights[r.next];
  CHECK(weights.size() == r.next + 1);
  return y[0];
}

json wavenet_file(const std::vector<double>& weights) {
  return {{"architecture", "WaveNet"}, {"config", config}, {"weights", weights}};
}

}  // namespace

TEST_CASE("the WaveNet of a .nam file, block by block") {
  const std::vector<double> weights = numbers(143);
  const std::vector<double> drawn = numbers(48);
  const std::vector<float> x(drawn.begin(), drawn.end());
  const std::vector<double> expected = wavenet(weights, x);
  for (const int block : {1, 4, 16, 48}) {
    INFO("blocks of " << block);
    const auto y = stream_run::run(
        lamina::load_nam(write(wavenet_file(weights)), lamina::nam_options{{block}}), x);
    REQUIRE(y.size() == expected.size());
    for (std::size_t t = 0; t < y.size(); ++t) CHECK(y[t] == Approx(expected[t]).margin(1e-5));
  }
}

TEST_CASE("the LSTM of a .nam file begins with the states of the file") {
  const std::size_t n = 3;
  const std::vector<double> w =
      numbers(4 * n * (1 + n) + 4 * n + 2 * n + 4 * n * 2 * n + 4 * n + 2 * n + n + 1);
  const json file{{"architecture", "LSTM"},
                  {"config", {{"input_size", 1}, {"hidden_size", 3}, {"num_layers", 2}}},
                  {"weights", w}};
  const std::vector<double> drawn = numbers(12);
  const std::vector<float> x(drawn.begin(), drawn.end());
  const auto y = stream_run::run(lamina::load_nam(write(file)), x);
  struct cell {
    std::size_t depth, at;  // `at`: where its weights begin
    std::vector<double> h, c;
  };
  std::vector<cell> cells{{1, 0, {}, {}}, {n, 4 * n * (1 + n) + 6 * n, {}, {}}};
  for (cell& l : cells) {
    const std::size_t states = l.at + 4 * n * (l.depth + n) + 4 * n;
    for (std::size_t j = 0; j < n; ++j) {
      l.h.push_back(w[states + j]);
      l.c.push_back(w[states + n + j]);
    }
  }
  REQUIRE(y.size() == x.size());
  for (std::size_t t = 0; t < x.size(); ++t) {
    std::vector<double> in{x[t]};
    for (cell& l : cells) {
      std::vector<double> both = in, g(4 * n);
      both.insert(both.end(), l.h.begin(), l.h.end());
      for (std::size_t j = 0; j < 4 * n; ++j) {
        g[j] = w[l.at + 4 * n * both.size() + j];
        for (std::size_t k = 0; k < both.size(); ++k)
          g[j] += w[l.at + j * both.size() + k] * both[k];
      }
      for (std::size_t j = 0; j < n; ++j) {
        l.c[j] = sigmoid(g[n + j]) * l.c[j] + sigmoid(g[j]) * std::tanh(g[2 * n + j]);
        l.h[j] = sigmoid(g[3 * n + j]) * std::tanh(l.c[j]);
      }
      in = l.h;
    }
    double expected = w.back();
    for (std::size_t j = 0; j < n; ++j) expected += w[w.size() - 1 - n + j] * in[j];
    CHECK(y[t] == Approx(expected).margin(1e-5));
  }
}

TEST_CASE("of several nets in a .nam file, the quality chooses one") {
  json all{{"architecture", "SlimmableContainer"}, {"config", {{"submodels", json::array()}}}};
  std::vector<std::vector<double>> weights;
  for (const double most : {0.3, 0.6, 1.0}) {
    weights.push_back(numbers(143));
    all["config"]["submodels"].push_back(
        {{"max_value", most}, {"model", wavenet_file(weights.back())}});
  }
  const std::vector<float> x(8, 0.5F);
  const auto first_of = [&](double quality) {
    lamina::nam_options options{{8}};
    options.quality = quality;
    return stream_run::run(lamina::load_nam(write(all), options), x)[7];
  };
  CHECK(first_of(0.1) == Approx(wavenet(weights[0], x)[7]).margin(1e-5));
  CHECK(first_of(0.4) == Approx(wavenet(weights[1], x)[7]).margin(1e-5));
  CHECK(first_of(1.0) == Approx(wavenet(weights[2], x)[7]).margin(1e-5));
  CHECK(first_of(2.0) == Approx(wavenet(weights[2], x)[7]).margin(1e-5));
}

TEST_CASE("errors of load_nam name the member of the file") {
  const json good = wavenet_file(numbers(143));
  CHECK(message_of(good) == "none");
  json file = good;
  file["architecture"] = "Linear";
  CHECK(message_of(file) ==
        "model.architecture: expected WaveNet, LSTM or SlimmableContainer, found 'Linear'");
  file = good;
  file["weights"].push_back(1);
  CHECK(message_of(file) == "model.weights: expected 143 numbers, found 144");
  file["weights"] = {1, 2};
  CHECK(message_of(file) ==
        "model.weights: expected more than 2 numbers, as the configuration says");
  file = good;
  file["config"]["layers"][1]["input_size"] = 4;
  CHECK(message_of(file) == "model.config.layers[1].input_size: expected 3 channels, found 4");
  file = good;
  file["config"]["layers"][0]["activation"] = "Fasttanh";
  CHECK(
      message_of(file) ==
      "model.config.layers[0].activation: expected Tanh, ReLU, Sigmoid, SiLU, Softsign, Hardtanh, "
      "Hardswish, LeakyReLU or PReLU with negative_slopes, found 'Fasttanh'");
  file = good;
  file["config"]["layers"][0]["conv_pre_film"] = {{"active", true}};
  CHECK(message_of(file) ==
        "model.config.layers[0].conv_pre_film: expected no feature-wise "
        "modulation, which lamina does not import");
}

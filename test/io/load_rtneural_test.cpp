// SPDX-License-Identifier: Apache-2.0
// load_rtneural: each kind of layer computes its equation, block by block; damaged files are
// errors.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "io/stream_run.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <lamina/core/files/file.hpp>
#include <lamina/io/load_rtneural.hpp>

using nlohmann::json;

namespace {

std::mt19937 seed(7);
double draw() { return std::normal_distribution<double>(0, 0.5)(seed); }
json numbers(std::vector<int> shape) {
  if (shape.empty()) return draw();
  json all = json::array();
  const std::vector<int> rest(shape.begin() + 1, shape.end());
  for (int i = 0; i < shape[0]; ++i) all.push_back(numbers(rest));
  return all;
}
json layer(const char* type, int size, json weights, const char* activation = "") {
  return {{"type", type},
          {"shape", {nullptr, nullptr, size}},
          {"activation", activation},
          {"weights", weights}};
}
json net(int channels, std::vector<json> layers) {
  return {{"in_shape", {nullptr, nullptr, channels}}, {"layers", layers}};
}
std::string write(const json& file) {
  static const temporary_folder folder;
  const std::string path = folder.path() + "/net.json";
  lamina::write_file(path, file.dump());
  return path;
}
std::vector<float> run(const json& file, const std::vector<float>& x, int block) {
  return stream_run::run(lamina::load_rtneural(write(file), {block}), x);
}
std::vector<float> signal(std::size_t n) {
  std::vector<float> x(n);
  for (float& v : x) v = static_cast<float>(draw());
  return x;
}
void require_close(const std::vector<float>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).margin(1e-5));
}
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::string message_of(const json& file) {
  try {
    lamina::load_rtneural(write(file));
  } catch (const lamina::format_error& e) {
    const std::string all = e.what();
    return all.substr(all.find("model"));
  }
  return "none";
}

}  // namespace

TEST_CASE("dense, conv1d, prelu, batchnorm and activations of RTNeural, block by block") {
  const json w = numbers({2, 3}), b = numbers({3}), f = numbers({3, 3, 4}), fb = numbers({4}),
             alpha = numbers({1, 4}), mean = numbers({4}), gamma = numbers({4}),
             beta = numbers({4});
  json variance = numbers({4});
  for (json& v : variance) v = std::abs(v.get<double>());
  json conv = layer("conv1d", 4, {f, fb}, "tanh");
  conv["kernel_size"] = {3};
  conv["dilation"] = {2};
  json norm = layer("batchnorm", 4, {gamma, beta, mean, variance});
  norm["epsilon"] = 0.01;
  const json file =
      net(2, {layer("dense", 3, {w, b}, "relu"), conv, layer("prelu", 4, json::array({alpha})),
              norm, layer("activation", 4, json::array(), "softmax")});
  const std::vector<float> x = signal(2 * 12);
  std::vector<std::vector<double>> h;
  std::vector<double> expected;
  for (std::size_t t = 0; t < 12; ++t) {
    std::vector<double> now(3);
    for (std::size_t j = 0; j < 3; ++j) {
      now[j] = b[j].get<double>();
      for (std::size_t i = 0; i < 2; ++i) now[j] += x[2 * t + i] * w[i][j].get<double>();
      now[j] = now[j] > 0 ? now[j] : 0;
    }
    h.push_back(now);
    std::vector<double> y(4);
    double sum = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      y[j] = fb[j].get<double>();
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t c = 0; c < 3; ++c)
          if (t + 2 * k >= 4) y[j] += h[t + 2 * k - 4][c] * f[k][c][j].get<double>();
      y[j] = std::tanh(y[j]);
      if (y[j] < 0) y[j] *= alpha[0][j].get<double>();
      y[j] = (y[j] - mean[j].get<double>()) / std::sqrt(variance[j].get<double>() + 0.01) *
                 gamma[j].get<double>() +
             beta[j].get<double>();
      sum += y[j] = std::exp(y[j]);
    }
    for (const double v : y) expected.push_back(v / sum);
  }
  for (const int block : {1, 2, 3, 12}) {
    INFO("blocks of " << block);
    require_close(run(file, x, block), expected);
  }
}

TEST_CASE("groups of channels of RTNeural's conv1d") {
  const json f = numbers({2, 1, 4}), b = numbers({4});
  json conv = layer("conv1d", 4, {f, b});
  conv["kernel_size"] = {2};
  conv["dilation"] = {1};
  conv["groups"] = 2;
  const std::vector<float> x = signal(2 * 6);
  std::vector<double> expected;
  for (std::size_t t = 0; t < 6; ++t)
    for (std::size_t j = 0; j < 4; ++j) {
      double y = b[j].get<double>() + x[2 * t + j / 2] * f[1][0][j].get<double>();
      if (t > 0) y += x[2 * t - 2 + j / 2] * f[0][0][j].get<double>();
      expected.push_back(y);
    }
  require_close(run(net(2, {conv}), x, 2), expected);
}

TEST_CASE("lstm and gru of RTNeural, sample by sample") {
  const std::size_t n = 3;
  const std::vector<float> x = signal(10);
  {
    const json w = numbers({1, 12}), u = numbers({3, 12}), b = numbers({12});
    std::vector<double> h(n), c(n), expected;
    for (const float now : x) {
      std::vector<double> g(4 * n);
      for (std::size_t j = 0; j < 4 * n; ++j) {
        g[j] = b[j].get<double>() + now * w[0][j].get<double>();
        for (std::size_t k = 0; k < n; ++k) g[j] += h[k] * u[k][j].get<double>();
      }
      for (std::size_t j = 0; j < n; ++j) {
        c[j] = sigmoid(g[n + j]) * c[j] + sigmoid(g[j]) * std::tanh(g[2 * n + j]);
        h[j] = sigmoid(g[3 * n + j]) * std::tanh(c[j]);
      }
      expected.insert(expected.end(), h.begin(), h.end());
    }
    require_close(run(net(1, {layer("lstm", 3, {w, u, b}, "tanh")}), x, 64), expected);
  }
  const json w = numbers({1, 9}), u = numbers({3, 9}), b = numbers({2, 9});
  std::vector<double> h(n), expected;
  for (const float now : x) {
    std::vector<double> of_x(3 * n), of_h(3 * n);
    for (std::size_t j = 0; j < 3 * n; ++j) {
      of_x[j] = b[0][j].get<double>() + now * w[0][j].get<double>();
      of_h[j] = b[1][j].get<double>();
      for (std::size_t k = 0; k < n; ++k) of_h[j] += h[k] * u[k][j].get<double>();
    }
    for (std::size_t j = 0; j < n; ++j) {
      const double z = sigmoid(of_x[j] + of_h[j]), r = sigmoid(of_x[n + j] + of_h[n + j]);
      h[j] = z * h[j] + (1 - z) * std::tanh(of_x[2 * n + j] + r * of_h[2 * n + j]);
    }
    expected.insert(expected.end(), h.begin(), h.end());
  }
  require_close(run(net(1, {layer("gru", 3, {w, u, b}, "tanh")}), x, 64), expected);
}

TEST_CASE("errors of load_rtneural name the member of the file") {
  const json dense = layer("dense", 3, {numbers({2, 3}), numbers({3})});
  CHECK(message_of(json::object()) == "model: expected the member 'in_shape', found none");
  CHECK(message_of(net(2, {})) == "model: expected at least one layer, found none");
  CHECK(message_of(net(3, {dense})) == "model.layers[0].weights[0]: expected a list of 3, found 2");
  CHECK(message_of(net(2, {dense, layer("conv9", 3, json::array())})) ==
        "model.layers[1].type: expected dense, time-distributed-dense, conv1d, lstm, gru, prelu, "
        "batchnorm or activation, found 'conv9'");
  CHECK(message_of(net(2, {layer("dense", 3, {numbers({2, 3}), numbers({3})}, "snake")})) ==
        "model.layers[0].activation: expected tanh, relu, sigmoid, elu or softmax, found 'snake'");
  json text = dense;
  text["weights"][0][1][2] = "x";
  CHECK(message_of(net(2, {text})) ==
        "model.layers[0].weights[0][1][2]: expected a number, found \"x\"");
}

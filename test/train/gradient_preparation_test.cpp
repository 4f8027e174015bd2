// SPDX-License-Identifier: Apache-2.0
// What happens to gradients before the update: clips, decay, per-parameter rates, frozen
// parameters.
#include "train/net.hpp"

#include <lamina/tensor/xtensor.hpp>

namespace layer = lamina::layer;

namespace {

// The cost and its gradients; the programs below differ in what they say of their parameters.
template <class V, class L>
constexpr auto cost_of(V x, L label, const lamina::param_attr& first,
                       const lamina::param_attr& second) {
  auto hidden =
      layer::fc<17>(x, {.act = lamina::activation::tanh, .param = first, .name = "hidden"});
  auto logits = layer::fc<3>(hidden, {.param = second, .name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
}
template <int Kind>
constexpr lamina::param_attr first_of() {
  lamina::param_attr a{};
  if (Kind == 1) a.gradient_clip = lamina::clip_by_norm(0.05f);
  if (Kind == 2) a.gradient_clip = lamina::clip_by_value(-0.002f, 0.01f);
  if (Kind == 3) a.learning_rate = 0.25f;
  if (Kind == 4) a.regularizer = lamina::l1_decay(0.3f);
  if (Kind == 5) a.trainable = false;
  return a;
}
template <int Kind>
constexpr lamina::param_attr second_of() {
  lamina::param_attr a{};
  if (Kind == 1) a.gradient_clip = lamina::clip_by_norm(100.f);
  if (Kind == 3) a.learning_rate = 3;
  if (Kind == 4) a.regularizer = lamina::l2_decay(0.2f);
  return a;
}
template <int Kind>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return cost_of(x, label, first_of<Kind>(), second_of<Kind>());
});

using arrays = std::vector<xt::xarray<float>>;  // hidden.w, hidden.b, output.w, output.b
template <class Model>
arrays arrays_of(const Model& m) {
  arrays all;
  for (int i = 0; i < m.parameter_arrays(); ++i) all.push_back(m.get(i));
  return all;
}
template <class Model>
arrays gradients_of(const Model& m, const std::vector<test::sample>& samples) {
  lamina::gradient_machine g{m};
  g.backward(samples);
  return {g.template gradient<"hidden.w_0">(), g.template gradient<"hidden.b_0">(),
          g.template gradient<"output.w_0">(), g.template gradient<"output.b_0">()};
}
double norm(const xt::xarray<float>& a) {
  double squares = 0;
  for (const float x : a) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares);
}

constexpr float rate = 0.5f;
/// One step of SGD must move each parameter by -rate times the gradient as `prepare` makes it.
template <int Kind, class Prepare>
void check_step(const test::optimizer::sgd& sgd, const Prepare& prepare) {
  for (const int threads : {1, 2}) {
    lamina::model m{net<Kind>, 3};
    const auto samples = test::samples(24);
    arrays gradient = gradients_of(m, samples);
    const arrays before = arrays_of(m);
    sgd.train(m, samples | test::reader::batch(24), {.threads = threads});
    const arrays after = arrays_of(m);
    prepare(gradient, before);
    for (std::size_t i = 0; i < before.size(); ++i)
      for (std::size_t k = 0; k < before[i].size(); ++k)
        CHECK(after[i].data()[k] - before[i].data()[k] ==
              Approx(-rate * gradient[i].data()[k]).margin(2e-6));
  }
}

}  // namespace

TEST_CASE("clip_by_norm limits each gradient by itself", "[threads]") {
  check_step<1>({.learning_rate = rate}, [](arrays& g, const arrays&) {
    REQUIRE(norm(g[0]) > 0.06);
    REQUIRE(norm(g[2]) < 100);
    g[0] *= static_cast<float>(0.05 / norm(g[0]));
  });
}

TEST_CASE("clip_by_global_norm limits all gradients together", "[threads]") {
  check_step<0>({.learning_rate = rate, .clip = lamina::clip_by_global_norm(0.1f)},
                [](arrays& g, const arrays&) {
                  double squares = 0;
                  for (const auto& a : g) squares += norm(a) * norm(a);
                  REQUIRE(std::sqrt(squares) > 0.12);
                  for (auto& a : g) a *= static_cast<float>(0.1 / std::sqrt(squares));
                });
  // A limit that no gradient reaches changes nothing.
  check_step<0>({.learning_rate = rate, .clip = lamina::clip_by_global_norm(1e3f)},
                [](arrays&, const arrays&) {});
}

TEST_CASE("a parameter's own clip beats the optimizer's", "[threads]") {
  const auto bounded = [](xt::xarray<float>& a, float low, float high) {
    for (float& x : a) x = std::min(std::max(x, low), high);
  };
  check_step<2>({.learning_rate = rate, .clip = lamina::clip_by_value(0.005f)},
                [&](arrays& g, const arrays&) {
                  bounded(g[0], -0.002f, 0.01f);
                  for (std::size_t i = 1; i < 4; ++i) bounded(g[i], -0.005f, 0.005f);
                });
}

TEST_CASE("a parameter's learning rate is a factor", "[threads]") {
  check_step<3>({.learning_rate = rate}, [](arrays& g, const arrays&) {
    g[0] *= 0.25f;
    g[2] *= 3.f;
  });
}

TEST_CASE("decay is added after the clip; a parameter's own beats the optimizer's", "[threads]") {
  check_step<4>({.learning_rate = rate,
                 .regularization = lamina::l2_decay(0.1f),
                 .clip = lamina::clip_by_value(0.005f)},
                [](arrays& g, const arrays& p) {
                  for (auto& a : g)
                    for (float& x : a) x = std::min(std::max(x, -0.005f), 0.005f);
                  for (std::size_t k = 0; k < g[0].size(); ++k)
                    g[0].data()[k] += 0.3f * (p[0].data()[k] > 0 ? 1.f : -1.f);
                  g[1] += 0.1f * p[1];
                  g[2] += 0.2f * p[2];
                  g[3] += 0.1f * p[3];
                });
}

TEST_CASE("a frozen parameter stays as it is", "[threads]") {
  check_step<5>({.learning_rate = rate, .regularization = lamina::l2_decay(0.1f)},
                [](arrays& g, const arrays& p) {
                  REQUIRE(norm(g[0]) == 0);
                  for (std::size_t i = 1; i < 4; ++i) g[i] += 0.1f * p[i];
                });
}

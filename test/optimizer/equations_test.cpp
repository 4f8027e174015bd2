// SPDX-License-Identifier: Apache-2.0
// Every update equation against straight loops in double, in float, double and SIMD batches.
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/intrinsics.hpp>
#include <lamina/core/philox.hpp>
#include <lamina/optimizer/optimizers.hpp>

namespace optimizer = lamina::optimizer;

namespace {

using numbers = std::vector<double>;
// Advances a whole parameter by one step: parameter, gradient, accumulators, t from 1.
using reference = std::function<void(numbers& p, const numbers& g, std::vector<numbers>& s, int t)>;

constexpr std::size_t size = 48;  // a multiple of every batch
constexpr int steps = 50;

double random_number(int stream, std::size_t i) {
  return 2.0 * lamina::uniform_at(7, static_cast<std::uint64_t>(stream), i) - 1;
}

// A parameter and its accumulators as T, which holds `lanes` elements.
template <class Opt, class T>
class machine {
 public:
  using traits = optimizer::traits<Opt>;

  explicit machine(const Opt& opt) : opt_(opt), values_(traits::state_count + 1) {
    for (std::size_t i = 0; i < size; ++i) values_[0].push_back(element(random_number(0, i)));
    for (int s = 0; s < traits::state_count; ++s)
      values_[static_cast<std::size_t>(s) + 1].assign(size, traits::initial_state(opt, s));
  }

  void step(const numbers& gradient, int step) {
    const auto host = traits::scalars(opt_, step);
    T scalar[traits::scalar_count];
    for (int k = 0; k < traits::scalar_count; ++k) scalar[k] = T(host[static_cast<std::size_t>(k)]);
    T norm[2]{T(0), T(0)};
    if constexpr (traits::has_norms) {
      double squares[2]{};
      for (std::size_t i = 0; i < size; i += lanes) {
        T state[8];
        load(state, i);
        const T u = traits::template normed<T>(at(0, i), gradient_at(gradient, i), state, scalar);
        element kept[lanes];
        store(u, kept);
        for (std::size_t k = 0; k < lanes; ++k) {
          squares[0] += std::pow(static_cast<double>(values_[0][i + k]), 2);
          squares[1] += std::pow(static_cast<double>(kept[k]), 2);
        }
      }
      for (int k = 0; k < 2; ++k) norm[k] = T(static_cast<element>(std::sqrt(squares[k])));
    }
    for (std::size_t i = 0; i < size; i += lanes) {
      T state[8], param = at(0, i);
      load(state, i);
      traits::template update<T>(param, gradient_at(gradient, i), state, scalar, norm);
      store(param, &values_[0][i]);
      for (std::size_t s = 0; s < traits::state_count; ++s) store(state[s], &values_[s + 1][i]);
    }
  }

  double value(std::size_t which, std::size_t i) const {
    return static_cast<double>(values_[which][i]);
  }

 private:
  static constexpr bool plain = std::is_arithmetic_v<T>;
  template <class U, bool = std::is_arithmetic_v<U>>
  struct element_of {
    using type = U;
    static constexpr std::size_t lanes = 1;
  };
  template <class U>
  struct element_of<U, false> {
    using type = typename U::value_type;
    static constexpr std::size_t lanes = U::size;
  };
  using element = typename element_of<T>::type;
  static constexpr std::size_t lanes = element_of<T>::lanes;
  static_assert(size % lanes == 0);

  static T read(const element* from) {
    if constexpr (plain)
      return *from;
    else
      return T::load_unaligned(from);
  }
  static void store(const T& value, element* to) {
    if constexpr (plain)
      *to = value;
    else
      value.store_unaligned(to);
  }
  T at(std::size_t which, std::size_t i) const { return read(&values_[which][i]); }
  void load(T* state, std::size_t i) const {
    for (std::size_t s = 0; s < traits::state_count; ++s) state[s] = at(s + 1, i);
  }
  static T gradient_at(const numbers& gradient, std::size_t i) {
    element lane[lanes];
    for (std::size_t k = 0; k < lanes; ++k) lane[k] = static_cast<element>(gradient[i + k]);
    return read(lane);
  }

  Opt opt_;
  std::vector<std::vector<element>> values_;
};

// `exact` bounds the difference of the double path, `rounded` that of the float paths; both as a
// share of 1 + |value|. Epsilons are larger than Fluid's, so that their place in an equation shows.
template <class Opt>
void compare(const Opt& opt, const reference& expected, double rounded = 2e-5,
             double exact = 1e-12) {
  static_assert(optimizer::optimizer_type<Opt>);
  static_assert(optimizer::traits<Opt>::scalar_count == Opt::scalar_count);
  static_assert(Opt::attributes.size() + 1 == Opt::scalar_count);
  static_assert(Opt::state_slots.size() == Opt::states.size());

  machine<Opt, double> in_double(opt);
  machine<Opt, float> in_float(opt);
  machine<Opt, xsimd::batch<float>> in_batches(opt);
  numbers p(size);
  std::vector<numbers> s(Opt::states.size(), numbers(size));
  for (std::size_t i = 0; i < size; ++i) p[i] = random_number(0, i);
  for (std::size_t k = 0; k < s.size(); ++k)
    s[k].assign(size, optimizer::traits<Opt>::initial_state(opt, static_cast<int>(k)));

  for (int step = 0; step < steps; ++step) {
    numbers g(size);
    for (std::size_t i = 0; i < size; ++i) g[i] = i == 5 ? 0 : random_number(step + 1, i);
    expected(p, g, s, step + 1);
    in_double.step(g, step);
    in_float.step(g, step);
    in_batches.step(g, step);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t k = 0; k <= s.size(); ++k) {
        const double want = k == 0 ? p[i] : s[k - 1][i];
        INFO("step " << step << ", element " << i << ", value " << k);
        REQUIRE(std::isfinite(want));
        REQUIRE(std::abs(in_double.value(k, i) - want) <= exact * (1 + std::abs(want)));
        REQUIRE(std::abs(in_float.value(k, i) - want) <= rounded * (1 + std::abs(want)));
        REQUIRE(std::abs(in_batches.value(k, i) - in_float.value(k, i)) <=
                rounded * (1 + std::abs(want)));
      }
  }
  double moved = 0;
  for (std::size_t i = 0; i < size; ++i) moved += std::abs(p[i] - random_number(0, i));
  REQUIRE(moved > 1e-3 * size);
}

double length(const numbers& x) {
  double squares = 0;
  for (double v : x) squares += v * v;
  return std::sqrt(squares);
}

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

}  // namespace

TEST_CASE("sgd", "[optimizer]") {
  compare(optimizer::sgd{.learning_rate = 0.125f},
          [](numbers& p, const numbers& g, std::vector<numbers>&, int) {
            for (std::size_t i = 0; i < size; ++i) p[i] -= 0.125 * g[i];
          });
}

TEST_CASE("momentum, plain and with Nesterov's rule", "[optimizer]") {
  const double mu = 0.9f, lr = 0.05f;
  for (const bool nesterov : {false, true})
    compare(optimizer::momentum{.learning_rate = 0.05f, .momentum = 0.9f, .use_nesterov = nesterov},
            [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
              numbers& v = s[0];
              for (std::size_t i = 0; i < size; ++i) {
                v[i] = mu * v[i] + g[i];
                p[i] -= nesterov ? lr * (g[i] + mu * v[i]) : lr * v[i];
              }
            });
}

TEST_CASE("lars_momentum", "[optimizer]") {
  const double mu = 0.8f, lr = 2.f, coeff = 0.01f, decay = 0.05f;
  compare(
      optimizer::lars_momentum{
          .learning_rate = 2.f, .momentum = 0.8f, .lars_coeff = 0.01f, .lars_weight_decay = 0.05f},
      [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
        const double rate = lr * coeff * length(p) / (length(g) + decay * length(p));
        for (std::size_t i = 0; i < size; ++i) {
          s[0][i] = mu * s[0][i] + rate * (g[i] + decay * p[i]);
          p[i] -= s[0][i];
        }
      });
}

TEST_CASE("adagrad", "[optimizer]") {
  for (const float start : {0.f, 0.1f})
    compare(
        optimizer::adagrad{
            .learning_rate = 0.1f, .epsilon = 0.01f, .initial_accumulator_value = start},
        [](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
          for (std::size_t i = 0; i < size; ++i) {
            s[0][i] += g[i] * g[i];
            p[i] -= 0.1f * g[i] / (std::sqrt(s[0][i]) + 0.01f);
          }
        });
}

TEST_CASE("decayed_adagrad", "[optimizer]") {
  compare(optimizer::decayed_adagrad{.learning_rate = 0.01f, .epsilon = 0.01f},
          [](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
            for (std::size_t i = 0; i < size; ++i) {
              s[0][i] = 0.95f * s[0][i] + (1 - static_cast<double>(0.95f)) * g[i] * g[i];
              p[i] -= 0.01f * g[i] / (std::sqrt(s[0][i]) + 0.01f);
            }
          });
}

TEST_CASE("adam", "[optimizer]") {
  const double lr = 0.01f, b1 = 0.9f, b2 = 0.999f, epsilon = 0.01f;
  compare(
      optimizer::adam{.learning_rate = 0.01f, .epsilon = 0.01f},
      [=](numbers& p, const numbers& g, std::vector<numbers>& s, int t) {
        // Beta powers start at beta and are multiplied after each update.
        double power1 = b1, power2 = b2;
        for (int k = 1; k < t; ++k) power1 *= b1, power2 *= b2;
        for (std::size_t i = 0; i < size; ++i) {
          s[0][i] = b1 * s[0][i] + (1 - b1) * g[i];
          s[1][i] = b2 * s[1][i] + (1 - b2) * g[i] * g[i];
          p[i] -=
              lr * std::sqrt(1 - power2) / (1 - power1) * s[0][i] / (std::sqrt(s[1][i]) + epsilon);
        }
      },
      2e-5, 1e-7);  // the corrected rate is a float
}

TEST_CASE("adamax", "[optimizer]") {
  const double lr = 0.01f, b1 = 0.9f, b2 = 0.999f, epsilon = 0.01f;
  compare(
      optimizer::adamax{.learning_rate = 0.01f, .epsilon = 0.01f},
      [=](numbers& p, const numbers& g, std::vector<numbers>& s, int t) {
        for (std::size_t i = 0; i < size; ++i) {
          s[0][i] = b1 * s[0][i] + (1 - b1) * g[i];
          s[1][i] = std::max(std::abs(g[i]), b2 * s[1][i] + epsilon);
          p[i] -= lr / (1 - std::pow(b1, t)) * s[0][i] / s[1][i];
        }
      },
      2e-5, 1e-7);  // the corrected rate is a float
}

TEST_CASE("adadelta ignores the learning rate", "[optimizer]") {
  const double rho = 0.95f, epsilon = 1e-4f;
  for (const float rate : {1e-3f, 10.f})
    compare(optimizer::adadelta{.learning_rate = rate, .epsilon = 1e-4f},
            [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
              for (std::size_t i = 0; i < size; ++i) {
                s[0][i] = rho * s[0][i] + (1 - rho) * g[i] * g[i];
                const double delta = -std::sqrt((s[1][i] + epsilon) / (s[0][i] + epsilon)) * g[i];
                s[1][i] = rho * s[1][i] + (1 - rho) * delta * delta;
                p[i] += delta;
              }
            });
}

TEST_CASE("rmsprop, plain, with momentum and centered", "[optimizer]") {
  const double lr = 0.01f, rho = 0.95f, epsilon = 0.01f;
  for (const bool centered : {false, true})
    for (const float mu : {0.f, 0.5f})
      compare(
          optimizer::rmsprop{
              .learning_rate = 0.01f, .epsilon = 0.01f, .momentum = mu, .centered = centered},
          [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
            for (std::size_t i = 0; i < size; ++i) {
              double &mom = s[0][i], &square = s[1][i], &mean = s[2][i];
              square = rho * square + (1 - rho) * g[i] * g[i];
              if (centered) {
                mean = rho * mean + (1 - rho) * g[i];
                mom = mu * mom + lr * g[i] / std::sqrt(square - mean * mean + epsilon);
              } else {
                mom = mu * mom + lr * g[i] / std::sqrt(square + epsilon);
              }
              p[i] -= mom;
            }
          });
}

TEST_CASE("ftrl, with the root and with another power", "[optimizer]") {
  const double lr = 0.1f, l1 = 0.05f, l2 = 0.02f;
  for (const float power : {-0.5f, -0.75f})
    compare(
        optimizer::ftrl{.learning_rate = 0.1f, .l1 = 0.05f, .l2 = 0.02f, .lr_power = power},
        [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
          for (std::size_t i = 0; i < size; ++i) {
            double &n = s[0][i], &z = s[1][i];
            const double next = n + g[i] * g[i];
            z += g[i] - (std::pow(next, -power) - std::pow(n, -power)) / lr * p[i];
            n = next;
            const double y = std::pow(n, -power) / lr + 2 * l2;
            p[i] = std::abs(z) > l1 ? (sign(z) * l1 - z) / y : 0;
          }
        },
        2e-4);
}

TEST_CASE("lamb", "[optimizer]") {
  const double lr = 0.01f, decay = 0.01f, b1 = 0.9f, b2 = 0.999f, epsilon = 0.01f;
  compare(optimizer::lamb{.learning_rate = 0.01f, .epsilon = 0.01f},
          [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
            numbers u(size);
            for (std::size_t i = 0; i < size; ++i) {
              s[0][i] = b1 * s[0][i] + (1 - b1) * g[i];
              s[1][i] = b2 * s[1][i] + (1 - b2) * g[i] * g[i];
              u[i] = s[0][i] / (std::sqrt(s[1][i]) + epsilon) + decay * p[i];
            }
            const double ratio = length(p) / length(u);
            for (std::size_t i = 0; i < size; ++i) p[i] -= lr * ratio * u[i];
          });
}

TEST_CASE("proximal_gd", "[optimizer]") {
  const double lr = 0.1f, l1 = 0.2f, l2 = 0.3f;
  compare(optimizer::proximal_gd{.learning_rate = 0.1f, .l1 = 0.2f, .l2 = 0.3f},
          [=](numbers& p, const numbers& g, std::vector<numbers>&, int) {
            for (std::size_t i = 0; i < size; ++i) {
              const double z = p[i] - lr * g[i];
              p[i] = sign(z) * std::max(std::abs(z) - lr * l1, 0.0) / (1 + lr * l2);
            }
          });
}

TEST_CASE("proximal_adagrad", "[optimizer]") {
  const double lr = 0.1f, l1 = 0.02f, l2 = 0.03f;
  compare(optimizer::proximal_adagrad{.learning_rate = 0.1f, .l1 = 0.02f, .l2 = 0.03f},
          [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
            for (std::size_t i = 0; i < size; ++i) {
              s[0][i] += g[i] * g[i];
              const double z = s[0][i] > 0 ? p[i] - lr * g[i] / std::sqrt(s[0][i]) : p[i];
              p[i] = sign(z) * std::max(std::abs(z) - lr * l1, 0.0) / (1 + lr * l2);
            }
          });
}

TEST_CASE("norms of 0 leave the plain rate", "[optimizer]") {
  float param = 0.5f, velocity = 0;
  optimizer::lars_momentum::update(param, 0.f, velocity, 0.1f, 0.9f, 0.001f, 0.5f, 0.5f, 0.f);
  CHECK(velocity == Approx(0.1 * 0.5 * 0.5));
  CHECK(param == Approx(0.475));

  float weight = 0, first = 0, second = 0;
  const float u = optimizer::lamb::normed(0.f, 1.f, 0.f, 0.f, 0.1f, 0.9f, 0.999f, 1e-6f, 0.01f);
  optimizer::lamb::update(weight, 1.f, first, second, 0.1f, 0.9f, 0.999f, 1e-6f, 0.01f, 0.f, u);
  CHECK(weight == Approx(-0.1 * u));
  CHECK(first == Approx(0.1));
}

TEST_CASE("adam's first step with gradient 1 is the learning rate", "[optimizer]") {
  const optimizer::adam adam{.learning_rate = 0.02f};
  const auto s = adam.scalars(0);
  CHECK(s[0] == Approx(0.02 * std::sqrt(1 - 0.999) / (1 - 0.9)).epsilon(1e-5));
  CHECK(adam.scalars(9)[0] ==
        Approx(0.02 * std::sqrt(1 - std::pow(0.999, 10)) / (1 - std::pow(0.9, 10))).epsilon(1e-5));
  float param = 1, m = 0, v = 0;
  optimizer::adam::update(param, 1.f, m, v, s[0], s[1], s[2], s[3]);
  CHECK(param == Approx(1 - 0.02).epsilon(1e-6));
}

TEST_CASE("defaults are Fluid's", "[optimizer]") {
  CHECK(optimizer::adam{}.learning_rate.at(0) == 0.001f);
  CHECK(optimizer::adam{}.epsilon == 1e-8f);
  CHECK(optimizer::adagrad{}.epsilon == 1e-6f);
  CHECK(optimizer::adamax{}.beta2 == 0.999f);
  CHECK(optimizer::decayed_adagrad{}.decay == 0.95f);
  CHECK(optimizer::adadelta{}.rho == 0.95f);
  CHECK(optimizer::rmsprop{}.epsilon == 1e-6f);
  CHECK(optimizer::ftrl{}.lr_power == -0.5f);
  CHECK(optimizer::lamb{}.lamb_weight_decay == 0.01f);
  CHECK(optimizer::lamb{}.epsilon == 1e-6f);
  CHECK(optimizer::lars_momentum{}.lars_coeff == 0.001f);
  CHECK(optimizer::lars_momentum{}.lars_weight_decay == 0.0005f);
}

// SPDX-License-Identifier: Apache-2.0
// test/optimizer/equation_check.hpp - compares an optimizer's steps with its equation in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/core/simd/intrinsics.hpp>
#include <lamina/optimizer/rule.hpp>

namespace optimizer_check {

namespace optimizer = lamina::optimizer;

using numbers = std::vector<double>;

// Advances a whole parameter by one step: parameter, gradient, accumulators, t from 1.
using reference = std::function<void(numbers& p, const numbers& g, std::vector<numbers>& s, int t)>;

inline constexpr std::size_t size = 48;  // a multiple of every batch

inline constexpr int steps = 50;

inline double random_number(int stream, std::size_t i) {
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
// fraction of 1 + |value|. Epsilons are larger than Fluid's, so that their place in an equation
// shows.
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

inline double length(const numbers& x) {
  double squares = 0;
  for (double v : x) squares += v * v;
  return std::sqrt(squares);
}

inline double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

}  // namespace optimizer_check

// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/kept_weights_check.hpp - bodies of recurrences with weights that stay on the
// chip, compared on the host with those that read the weights at each step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/cuda/host_bodies.hpp"
#include <catch2/catch.hpp>

#include <lamina/operators/recurrent/gru/cuda.cuh>
#include <lamina/operators/recurrent/lstm/cuda.cuh>

namespace test::kept {

namespace cuda = lamina::engine::cuda;
namespace detail = lamina::engine::cuda::detail;
using lamina::recurrent_activation;

/// Rows of whole packs.
struct array {
  int rows = 0, columns = 0;
  std::vector<cuda::pack> packs;

  array() = default;
  array(int r, int c) : rows(r), columns(c), packs(static_cast<std::size_t>(r * stride() / 4)) {}
  int stride() const { return static_cast<int>(lamina::padded(columns)); }
  float* data() { return packs.empty() ? nullptr : packs.front().v; }
  detail::row_array view() { return {data(), stride()}; }
  float& at(int r, int c) { return view().row(r)[c]; }
  template <class Random>
  void fill(Random& random, float most) {
    std::uniform_real_distribution<float> number(-most, most);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) at(r, c) = number(random);
  }
  void clear() {
    for (cuda::pack& p : packs) p = cuda::filled(std::numeric_limits<float>::quiet_NaN());
  }
};

/// Whether NaN and infinities are equal, and other numbers nearly; what is between columns and
/// stride counts as well: nobody writes there.
inline bool same(const array& a, const array& b, float most = 2e-5f) {
  for (std::size_t i = 0; i < a.packs.size(); ++i)
    for (int j = 0; j < cuda::pack_width; ++j) {
      const float x = a.packs[i].v[j], y = b.packs[i].v[j];
      if (std::isnan(x) ? !std::isnan(y)
                        : x != y && !(std::abs(x - y) <= most * std::max(1.0f, std::abs(x))))
        return false;
    }
  return true;
}

/// What a case of both operators is made of.
struct options {
  int n;
  bool reverse, initial;
  bool flag;           // peepholes of an lstm, a bias and origin_mode of a gru
  bool trains = true;  // whether what the gradient needs is kept
  recurrent_activation gate = recurrent_activation::sigmoid, cell = recurrent_activation::tanh,
                       candidate = recurrent_activation::tanh;
};
inline std::string name_of(const options& o) {
  return "n " + std::to_string(o.n) + " reverse " + std::to_string(o.reverse) + " initial " +
         std::to_string(o.initial) + " flag " + std::to_string(o.flag) + " gate " +
         std::to_string(static_cast<int>(o.gate));
}

/// Sequences of no element, of one, and of some.
inline constexpr int offsets[] = {0, 3, 3, 4, 4, 11};
inline constexpr int sequences = 5, rows = 11;

/// Arrays of an lstm or a gru; `gates`: how many products there are for each state.
struct recurrence {
  options o;
  int gates;
  array x, weight, bias, h0, c0, d_hidden, d_cell;  // read
  array hidden, cell, kept, other;                  // made: other is activated or reset
  array d_gates, dh0, dc0, back;

  recurrence(const options& of, int number) : o(of), gates(number) {
    const int n = o.n;
    std::mt19937 random(7);
    const auto make = [&](array& to, int r, int c, float most) {
      to = array(r, c);
      to.fill(random, most);
    };
    make(x, rows, gates * n, 1);
    make(weight, n, gates * n, 1 / std::sqrt(static_cast<float>(n)));
    make(bias, 1, 7 * n, 1);
    make(d_hidden, rows, n, 1);
    make(d_cell, rows, n, 1);
    make(h0, sequences, n, 1);
    make(c0, sequences, n, 1);
    for (array* a : {&hidden, &cell, &other, &back}) *a = array(rows, n);
    for (array* a : {&kept, &d_gates}) *a = array(rows, gates * n);
    for (array* a : {&dh0, &dc0}) *a = array(sequences, n);
    for (array* a : results()) a->clear();
    back.clear();
  }
  std::vector<array*> results() { return {&hidden, &cell, &kept, &other, &d_gates, &dh0, &dc0}; }

  template <class Arguments>
  Arguments common() {
    Arguments a{};
    a.steps = {{offsets, sequences}, o.reverse};
    a.gate = o.gate, a.candidate = o.candidate;
    a.n = o.n;
    a.bias = bias.data();
    a.x = x.view();
    a.hidden = hidden.view();
    if (o.initial) a.h0 = h0.view();
    a.d_hidden = d_hidden.view(), a.d_gates = d_gates.view();
    if (o.initial) a.dh0 = dh0.view();
    a.rows = rows;
    a.lines = a.count = sequences;
    return a;
  }
  detail::lstm_arguments lstm(bool backward) {
    auto a = common<detail::lstm_arguments>();
    a.of_cell = o.cell;
    a.depth = o.n;
    a.weight = weight.view();
    a.peepholes = o.flag ? a.bias + 4 * o.n : nullptr;
    if (o.initial) a.c0 = c0.view();
    a.cell = cell.view();
    if (o.trains || backward) a.gates = kept.view(), a.activated = other.view();
    a.d_cell = d_cell.view(), a.back_cell = back.view();
    if (o.initial) a.dc0 = dc0.view();
    return a;
  }
  detail::gru_arguments gru() {
    auto a = common<detail::gru_arguments>();
    if (!o.flag) a.bias = nullptr;
    a.origin_mode = o.flag;
    a.weight = {weight.data(), weight.stride(), cuda::divider(3 * o.n), o.n};
    a.gates = kept.view(), a.reset = other.view();
    a.back = back.view();
    return a;
  }
};

/// The operators by lines, and with weights that are kept.
struct lstm_case {
  static constexpr int gates = 4;
  template <class Bodies>
  static void by_lines(recurrence& r) {
    Bodies::template lines<cuda::team_lines<detail::lstm_lines<false>>>(r.lstm(false));
    if (r.o.trains)
      Bodies::template lines<cuda::team_lines<detail::lstm_grad_lines<false>>>(r.lstm(true));
  }
  template <class Bodies, int States>
  static void keeping(recurrence& r) {
    Bodies::template teams<detail::kept_body<detail::kept_lstm_steps<States>>>(r.lstm(false));
    if (r.o.trains)
      Bodies::template teams<detail::kept_body<detail::kept_lstm_grad_steps<States>>>(r.lstm(true));
  }
};
struct gru_case {
  static constexpr int gates = 3;
  template <class Bodies>
  static void by_lines(recurrence& r) {
    Bodies::template lines<cuda::team_lines<detail::gru_lines>>(r.gru());
    Bodies::template lines<cuda::team_lines<detail::gru_grad_lines>>(r.gru());
  }
  template <class Bodies, int States>
  static void keeping(recurrence& r) {
    Bodies::template teams<detail::kept_body<detail::kept_gru_steps<States>>>(r.gru());
    Bodies::template teams<detail::kept_body<detail::kept_gru_grad_steps<States>>>(r.gru());
  }
};

/// Both ways from equal arrays, which `change` has changed. Few states also in the larger shape.
template <class Case, int Threads, class Change>
void compare(const options& o, const Change& change) {
  INFO(name_of(o));
  using bodies = cuda::host_bodies<Threads>;
  const auto made = [&] {
    recurrence r(o, Case::gates);
    change(r);
    return r;
  };
  recurrence expected = made();
  Case::template by_lines<cuda::host_bodies<1>>(expected);
  const auto check = [&](recurrence& found) {
    const auto a = expected.results(), b = found.results();
    for (std::size_t i = 0; i < a.size(); ++i) {
      INFO("result " << i);
      CHECK(same(*a[i], *b[i]));
    }
  };
  recurrence by_128 = made();
  Case::template keeping<bodies, 128>(by_128);
  check(by_128);
  if (o.n > 64) return;
  recurrence by_64 = made();
  Case::template keeping<bodies, 64>(by_64);
  check(by_64);
}
template <class Case, int Threads>
void compare(const options& o) {
  compare<Case, Threads>(o, [](recurrence&) {});
}

}  // namespace test::kept

// SPDX-License-Identifier: Apache-2.0
// test/program/user_operators.hpp - operators of a user, with the facts of each.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include <lamina/lamina.hpp>
#include <lamina/model/evaluation/loops_on_threads.hpp>

namespace user_operators {

namespace layer = lamina::layer;
using lamina::operator_definition;

inline std::atomic<int> calls, most_rows;

inline std::atomic<bool> in_place;

struct twice : operator_definition {
  static constexpr const char* type = "twice";
  static constexpr auto inputs = lamina::slots_x;
  static constexpr auto outputs = lamina::slots_out;
};

struct twice_by_row : twice {
  static constexpr const char* type = "twice_by_row";
  static constexpr auto rows = lamina::row_rule::independent;
};

struct same : twice {
  static constexpr const char* type = "same";
};

struct same_alias : twice {
  static constexpr const char* type = "same_alias";
  static constexpr int alias = 0;
};

/// What all kernels below do, and what they note.
template <class Op>
struct copying_kernel {
  template <class Real = float>
  static void run(const lamina::engine::cpu::call_context& c) {
    const lamina::engine::cpu::operand x = c.input(0), y = c.output(0);
    ++calls;
    for (int most = most_rows; most < x.rows && !most_rows.compare_exchange_weak(most, x.rows);) {
    }
    if (x.data == y.data) in_place = true;
    for (int r = 0; r < x.rows; ++r)
      for (int j = 0; j < x.columns; ++j) y.row<Real>(r)[j] = Op::of(x.row<const Real>(r)[j]);
  }
};
struct doubled {
  static float of(float x) { return 2 * x; }
};
struct unchanged {
  static float of(float x) { return x; }
};

}  // namespace user_operators

namespace lamina::engine::cpu {

template <>
struct call_kernel<user_operators::twice>
    : user_operators::copying_kernel<user_operators::doubled> {};
template <>
struct call_kernel<user_operators::twice_by_row>
    : user_operators::copying_kernel<user_operators::doubled> {};
template <>
struct call_kernel<user_operators::same>
    : user_operators::copying_kernel<user_operators::unchanged> {};
template <>
struct call_kernel<user_operators::same_alias>
    : user_operators::copying_kernel<user_operators::unchanged> {};

}  // namespace lamina::engine::cpu

namespace user_operators {

template <class Op>
constexpr auto calling = lamina::program([](lamina::block& main) {
  auto h = layer::fc<64>(layer::data<"x", float, 8>(main));
  auto y = layer::detail::same_shape<Op>(h, "own", "");
  return layer::fc<3>(y, {.name = "output"});
});

/// What a run on three threads computes.
template <class Op>
std::vector<float> on_threads(int rows) {
  const lamina::model m{calling<Op>, 3};
  lamina::worker_pool pool(3);
  lamina::evaluator e{m};
  lamina::loops_on_threads loops(e, pool);
  std::vector<float> x(static_cast<std::size_t>(rows) * 8);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  calls = most_rows = 0;
  in_place = false;
  e.forward(lamina::feed<"x">(x));
  const auto y = e.template activation<"output">();
  return {y.begin(), y.end()};
}

}  // namespace user_operators

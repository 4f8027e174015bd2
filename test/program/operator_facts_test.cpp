// SPDX-License-Identifier: Apache-2.0
// Facts about operators of a user reach threads, memory and gradients.
#include <atomic>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cuda/schedule/host_operators.hpp>
#include <lamina/lamina.hpp>
#include <lamina/model/loops_on_threads.hpp>

namespace layer = lamina::layer;
using lamina::operator_definition;

namespace {

std::atomic<int> calls, most_rows;

std::atomic<bool> in_place;

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

struct product : operator_definition {
  static constexpr const char* type = "product";
  static constexpr auto inputs = lamina::slots_xy;
  static constexpr auto outputs = lamina::slots_out;
  static constexpr std::array<lamina::attribute_desc, 1> attributes{
      {{"transpose_X", lamina::attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr auto products = lamina::product_rule::matmul;
};

/// Reads its second operand on the host, and so does its gradient, whose first one that is.
struct row_of : operator_definition {
  static constexpr const char* type = "row_of";
  static constexpr auto inputs = lamina::slots_xy;
  static constexpr auto outputs = lamina::slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 2;
  static constexpr std::uint32_t host_inputs = 2;
  static constexpr auto host = lamina::host_rule::inputs;
};

}  // namespace

namespace lamina::engine::cpu {

template <class Op>
struct copying_kernel {
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), y = c.output(0);
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
template <>
struct call_kernel<twice> : copying_kernel<doubled> {};
template <>
struct call_kernel<twice_by_row> : copying_kernel<doubled> {};
template <>
struct call_kernel<same> : copying_kernel<unchanged> {};
template <>
struct call_kernel<same_alias> : copying_kernel<unchanged> {};

}  // namespace lamina::engine::cpu

namespace {

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

}  // namespace

TEST_CASE("threads share the rows of an operator of a user's own that computes each by itself",
          "[threads]") {
  const int rows = 1001;
  const std::vector<float> whole = on_threads<twice>(rows);
  CHECK(calls == 1);
  CHECK(most_rows == rows);
  const std::vector<float> parts = on_threads<twice_by_row>(rows);
  CHECK(calls == 3);
  CHECK(most_rows < rows / 2);
  CHECK(parts == whole);
  REQUIRE(whole.size() == static_cast<std::size_t>(rows) * 3);
}

TEST_CASE("an operator of a user's own whose result has its operand's elements shares its memory") {
  const std::vector<float> copied = on_threads<same>(5);
  CHECK_FALSE(in_place);
  CHECK(on_threads<same_alias>(5) == copied);
  CHECK(in_place);
}

TEST_CASE("gradients have the facts that follow from those of their operators") {
  using gradient = lamina::gradient_of<row_of>;
  CHECK(lamina::schema_of<gradient>().facts.host_inputs == 1);
  CHECK(lamina::schema_of<gradient>().facts.host == lamina::host_rule::never);
  CHECK(lamina::schema_of<gradient>().facts.rows == lamina::row_rule::mixed);
  CHECK(lamina::schema_of<lamina::gradient_of<product>>().facts.products ==
        lamina::product_rule::matmul);
  using lamina::engine::cuda::is_taken_by_host;
  CHECK(is_taken_by_host(&lamina::schema_of<row_of>(), 1));
  CHECK_FALSE(is_taken_by_host(&lamina::schema_of<row_of>(), 0));
  CHECK(is_taken_by_host(&lamina::schema_of<gradient>(), 0));
  CHECK(lamina::engine::cuda::may_be_of_host(&lamina::schema_of<row_of>()));
  CHECK_FALSE(lamina::engine::cuda::may_be_of_host(&lamina::schema_of<twice>()));
}

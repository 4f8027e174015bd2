// SPDX-License-Identifier: Apache-2.0
// Costs that a user's operators make of rows are known as sums or means.
#include <type_traits>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/plan/rows_behind.hpp>

namespace layer = lamina::layer;
using lamina::operator_definition;

namespace {

struct twice : operator_definition {
  static constexpr const char* type = "twice";
  static constexpr auto inputs = lamina::slots_x;
  static constexpr auto outputs = lamina::slots_out;
};

struct total : twice {
  static constexpr const char* type = "total";
};

struct total_of_rows : twice {
  static constexpr const char* type = "total_of_rows";
  static constexpr auto reduces = lamina::row_reduction::sum;
};

struct mean_of_rows : twice {
  static constexpr const char* type = "mean_of_rows";
  static constexpr auto reduces = lamina::row_reduction::mean;
};

struct scaled : twice {
  static constexpr const char* type = "scaled";
  static constexpr auto linear = lamina::linearity::linear;
};

struct bent : twice {
  static constexpr const char* type = "bent";
  static constexpr auto linear = lamina::linearity::nonlinear;
};

template <class Op>
constexpr auto one_number(lamina::variable<float, lamina::batch, 8> x) {
  layer::layer_helper helper(*x.builder, Op::type, {});
  const auto y = helper.template output<lamina::variable<float, lamina::once, 1>>();
  x.builder->add_operator(lamina::schema_of<Op>(), {x.id}, {y.id});
  return helper.returns(y);
}

template <class Reduction, class... After>
constexpr auto costing = lamina::program([](lamina::block& main) {
  auto cost = one_number<Reduction>(layer::data<"x", float, 8>(main));
  ((cost = layer::detail::same_shape<After>(cost, "own", "")), ...);
  return cost;
});

template <class... Op>
constexpr lamina::parts_rule rule_of() {
  using program = std::remove_const_t<decltype(costing<Op...>)>;
  return lamina::parts_rule_of(program::desc, program::desc.cost);
}

}  // namespace

TEST_CASE("a cost that operators of a user's own make of rows is known as a sum or a mean") {
  CHECK_FALSE(rule_of<total>().is_sum);
  CHECK_FALSE(rule_of<total>().fits);
  CHECK(rule_of<total_of_rows>().is_sum);
  CHECK(rule_of<total_of_rows, scaled>().is_sum);
  CHECK_FALSE(rule_of<total_of_rows, twice>().is_sum);
  CHECK_FALSE(rule_of<total_of_rows, twice>().fits);
  CHECK_FALSE(rule_of<total_of_rows, bent>().fits);
  CHECK_FALSE(rule_of<mean_of_rows>().is_sum);
  CHECK_FALSE(rule_of<mean_of_rows, bent>().fits);
  CHECK_FALSE(rule_of<mean_of_rows, twice>().fits);
  CHECK(rule_of<mean_of_rows, scaled>().fits);
}

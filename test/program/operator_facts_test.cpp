// SPDX-License-Identifier: Apache-2.0
// Facts about operators of a user reach the schema and the gradient.
#include <array>
#include <cstdint>

#include "program/user_operators.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/schedule/host_values.hpp>
#include <lamina/program/operator_facts.hpp>

using lamina::operator_definition;
using user_operators::twice;

namespace {

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

// SPDX-License-Identifier: Apache-2.0
// bound_call: the members of a kernel hold the operands and attributes of a call.
#include <type_traits>

#include <catch2/catch.hpp>

#include <lamina/engine/common/bound_call.hpp>
#include <lamina/operators/norm/lrn/definition.hpp>

namespace {

using lamina::engine::bind_call;
using lamina::engine::bound_call;
using lamina::engine::real_rows;

struct shape_call : bound_call<> {
  real_rows<const float> x = input(0);
  int columns = input(0).columns;
};
struct lrn_kernel : shape_call {
  real_rows<float> y = output(0), middle = output(1);
  int n = integer(0), count = columns * n;
  float k = real(1);
};

}  // namespace

TEST_CASE("the members of a kernel hold operands and attributes, an absent operand is null") {
  float x[6] = {0, 1, 2, 3, 4, 5}, y[6] = {};
  float* const arguments[] = {x, y, nullptr};
  const int dims[] = {-1, 2};
  lamina::engine::argument_info info[3];
  for (auto& i : info) i = {2, 2, 3, lamina::dtype::float32, false, false, 0, 2};
  lamina::program_view program{};
  program.dims = dims;
  const lamina::engine::operator_call c(
      program, arguments, info, &lamina::schema_of<lamina::operators::lrn>(), nullptr, nullptr);

  const auto kernel = bind_call<lrn_kernel>(c);
  CHECK(kernel.call == nullptr);
  CHECK(kernel.x.row(1)[1] == 4);
  CHECK(kernel.y.row(0) == y);
  CHECK(!kernel.middle);
  CHECK(kernel.n == 5);  // the default of the operator's definition
  CHECK(kernel.k == 2);
  CHECK(kernel.count == 10);
  STATIC_REQUIRE(std::is_trivially_copyable_v<lrn_kernel>);
  CHECK(has_output(c));

  float* const unused[] = {x, nullptr, nullptr};
  const lamina::engine::operator_call none(
      program, unused, info, &lamina::schema_of<lamina::operators::lrn>(), nullptr, nullptr);
  CHECK(!has_output(none));
}

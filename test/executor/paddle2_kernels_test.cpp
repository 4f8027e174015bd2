// SPDX-License-Identifier: Apache-2.0
// Operators that PaddlePaddle 2 records, and attributes that lamina knows one value of.

#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/executor/paddle2_kernels.hpp>
#include <lamina/io/loaded_program.hpp>

using Catch::Contains;
using lamina::attribute_type;
using lamina::lod_tensor;
using lamina::tensor;

namespace {

lamina::variable_message variable(const std::string& name, std::vector<std::int64_t> dims,
                                  lamina::dtype type = lamina::dtype::float32) {
  lamina::variable_message v;
  v.name = name;
  v.dims = std::move(dims);
  v.type = type;
  return v;
}

lamina::attribute_message number(const std::string& name, int value,
                                 attribute_type type = attribute_type::integer) {
  lamina::attribute_message a;
  a.name = name;
  a.type = type;
  a.integer = value;
  return a;
}

lod_tensor run(const lamina::program_message& p, const lamina::feed_map& feed) {
  lamina::executor executor;
  lamina::scope scope;
  return executor.run(lamina::loaded_program(p), scope, feed, std::vector<std::string>{"out"})
      .at(0);
}

tensor counted(lamina::tensor_shape shape) {
  std::vector<float> values;
  for (std::size_t i = 0; i < lamina::size_of(shape); ++i) values.push_back(static_cast<float>(i));
  return tensor(shape, values);
}

}  // namespace

TEST_CASE("later operators: matmul_v2 transposes as matmul does") {
  lamina::program_message p;
  lamina::block_message& b = p.blocks.emplace_back();
  b.variables = {variable("x", {-1, 2, 3}), variable("out", {-1, 2, 2})};
  lamina::operator_message& op = b.operators.emplace_back();
  op.type = "matmul_v2";
  op.inputs = {{"X", {"x"}}, {"Y", {"x"}}};
  op.outputs = {{"Out", {"out"}}};
  op.attributes = {number("trans_x", 0, attribute_type::boolean),
                   number("trans_y", 1, attribute_type::boolean)};
  const lod_tensor out = run(p, {{"x", counted({1, 2, 3})}});
  CHECK(out.shape() == lamina::tensor_shape{1, 2, 2});
  const auto& found = out.as<float>();
  CHECK(std::vector<float>(found.begin(), found.end()) == std::vector<float>{5, 14, 14, 50});
}

TEST_CASE("later operators: expand_v2 broadcasts to a shape of a run") {
  lamina::program_message p;
  lamina::block_message& b = p.blocks.emplace_back();
  b.variables = {variable("x", {-1, 1}), variable("shape", {-1}, lamina::dtype::int64),
                 variable("out", {-1, -1, -1})};
  lamina::operator_message& op = b.operators.emplace_back();
  op.type = "expand_v2";
  op.inputs = {{"X", {"x"}}, {"Shape", {"shape"}}};
  op.outputs = {{"Out", {"out"}}};
  const auto expanded = [&](const std::vector<std::int64_t>& shape) {
    return run(p, {{"x", counted({2, 1})}, {"shape", tensor({shape.size()}, shape)}});
  };
  const lod_tensor out = expanded({2, 1, 3});
  CHECK(out.shape() == lamina::tensor_shape{2, 2, 3});
  const auto& found = out.as<float>();
  CHECK(std::vector<float>(found.begin(), found.end()) ==
        std::vector<float>{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  CHECK(expanded({-1, 4}).shape() == lamina::tensor_shape{2, 4});
  CHECK(expanded({3}).shape() == lamina::tensor_shape{2, 3});
  CHECK_THROWS_WITH(expanded({3, 1}), Contains("[2, 1] can be broadcast, found [3, 1]"));
}

TEST_CASE("later operators: strided_slice walks in both directions") {
  lamina::program_message p;
  lamina::block_message& b = p.blocks.emplace_back();
  b.variables = {variable("x", {-1}), variable("ends", {1}, lamina::dtype::int64),
                 variable("out", {-1})};
  lamina::operator_message& op = b.operators.emplace_back();
  op.type = "strided_slice";
  op.outputs = {{"Out", {"out"}}};
  const auto list = [](const char* name, std::int64_t value) {
    lamina::attribute_message a;
    a.name = name;
    a.type = attribute_type::integers;
    a.integers = {value};
    return a;
  };
  const auto sliced = [&](std::int64_t start, std::int64_t end, std::int64_t stride,
                          bool of_a_run = false) {
    op.inputs = {{"Input", {"x"}}};
    if (of_a_run) op.inputs.push_back({"EndsTensor", {"ends"}});
    op.attributes = {list("axes", 0), list("starts", start), list("ends", of_a_run ? 0 : end),
                     list("strides", stride)};
    lamina::feed_map feed{{"x", counted({6})}};
    if (of_a_run) feed["ends"] = tensor({1}, std::vector<std::int64_t>{end});
    const lod_tensor out = run(p, feed);
    const auto& found = out.as<float>();
    return std::vector<float>(found.begin(), found.end());
  };
  using floats = std::vector<float>;
  CHECK(sliced(1, 100, 2) == floats{1, 3, 5});
  CHECK(sliced(-1, -100, -2) == floats{5, 3, 1});
  CHECK(sliced(4, 0, -3) == floats{4, 1});
  CHECK(sliced(-3, -1, 1) == floats{3, 4});
  CHECK(sliced(2, -1, 1, true) == floats{2, 3, 4});
  CHECK(sliced(0, 4, 3, true) == floats{0, 3});
  CHECK(sliced(4, 2, 1).empty());
  CHECK_THROWS_WITH(sliced(0, 1, 0), Contains("strides that are not 0"));
}

TEST_CASE("later operators: reshape2 takes its shape from a run") {
  lamina::program_message p;
  lamina::block_message& b = p.blocks.emplace_back();
  b.variables = {variable("x", {-1, -1}), variable("wanted", {-1}, lamina::dtype::int64),
                 variable("out", {-1, -1}), variable("shape", {0, -1, -1})};
  lamina::operator_message& op = b.operators.emplace_back();
  op.type = "reshape2";
  op.inputs = {{"X", {"x"}}, {"Shape", {"wanted"}}};
  op.outputs = {{"Out", {"out"}}, {"XShape", {"shape"}}};
  const auto reshaped = [&](const std::vector<std::int64_t>& shape) {
    return run(p, {{"x", counted({4, 3})}, {"wanted", tensor({shape.size()}, shape)}}).shape();
  };
  CHECK(reshaped({3, 4}) == lamina::tensor_shape{3, 4});
  CHECK(reshaped({0, -1, 1}) == lamina::tensor_shape{4, 3, 1});
  CHECK_THROWS_WITH(reshaped({5, 2}), Contains("expected a shape of 12 elements"));
}

TEST_CASE("later operators: lookup_table_v2 and flatten_contiguous_range") {
  lamina::program_message p;
  lamina::block_message& b = p.blocks.emplace_back();
  b.variables = {variable("table", {5, 2}), variable("ids", {-1, 3}, lamina::dtype::int64),
                 variable("rows", {-1, 3, 2}), variable("out", {-1, 6}),
                 variable("shape", {0, -1, 3, 2})};
  lamina::operator_message op;
  op.type = "lookup_table_v2";
  op.inputs = {{"W", {"table"}}, {"Ids", {"ids"}}};
  op.outputs = {{"Out", {"rows"}}};
  op.attributes = {number("padding_idx", 4, attribute_type::long_integer)};
  b.operators.push_back(op);
  op.type = "flatten_contiguous_range";
  op.inputs = {{"X", {"rows"}}};
  op.outputs = {{"Out", {"out"}}, {"XShape", {"shape"}}};
  op.attributes = {number("start_axis", 1), number("stop_axis", 2)};
  b.operators.push_back(op);
  const lod_tensor out = run(
      p, {{"table", counted({5, 2})}, {"ids", tensor({1, 3}, std::vector<std::int64_t>{1, 4, 0})}});
  CHECK(out.shape() == lamina::tensor_shape{1, 6});
  const auto& found = out.as<float>();
  CHECK(std::vector<float>(found.begin(), found.end()) == std::vector<float>{2, 3, 0, 0, 0, 1});
  b.operators[1].attributes[0].integer = 3;
  CHECK_THROWS_WITH(run(p, {{"table", counted({5, 2})},
                            {"ids", tensor({1, 3}, std::vector<std::int64_t>{1, 4, 0})}}),
                    Contains("flatten_contiguous_range"));
}

TEST_CASE("later operators: an attribute that means something else is refused") {
  lamina::program_message p;
  lamina::block_message& b = p.blocks.emplace_back();
  b.variables = {variable("x", {-1, 2}), variable("out", {-1, 2})};
  lamina::operator_message& op = b.operators.emplace_back();
  op.type = "softplus";
  op.inputs = {{"X", {"x"}}};
  op.outputs = {{"Out", {"out"}}};
  lamina::attribute_message beta;
  beta.name = "beta";
  beta.type = attribute_type::real;
  beta.real = 1;
  op.attributes = {beta};
  CHECK(run(p, {{"x", counted({1, 2})}}).size() == 2);
  op.attributes[0].real = 2;
  CHECK_THROWS_WITH(lamina::loaded_program(p),
                    Contains("expected the default of attribute 'beta'") && Contains("'softplus'"));
}

// SPDX-License-Identifier: Apache-2.0
// onnx_einsum: sums of products compared with loops over all indices, and wrong equations.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using Catch::Contains;
using namespace model_runs;

namespace {

using extents = std::vector<std::int64_t>;

/// The sum by its definition; equations without spaces and "...".
std::vector<float> by_loops(const std::vector<std::string>& operands, const std::string& out,
                            const std::map<char, std::int64_t>& sizes,
                            const std::vector<tensor>& values) {
  std::map<char, std::int64_t> at;
  for (const auto& [c, size] : sizes) at[c] = 0;
  const auto place = [&](const std::string& letters) {
    std::int64_t flat = 0;
    for (const char c : letters) flat = flat * sizes.at(c) + at[c];
    return static_cast<std::size_t>(flat);
  };
  std::int64_t size = 1;
  for (const char c : out) size *= sizes.at(c);
  std::vector<float> sum(static_cast<std::size_t>(size), 0);
  for (bool more = true; more;) {
    float product = 1;
    for (std::size_t i = 0; i < operands.size(); ++i)
      product *= values[i].as<float>().flat(place(operands[i]));
    sum[place(out)] += product;
    more = false;
    for (auto& [c, i] : at) {
      more = ++i < sizes.at(c);
      if (more) break;
      i = 0;
    }
  }
  return sum;
}

tensor counted(const extents& dims) {
  tensor_shape shape(dims.begin(), dims.end());
  std::vector<float> all;
  for (std::size_t i = 0; i < lamina::size_of(shape); ++i)
    all.push_back(static_cast<float>(i * 7 % 11) - 4);
  return tensor(shape, all);
}

/// The result of an equation for operands of some dimensions; `unknown`: the first dimension of
/// each operand is known during the run only.
std::vector<lamina::lod_tensor> einsum(const std::string& equation,
                                       const std::vector<extents>& dims, bool unknown = false) {
  model m({}, {any("y")});
  std::vector<std::string> names;
  lamina::feed_map feed;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    names.push_back("x" + std::to_string(i));
    extents stated = dims[i];
    if (unknown && !stated.empty()) stated[0] = -1;
    m.graph.inputs.push_back(value(names.back().c_str(), stated));
    feed[names.back()] = dims[i].empty() ? floats({1}, {3}) : counted(dims[i]);
  }
  m.node("Einsum", names, {"y"}, {{"equation", equation}});
  return m.run(feed);
}
std::string failure(const std::string& equation, const std::vector<extents>& dims) {
  try {
    (void)einsum(equation, dims);
  } catch (const lamina::format_error& e) {
    return e.what();
  }
  return "loaded";
}

}  // namespace

TEST_CASE("onnx_einsum: products are what loops over all indices give") {
  const std::map<char, std::int64_t> sizes{{'b', 2}, {'i', 3}, {'j', 4}, {'k', 2}};
  for (const std::string equation :
       {"bij,bjk->bik", "bi,ij->bj", "bij->bji", "ij,jk->", "i,j->ij", "bij,bij->b", "bij,kj->bki",
        "bi,bj,jk->bik", "bik,kj,bi->j", "i->i", "bij->", "bij,j->ib", "bij,bijk->bik",
        "bik,bjk->bijk", "bij,bik->bijk"}) {
    const std::size_t arrow = equation.find("->");
    std::vector<std::string> operands{""};
    for (const char c : equation.substr(0, arrow))
      if (c == ',')
        operands.emplace_back();
      else
        operands.back() += c;
    std::vector<extents> dims;
    std::vector<tensor> values;
    std::map<char, std::int64_t> used;
    for (const std::string& letters : operands) {
      extents& of = dims.emplace_back();
      for (const char c : letters) of.push_back(used[c] = sizes.at(c));
      values.push_back(counted(of));
    }
    const std::vector<float> expected =
        by_loops(operands, equation.substr(arrow + 2), used, values);
    INFO(equation);
    CHECK(numbers(einsum(equation, dims)[0]) == expected);
    if (operands[0][0] == 'b') {
      bool first = true;
      for (const std::string& letters : operands) first = first && letters[0] == 'b';
      if (first) CHECK(numbers(einsum(equation, dims, true)[0]) == expected);
    }
  }
}

TEST_CASE("onnx_einsum: dots, diagonals, scalars, and results that are not stated") {
  const auto outer = einsum("...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 2}});
  CHECK(outer[0].shape() == tensor_shape{2, 5, 3, 2});
  const auto same = einsum("baij,bajk->baik", {{2, 1, 3, 4}, {1, 5, 4, 2}});
  CHECK(same[0].shape() == tensor_shape{2, 5, 3, 2});
  CHECK(numbers(einsum("ii->i", {{3, 3}})[0]) == std::vector<float>{-4, 2, -3});
  CHECK(numbers(einsum("ii", {{3, 3}})[0]) == std::vector<float>{-5});
  CHECK(einsum("...iji->...j", {{2, 3, 4, 3}})[0].shape() == tensor_shape{2, 4});
  CHECK(einsum("ba", {{2, 3}})[0].shape() == tensor_shape{3, 2});
  CHECK(einsum(" j i , j k ", {{2, 3}, {2, 4}})[0].shape() == tensor_shape{3, 4});
  CHECK(numbers(einsum(",->", {{}, {}})[0]) == std::vector<float>{9});
}

TEST_CASE("onnx_einsum: wrong equations are errors that name the node") {
  CHECK_THAT(failure("ij,jk->ik", {{2, 3}}), Contains("node 'y' of operator Einsum: expected an "
                                                      "equation such as"));
  CHECK_THAT(failure("ij->ij", {{2, 3}, {2, 3}}), Contains("for 2 operands"));
  CHECK_THAT(failure("ij,jk->ik", {{2, 3}, {4, 3}}), Contains("one extent for each letter"));
  CHECK_THAT(failure("ijk->i", {{2, 3}}), Contains("a letter of 'ijk->i' for each dimension"));
  CHECK_THAT(failure("ij->ik", {{2, 3}}), Contains("each index of the result"));
  CHECK_THAT(failure("ij->ii", {{2, 3}}), Contains("expected an equation"));
  CHECK_THAT(failure("ii->i", {{2, 3}}), Contains("one extent for a letter that repeats"));
  CHECK_THAT(failure("i1->i", {{2, 3}}), Contains("expected an equation"));
  CHECK_THAT(failure("...ijk->i", {{2, 3}}), Contains("expected an equation"));
  CHECK_THAT(failure("", {{2, 3}}), Contains("a letter of '' for each dimension"));
  CHECK_THAT(failure("i..j->i", {{2, 3}}), Contains("expected an equation"));
}

// SPDX-License-Identifier: Apache-2.0
// lod_tensor: made from ragged data, cut and merged.

#include <catch2/catch.hpp>

#include <lamina/tensor/lod_tensor.hpp>

using Catch::Contains;
using lamina::lod;
using lamina::lod_tensor;
using lamina::tensor;

using levels = std::vector<lod::level>;

namespace {

std::vector<std::int64_t> elements(const tensor& t) {
  const auto a = t.cast<std::int64_t>();
  return {a.begin(), a.end()};
}

lod_tensor documents() {
  return lamina::nested_sequences<std::int64_t>({{{1, 2}, {}, {3}}, {}, {{4, 5, 6}}});
}

}  // namespace

TEST_CASE("ragged vectors become one array and its sequences") {
  const lod_tensor t = lamina::sequences<std::int64_t>({{3, 1}, {}, {4}});
  CHECK(t.shape() == lamina::tensor_shape{3, 1});
  CHECK(t.type() == lamina::dtype::int64);
  CHECK(elements(t) == std::vector<std::int64_t>{3, 1, 4});
  CHECK(t.recursive_sequence_lengths() == levels{{2, 0, 1}});
  const std::vector<std::vector<std::array<float, 2>>> pairs{{{1, 2}}, {{3, 4}, {5, 6}}};
  const lod_tensor wide = lamina::sequences(pairs);
  CHECK(wide.shape() == lamina::tensor_shape{3, 2});
  CHECK(wide.as<float>()(2, 0) == 5);
  CHECK(documents().recursive_sequence_lengths() == levels{{3, 0, 1}, {2, 0, 1, 3}});
  CHECK(elements(documents()) == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
  const lod_tensor nothing = lamina::sequences<float>({{}, {}});
  CHECK(nothing.shape() == lamina::tensor_shape{0, 1});
  CHECK(nothing.lod().sequences() == 2);
}

TEST_CASE("create_lod_tensor checks lengths") {
  const std::vector<std::vector<std::int64_t>> lists{{1, 2}, {3}};
  CHECK(lamina::create_lod_tensor(lists, {{2, 1}}).lod() == lod::from_lengths({{2, 1}}));
  CHECK_THROWS_WITH(lamina::create_lod_tensor(lists, {{1, 2}}),
                    Contains("expected sequences of lengths [[1, 2]], found [[2, 1]]"));
  const tensor rows({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(lamina::create_lod_tensor(rows, {{2}, {1, 2}}).lod().levels() == 2);
  CHECK_THROWS_WITH(
      lamina::create_lod_tensor(rows, {{2, 2}}),
      Contains("expected 4 rows for sequences of lengths [[2, 2]]") && Contains("[3, 2]"));
  CHECK_THROWS_WITH(lamina::create_lod_tensor(lamina::tensor(), {{1}}), Contains("never assigned"));
  lod_tensor t = rows;
  CHECK(t.lod().empty());
  t.set_lod(lod::from_lengths({{0, 3}}));
  CHECK(t.lod().length(1) == 3);
  t = rows;
  CHECK(t.lod().empty());
}

TEST_CASE("random sequences lie in their range and depend on the seed alone") {
  const lod_tensor a = lamina::create_random_int_lod_tensor({{2}, {1, 5}}, {2}, -1, 1, 7);
  CHECK(a.shape() == lamina::tensor_shape{6, 2});
  CHECK(a.lod() == lod::from_lengths({{2}, {1, 5}}));
  bool low = false, high = false;
  for (const std::int64_t x : elements(a)) {
    CHECK((x >= -1 && x <= 1));
    low = low || x == -1;
    high = high || x == 1;
  }
  CHECK((low && high));
  CHECK(elements(a) ==
        elements(lamina::create_random_int_lod_tensor({{2}, {1, 5}}, {2}, -1, 1, 7)));
  CHECK_THROWS_WITH(lamina::create_random_int_lod_tensor({}, {1}, 0, 1), Contains("0 levels"));
  CHECK_THROWS_WITH(lamina::create_random_int_lod_tensor({{1}}, {1}, 2, 1), Contains("2 to 1"));
}

TEST_CASE("a lod_tensor is cut and merged between its outermost sequences") {
  const lod_tensor t = documents();
  const lod_tensor part = t.slice(1, 3);
  CHECK(part.recursive_sequence_lengths() == levels{{0, 1}, {3}});
  CHECK(elements(part) == std::vector<std::int64_t>{4, 5, 6});
  for (const std::size_t n : {1, 2, 3, 9}) {
    const std::vector<lod_tensor> parts = t.split(n);
    CHECK(parts.size() == std::min<std::size_t>(n, 3));
    const lod_tensor whole = lod_tensor::merge(parts);
    CHECK(whole.lod() == t.lod());
    CHECK(elements(whole) == elements(t));
    CHECK(whole.shape() == t.shape());
  }
  const lod_tensor plain = tensor({5, 1}, std::vector<float>{1, 2, 3, 4, 5});
  CHECK(plain.split(2)[1].shape() == lamina::tensor_shape{3, 1});
  CHECK(elements(lod_tensor::merge(plain.split(2))) == elements(plain));
}

TEST_CASE("parts that do not fit are not merged, rows that are not there not cut") {
  const lod_tensor t = documents();
  CHECK_THROWS_WITH(lod_tensor::merge({}), Contains("found none"));
  CHECK_THROWS_WITH(lod_tensor::merge({t, lamina::sequences<std::int64_t>({{1}})}),
                    Contains("expected 2 levels"));
  CHECK_THROWS_WITH(lod_tensor::merge({t, lamina::nested_sequences<float>({{{1}}})}),
                    Contains("int64 rows") && Contains("float32 [1, 1]"));
  CHECK_THROWS_WITH(t.slice(2, 4), Contains("a part of 3 sequences"));
  CHECK_THROWS_WITH(t.split(0), Contains("found 0"));
  const lod_tensor plain = tensor({2}, std::vector<float>{1, 2});
  CHECK_THROWS_WITH(plain.slice(1, 3), Contains("a part of the rows of [2], found [1, 3)"));
}

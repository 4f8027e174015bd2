// SPDX-License-Identifier: Apache-2.0
// sequence_pad, sequence_unpad and sequence_mask: values by hand, gradients, the engine.

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::lod;
using lamina::lod_tensor;
using lamina::tensor;

using numbers = std::vector<double>;

namespace {

using pair = std::array<float, 2>;

constexpr auto padded = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto [y, length] = layer::sequence_pad<3>(x, -1);
  static_assert(__is_same(decltype(y), lamina::variable<float, lamina::batch, 3, 2>));
  return std::tuple{y, length};
});

constexpr auto padded_by_row = lamina::program([](block& main) {
  auto x = layer::sequence<"x", std::int64_t>(main);
  return layer::sequence_pad<2>(x, layer::fill_constant<std::int64_t>(main, 9));
});

constexpr auto there_and_back = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto [y, length] = layer::sequence_pad<5>(x, 7);
  auto back = layer::sequence_unpad<"back">(y, length);
  static_assert(__is_same(decltype(back), lamina::variable<float, lamina::tokens<"back">, 2>));
  return std::tuple{back, layer::sequence_pool(back)};
});

constexpr auto nested = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", float, 2>(main);
  auto [y, length] = layer::sequence_pad<2>(x, 0);
  return std::tuple{y, length, layer::sequence_unpad<"again">(y, length)};
});

constexpr auto unpadded = lamina::program([](block& main) {
  auto x = layer::data<"x", std::int64_t, 3>(main);
  auto length = layer::data<"length", std::int64_t>(main);
  return layer::sequence_unpad<"kept">(x, length);
});

constexpr auto masks = lamina::program([](block& main) {
  auto x = layer::data<"x", std::int64_t>(main);
  return std::tuple{layer::sequence_mask<3>(x), layer::sequence_mask<2, float>(x)};
});

// Fluid's default, the longest of the batch: a shape that only a program recorded by hand has.
constexpr auto longest = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto pad = layer::fill_constant<float, 2>(main, 4);
  lamina::program_builder& b = *main.builder;
  layer::layer_helper helper(b, "longest");
  lamina::variable<float, lamina::batch, 1, 2> y{
      &b, helper.output(b.shape(-1, -1, 2), 3, lamina::batch::domain, lamina::dtype::float32)};
  const auto length = helper.output<lamina::variable<std::int64_t, lamina::batch>>();
  b.add_operator(lamina::schema_of<lamina::operators::sequence_pad>(), {x.id, pad.id},
                 {y.id, length.id});
  lamina::variable<std::int64_t, lamina::batch, 1> mask{
      &b, helper.output(b.shape(-1, -1), 2, lamina::batch::domain, lamina::dtype::int64)};
  b.add_operator(lamina::schema_of<lamina::operators::sequence_mask>(), {length.id}, {mask.id});
  return std::tuple{y, mask};
});

lod_tensor three_sequences() {
  return lamina::sequences<pair>({{{1, 8}, {5, 2}, {3, -4}}, {}, {{-2, -3}}});
}

}  // namespace

TEST_CASE("sequence_pad by hand, with an empty sequence") {
  const auto r = returned_by(padded, {{"x", three_sequences()}});
  CHECK(r[0].shape() == lamina::tensor_shape{3, 3, 2});
  CHECK(values_of(r[0]) ==
        numbers{1, 8, 5, 2, 3, -4, -1, -1, -1, -1, -1, -1, -2, -3, -1, -1, -1, -1});
  CHECK(r[1].shape() == lamina::tensor_shape{3});
  CHECK(values_of(r[1]) == numbers{3, 0, 1});
  CHECK(r[0].lod().empty());
  const auto ids =
      returned_by(padded_by_row, {{"x", lamina::sequences<std::int64_t>({{4}, {5, 6}, {}})}});
  CHECK(ids[0].type() == lamina::dtype::int64);
  CHECK(values_of(ids[0]) == numbers{4, 9, 5, 6, 9, 9});
}

TEST_CASE("sequence_pad to the longest sequence of the batch, and its mask") {
  const auto r =
      returned_by(longest, {{"x", lamina::sequences<pair>({{{1, 2}}, {}, {{3, 4}, {5, 6}}})}});
  CHECK(r[0].shape() == lamina::tensor_shape{3, 2, 2});
  CHECK(values_of(r[0]) == numbers{1, 2, 4, 4, 4, 4, 4, 4, 3, 4, 5, 6});
  CHECK(values_of(r[1]) == numbers{1, 0, 0, 0, 1, 1});
  const auto none = returned_by(longest, {{"x", lamina::sequences<pair>({{}, {}})}});
  CHECK(none[0].shape() == lamina::tensor_shape{2, 0, 2});
  CHECK(none[1].shape() == lamina::tensor_shape{2, 0});
}

TEST_CASE("sequence_unpad gives back what sequence_pad took, over one level and two") {
  const lod_tensor x = three_sequences();
  const auto r = returned_by(there_and_back, {{"x", x}});
  CHECK(values_of(r[0]) == values_of(x));
  CHECK(r[0].lod() == x.lod());
  const lod_tensor documents =
      lamina::nested_sequences<pair>({{{{1, 8}, {5, 2}}, {}}, {}, {{{3, -4}}}});
  const auto n = returned_by(nested, {{"x", documents}});
  CHECK(n[0].shape() == lamina::tensor_shape{3, 2, 2});
  CHECK(n[0].recursive_sequence_lengths() == std::vector<lod::level>{{2, 0, 1}});
  CHECK(values_of(n[0]) == numbers{1, 8, 5, 2, 0, 0, 0, 0, 3, -4, 0, 0});
  CHECK(values_of(n[1]) == numbers{2, 0, 1});
  CHECK(n[2].lod() == documents.lod());
  CHECK(values_of(n[2]) == values_of(documents));
}

TEST_CASE("sequence_unpad of rows without inner dimensions gives one column") {
  const auto r = returned_by(
      unpadded, {{"x", tensor({3, 3}, std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9})},
                 {"length", tensor({3, 1}, std::vector<std::int64_t>{2, 0, 3})}});
  CHECK(r[0].shape() == lamina::tensor_shape{5, 1});
  CHECK(values_of(r[0]) == numbers{1, 2, 7, 8, 9});
  CHECK(r[0].recursive_sequence_lengths() == std::vector<lod::level>{{2, 0, 3}});
}

TEST_CASE("sequence_mask by hand") {
  const auto r = returned_by(masks, {{"x", tensor({3, 1}, std::vector<std::int64_t>{2, 0, 3})}});
  CHECK(r[0].shape() == lamina::tensor_shape{3, 1, 3});
  CHECK(values_of(r[0]) == numbers{1, 1, 0, 0, 0, 0, 1, 1, 1});
  CHECK(r[1].type() == lamina::dtype::float32);
  CHECK(values_of(r[1]) == numbers{1, 1, 0, 0, 1, 1});
}

TEST_CASE("gradient: sequence_pad and sequence_unpad, with empty sequences") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto w = layer::data<"w", float, 4, 2>(main);
    auto [y, length] = layer::sequence_pad<4>(layer::tanh(x), 0.5);
    auto back = layer::sequence_unpad<"back">(layer::square(y) * w, length);
    return layer::mean(layer::square(y) * w) + layer::mean(layer::square(back));
  }));
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::nested_sequence<"x", float, 2>(main);
    auto w = layer::sequence<"w", float, 3, 2>(main);
    auto [y, length] = layer::sequence_pad<3>(x, 0.5);
    auto back = layer::sequence_unpad<"back">(layer::square(y), length);
    return layer::mean(layer::square(back)) + layer::mean(w * w);
  }));
}

TEST_CASE("each sample alone is padded to its row of the batch") {
  laws::check_each_sample_alone(padded, {{"x", three_sequences()}});
  laws::check_each_sample_alone(there_and_back, {{"x", three_sequences()}});
  laws::check_each_sample_alone(
      nested, {{"x", lamina::nested_sequences<pair>({{{{1, 8}, {5, 2}}, {}}, {}, {{{3, -4}}}})}});
}

TEST_CASE("lengths that do not fit are refused") {
  CHECK_THROWS_WITH(
      returned_by(padded, {{"x", lamina::sequences<pair>({{{1, 2}, {1, 2}, {1, 2}, {1, 2}}})}}),
      Contains("layer sequence_pad_0") && Contains("at most 3 rows in variable 'x', found 4"));
  const tensor x = tensor({1, 3}, std::vector<std::int64_t>{1, 2, 3});
  for (const std::int64_t wrong : {-1, 4})
    CHECK_THROWS_WITH(
        returned_by(unpadded,
                    {{"x", x}, {"length", tensor({1, 1}, std::vector<std::int64_t>{wrong})}}),
        Contains("values from 0 to 3 in feed 'length', found " + std::to_string(wrong)));
}

namespace {

template <class V>
constexpr auto cost_of(V x) {
  return layer::mean(layer::square(layer::sequence_pool(x, {.type = lamina::pooling_type::sum})));
}

constexpr auto padded_on_engine = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto id = layer::sequence<"id", std::int64_t>(x);
  auto [wide, length] = layer::sequence_pad<5>(layer::fc<6>(x), 0.25);
  auto back = layer::sequence_unpad<"back">(layer::tanh(wide), length);
  auto [ids, as_many] = layer::sequence_pad<4>(id, 7);
  return std::tuple{cost_of(layer::fc<2>(back)),
                    wide,
                    length,
                    back,
                    ids,
                    layer::sequence_mask<3>(length),
                    layer::sequence_mask<6, float>(as_many),
                    layer::sequence_mask<2, bool>(ids)};
});

// Variables without rows: a vector has one mask in each row of the result, a matrix several.
constexpr auto masks_without_rows = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3, 3>(main);
  auto vector = layer::sequence_mask<3, float>(layer::assign_value<3>(main, {1, 2, 3}));
  auto one = layer::sequence_mask<5>(layer::assign_value<1>(main, {4}));
  auto matrix = layer::sequence_mask<4>(layer::assign_value<2, 3>(main, {0, 1, 2, 3, 4, 5}));
  auto cube = layer::sequence_mask<2>(layer::assign_value<2, 1, 2>(main, {0, 1, 2, 1}));
  static_assert(__is_same(decltype(vector), lamina::variable<float, lamina::once, 3, 3>));
  return std::tuple{layer::mean(x * vector), vector, one, matrix, cube};
});

constexpr auto padded_by_rows = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", float, 2, 3>(main);
  auto row = layer::fill_constant<float, 2, 3>(main, -2);
  auto wide = std::get<0>(layer::sequence_pad<4>(x, row));
  return std::tuple{cost_of(wide), wide};
});

}  // namespace

TEST_CASE("sequence_pad, sequence_unpad, sequence_mask") {
  lamina::law::check_engine(padded_on_engine, {.limit = 6});
  lamina::law::check_engine(masks_without_rows);
  lamina::law::check_engine(padded_by_rows);
}

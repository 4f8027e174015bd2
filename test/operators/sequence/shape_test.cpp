// SPDX-License-Identifier: Apache-2.0
// Sequences reversed, joined, cut and given other lengths: values by hand, gradients, the engine.

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include "laws/kernel_bench.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/sequence/expand/cpu.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using executed::returned_by;
using executed::values_of;
using lamina::batch;
using lamina::block;
using lamina::lod;
using lamina::lod_tensor;
using lamina::nested_tokens;
using lamina::regrouped;
using lamina::tokens;
using namespace lamina;

namespace {

constexpr auto reversed = lamina::program(
    [](block& main) { return layer::sequence_reverse(layer::sequence<"x", std::int64_t>(main)); });

constexpr auto nested = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", float>(main);
  auto y = layer::sequence_reverse(x);
  static_assert(__is_same(decltype(y)::rows_type, nested_tokens<"x">));
  auto joined = layer::sequence_concat<"joined">(std::tuple{x, y});
  static_assert(
      __is_same(decltype(joined)::rows_type, tokens<"joined", nested_tokens<"x">::parent>));
  return std::tuple{y, joined};
});

constexpr auto concat = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto y = layer::sequence<"y", float, 2>(main);
  auto both = layer::sequence_concat<"both">(std::tuple{x, y, x});
  static_assert(__is_same(decltype(both), lamina::variable<float, tokens<"both">, 2>));
  return both;
});

constexpr auto sliced = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto offset = layer::data<"offset", std::int64_t>(main);
  auto length = layer::data<"length", std::int32_t>(main);
  auto part = layer::sequence_slice<"part">(x, offset, length);
  static_assert(__is_same(decltype(part), lamina::variable<float, tokens<"part">, 2>));
  return part;
});

template <int Width>
constexpr auto reshaped = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  return layer::sequence_reshape<"y", Width>(x);
});

constexpr auto reset = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto y = layer::nested_sequence<"y", std::int64_t>(main);
  auto as = layer::lod_reset(x, y);
  static_assert(__is_same(decltype(as), lamina::variable<float, nested_tokens<"y">, 2>));
  auto groups = layer::lod_reset<"groups", 0, 2, 2, 6>(x);
  static_assert(__is_same(decltype(groups)::rows_type, tokens<"groups", regrouped<"groups">>));
  auto sums = layer::sequence_pool(groups, {.type = lamina::pooling_type::sum});
  static_assert(__is_same(decltype(sums), lamina::variable<float, regrouped<"groups">, 2>));
  return std::tuple{as, groups, sums};
});

constexpr auto by_values = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float>(main);
  auto offsets = layer::data<"offsets", std::int64_t>(main);
  return layer::lod_reset<"groups">(x, offsets);
});

// The same net there and back: x cut, joined and reversed again is x.
constexpr auto there_and_back = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto reversed = layer::sequence_reverse(x);
  auto wide = layer::sequence_reshape<"flat", 1>(reversed);
  auto both = layer::sequence_concat<"both">(std::tuple{x, reversed});
  auto same = layer::lod_reset(layer::sequence_reverse(reversed), x);
  return std::tuple{reversed, wide, both, same - x};
});

using values = std::vector<double>;

using lengths = std::vector<lod::level>;

using pair = std::array<float, 2>;

lod_tensor some_pairs() {
  return lamina::sequences<pair>({{{1, -2}, {3, 4}, {5, 6}}, {}, {{7, 8}}});
}

template <class T>
lamina::tensor column(const std::vector<T>& v) {
  return lamina::tensor({v.size(), 1}, v);
}

}  // namespace

TEST_CASE("sequence_reverse turns each sequence") {
  const auto y =
      returned_by(reversed, {{"x", lamina::sequences<std::int64_t>({{1, 2, 3}, {}, {4, 5}})}})[0];
  CHECK(y.type() == lamina::dtype::int64);
  CHECK(values_of(y) == values{3, 2, 1, 5, 4});
  CHECK(y.recursive_sequence_lengths() == lengths{{3, 0, 2}});
}

TEST_CASE("of two levels the inner sequences are reversed and joined") {
  const auto r = returned_by(
      nested, {{"x", lamina::nested_sequences<float>({{{1, 2}, {}}, {}, {{3, 4, 5}}})}});
  CHECK(values_of(r[0]) == values{2, 1, 5, 4, 3});
  CHECK(r[0].recursive_sequence_lengths() == lengths{{2, 0, 1}, {2, 0, 3}});
  CHECK(values_of(r[1]) == values{1, 2, 2, 1, 3, 4, 5, 5, 4, 3});
  CHECK(r[1].recursive_sequence_lengths() == lengths{{2, 0, 1}, {4, 0, 6}});
}

TEST_CASE("sequence_concat joins sequence by sequence") {
  const auto r = returned_by(
      concat, {{"x", some_pairs()}, {"y", lamina::sequences<pair>({{}, {{9, 9}}, {{10, 11}}})}})[0];
  CHECK(r.recursive_sequence_lengths() == lengths{{6, 1, 3}});
  CHECK(values_of(r) == values{1, -2, 3, 4, 5, 6, 1, -2, 3, 4, 5, 6, 9, 9, 7, 8, 10, 11, 7, 8});
}

TEST_CASE("sequence_slice takes a part of each sequence, an empty one too") {
  const auto r = returned_by(sliced, {{"x", some_pairs()},
                                      {"offset", column<std::int64_t>({1, 0, 1})},
                                      {"length", column<std::int32_t>({2, 0, 0})}})[0];
  CHECK(values_of(r) == values{3, 4, 5, 6});
  CHECK(r.recursive_sequence_lengths() == lengths{{2, 0, 0}});
}

TEST_CASE("sequence_slice outside a sequence is refused") {
  const auto slice = [](std::int64_t offset, std::int32_t length) {
    return returned_by(sliced, {{"x", some_pairs()},
                                {"offset", column<std::int64_t>({0, 0, offset})},
                                {"length", column<std::int32_t>({3, 0, length})}});
  };
  CHECK(slice(0, 1)[0].recursive_sequence_lengths() == lengths{{3, 0, 1}});
  CHECK_THROWS_WITH(
      slice(0, 2), Contains("sequence_slice") && Contains("from 0 to 1 in feed 'length', found 2"));
  CHECK_THROWS_WITH(slice(2, 0), Contains("from 0 to 1 in feed 'offset', found 2"));
  CHECK_THROWS_WITH(slice(-1, 1), Contains("in feed 'offset', found -1"));
  CHECK_THROWS_WITH(slice(1, -1), Contains("in feed 'length', found -1"));
}

TEST_CASE("sequence_reshape keeps the elements of each sequence") {
  const auto x = lamina::sequences<pair>({{{1, 2}, {3, 4}}, {}, {{5, 6}, {7, 8}}});
  const auto wide = returned_by(reshaped<4>, {{"x", x}})[0];
  CHECK(wide.shape() == lamina::tensor_shape{2, 4});
  CHECK(wide.recursive_sequence_lengths() == lengths{{1, 0, 1}});
  CHECK(values_of(wide) == values{1, 2, 3, 4, 5, 6, 7, 8});
  const auto narrow = returned_by(reshaped<1>, {{"x", x}})[0];
  CHECK(narrow.shape() == lamina::tensor_shape{8, 1});
  CHECK(narrow.recursive_sequence_lengths() == lengths{{4, 0, 4}});
  CHECK_THROWS_WITH(
      returned_by(reshaped<3>, {{"x", x}}),
      Contains("sequence_reshape") && Contains("fill rows of 3, found 2 rows of 2 in sequence 0"));
}

TEST_CASE("lod_reset gives rows the sequences of another variable, or those of offsets") {
  const lamina::tensor x({6, 2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const auto ids = lamina::nested_sequences<std::int64_t>({{{0, 1}, {}}, {{2, 3, 4, 5}}});
  const auto r =
      returned_by(reset, {{"x", lod_tensor(x, lod::from_lengths({{5, 1}}))}, {"y", ids}});
  CHECK(r[0].recursive_sequence_lengths() == lengths{{2, 1}, {2, 0, 4}});
  CHECK(values_of(r[0]) == values_of(x));
  CHECK(r[1].recursive_sequence_lengths() == lengths{{2, 0, 4}});
  CHECK(values_of(r[1]) == values_of(x));
  CHECK(values_of(r[2]) == values{4, 6, 0, 0, 32, 36});
  CHECK_THROWS_WITH(
      returned_by(reset, {{"x", lod_tensor(x, lod::from_lengths({{5, 1}})).slice(0, 1)},
                          {"y", ids.slice(0, 1)}}),
      Contains("lod_reset") && Contains("over the 5 rows of 'x', found lengths [[2], "));
}

TEST_CASE("gradient: sequence_reverse, sequence_concat, sequence_reshape") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto y = layer::sequence<"y", float, 2>(main);
    auto turned = layer::sequence_reverse(layer::tanh(x));
    auto both = layer::sequence_concat<"both">(std::tuple{turned, layer::square(y), x});
    auto w = layer::sequence_reshape<"wide", 4>(layer::sequence_concat<"even">(std::tuple{x, x}));
    return layer::mean(layer::square(layer::sequence_reverse(both))) +
           layer::mean(layer::square(layer::fc<2>(w)));
  }));
}

TEST_CASE("gradient: sequence_concat of an input that is not trained") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::sequence<"x", float, 2>(main);
                          auto ids = layer::sequence<"ids", std::int64_t>(main);
                          auto both = layer::sequence_concat<"both">(
                              std::tuple{layer::cast<float>(ids), layer::fc<1>(x)});
                          return layer::mean(layer::square(both));
                        }),
                        {{"ids", lamina::sequences<std::int64_t>({{1}, {2, 3}, {}})}});
}

TEST_CASE("gradient: sequence_slice") {
  laws::check_gradients(
      lamina::program([](block& main) {
        auto x = layer::sequence<"x", float, 2>(main);
        auto offset = layer::data<"offset", std::int64_t>(main);
        auto length = layer::data<"length", std::int64_t>(main);
        auto part = layer::sequence_slice<"part">(x, offset, length);
        return layer::mean(layer::square(part));
      }),
      {{"offset", column<std::int64_t>({1, 0, 1})}, {"length", column<std::int64_t>({1, 0, 2})}});
}

TEST_CASE("gradient: lod_reset") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto y = layer::sequence<"y", float, 2>(main);
    auto groups = layer::lod_reset<"groups", 0, 3, 3, 5>(layer::square(x));
    auto sums = layer::sequence_pool(groups, {.type = lamina::pooling_type::sum});
    return layer::mean(layer::square(layer::lod_reset(layer::tanh(x), y) * y)) +
           layer::mean(layer::square(sums));
  }));
}

TEST_CASE("each sample alone is turned, joined and cut as in the batch") {
  laws::check_each_sample_alone(there_and_back, {{"x", some_pairs()}});
  laws::check_each_sample_alone(
      nested, {{"x", lamina::nested_sequences<float>({{{1, 2}, {}}, {}, {{3, 4, 5}}})}});
  laws::check_each_sample_alone(
      concat,
      {{"x", some_pairs()}, {"y", lamina::sequences<pair>({{}, {{9, 9}}, {{10, 11}, {-1, 0}}})}});
  laws::check_each_sample_alone(sliced, {{"x", some_pairs()},
                                         {"offset", column<std::int64_t>({1, 0, 0})},
                                         {"length", column<std::int32_t>({2, 0, 1})}});
}

TEST_CASE("turned twice and back in its own sequences x is x, without any row too") {
  for (const lod_tensor& x :
       {some_pairs(), lamina::sequences<pair>({{}, {}}), lamina::sequences<pair>({})}) {
    const auto r = returned_by(there_and_back, {{"x", x}});
    CHECK(r[3].lod() == x.lod());
    CHECK(values_of(r[3]) == values(x.size(), 0));
  }
}

TEST_CASE("lod_reset by the offsets in a variable") {
  const auto group = [](const std::vector<std::int64_t>& offsets) {
    const auto x = lamina::sequences<float>(
        std::vector<std::vector<float>>(offsets.size(), std::vector<float>{7}));
    return returned_by(by_values, {{"x", x}, {"offsets", column(offsets)}})[0];
  };
  const lod_tensor y = group({0, 1, 1, 4});
  CHECK(y.recursive_sequence_lengths() == lengths{{1, 0, 3}});
  CHECK(values_of(y) == values{7, 7, 7, 7});
  CHECK_THROWS_WITH(group({0, 2, 1, 4}), Contains("lod_reset") && Contains("ascending offsets"));
  CHECK_THROWS_WITH(group({1, 1, 1, 4}), Contains("to begin with offset 0"));
  CHECK_THROWS_WITH(group({0, 1, 1, 3}),
                    Contains("over the 4 rows of 'x', found lengths [[1, 0, "));
}

TEST_CASE("lod_append makes a sequence for each row") {
  constexpr auto fixed = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float>(main);
    auto y = layer::lod_append<"y", 0, 2, 2, 3>(x);
    static_assert(__is_same(decltype(y), lamina::variable<float, tokens<"y", tokens<"x">>, 1>));
    auto sums = layer::sequence_pool(y, {.type = lamina::pooling_type::sum});
    return std::tuple{y, layer::sequence_pool(sums, {.type = lamina::pooling_type::max})};
  });
  const auto with = [&](const std::vector<std::vector<float>>& x) {
    return returned_by(fixed, {{"x", lamina::sequences<float>(x)}});
  };
  const auto found = with({{1, 2}, {}, {4}});
  CHECK(found[0].recursive_sequence_lengths() == lengths{{2, 0, 1}, {2, 0, 1}});
  CHECK(values_of(found[0]) == values{1, 2, 4});
  CHECK(values_of(found[1]) == values{3, 0, 4});
  CHECK_THROWS_WITH(with({{1, 2, 3}, {4}}),
                    Contains(": expected one sequence for each of the 4 rows "
                             "of 'x', found 4 offsets"));

  constexpr auto by_variable = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float>(main);
    auto offsets = layer::data<"offsets", std::int32_t>(main);
    return layer::lod_append<"y">(x, offsets);
  });
  const auto y = returned_by(
      by_variable, {{"x", lamina::sequences<float>({{1}, {2, 3}, {}, {}})},
                    {"offsets", lamina::tensor({4, 1}, std::vector<std::int32_t>{0, 1, 1, 3})}})[0];
  CHECK(y.recursive_sequence_lengths() == lengths{{1, 2, 0, 0}, {1, 0, 2}});

  // Rows without sequences get some: one for each sample.
  constexpr auto of_samples = lamina::program([](block& main) {
    return layer::lod_append<"y", 0, 0, 3, 3>(layer::data<"x", float>(main));
  });
  const auto samples = [&](const values& x) {
    return returned_by(of_samples, {{"x", lamina::tensor({x.size(), 1}, x)}})[0];
  };
  CHECK(samples({5, 6, 7}).recursive_sequence_lengths() == lengths{{0, 3, 0}});
  CHECK_THROWS_WITH(samples({5, 6}), Contains("one sequence for each of the 2 rows"));
}

TEST_CASE("gradient: lod_append") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::sequence<"x", float, 2>(main);
                          auto y = layer::lod_append<"y", 0, 3, 3, 4, 4, 5>(layer::square(x));
                          auto sums = layer::sequence_pool(y, {.type = lamina::pooling_type::sum});
                          return layer::mean(layer::square(sums) * x);
                        }),
                        {}, {.lengths = {{3, 0, 2}}});
}

TEST_CASE("lod_append: each row a sequence of its own") {
  constexpr auto below = lamina::program([](block& main) {
    return layer::lod_append<"y", 0, 1, 2, 3>(layer::sequence<"x", float>(main));
  });
  const auto y = returned_by(below, {{"x", lamina::sequences<float>({{1, 2}, {}, {3}})}})[0];
  CHECK(y.recursive_sequence_lengths() == lengths{{2, 0, 1}, {1, 1, 1}});
}

namespace {

template <class V>
constexpr auto cost_of(V x) {
  return layer::mean(layer::square(layer::sequence_pool(x, {.type = lamina::pooling_type::sum})));
}

constexpr auto joined = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 6>(main);
  auto z = layer::sequence<"z", float, 6>(main);
  auto h = layer::fc<6>(x);
  auto both = layer::sequence_concat<"both">(std::tuple{h, z, layer::tanh(h)});
  auto narrow = layer::sequence_reshape<"narrow", 3>(both);
  auto wide = layer::sequence_reshape<"wide", 18>(
      layer::sequence_concat<"thrice">(std::tuple{layer::square(h), h, h}));
  return std::tuple{cost_of(layer::fc<4>(narrow)) + cost_of(layer::tanh(wide)), both, narrow, wide};
});

constexpr auto sliced_on_engine = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 5>(main);
  auto h = layer::tanh(layer::fc<5>(x));
  auto length = layer::reshape<1>(std::get<1>(layer::sequence_pad<4>(x, 0)));
  auto one = layer::elementwise_min(length, layer::reshape<1>(layer::sequence_mask<1>(length)));
  auto tail = layer::sequence_slice<"tail">(h, one, layer::elementwise_sub(length, one));
  auto head = layer::sequence_slice<"head">(h, layer::elementwise_sub(one, one), one);
  return std::tuple{cost_of(tail) + cost_of(layer::square(head)), tail, head};
});

// Other sequences under the name of those of before.
constexpr auto regrouped_twice = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto first = layer::lod_reset<"groups", 0, 2, 5>(layer::fc<3>(x));
  auto second = layer::lod_reset<"groups", 0, 4, 5>(first);
  auto of_first = layer::sequence_pool(layer::square(first), {.type = lamina::pooling_type::sum});
  auto of_second = layer::sequence_pool(second, {.type = lamina::pooling_type::sum});
  return std::tuple{layer::mean(of_first) + layer::mean(layer::square(of_second)), of_first,
                    of_second};
});

constexpr auto regrouped_once = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto groups = layer::lod_reset<"groups", 0, 2, 2, 5>(layer::fc<3>(x));
  auto sums = layer::sequence_pool(groups, {.type = lamina::pooling_type::sum});
  return std::tuple{layer::mean(layer::square(sums)), groups, sums};
});

constexpr auto appended = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto parts = layer::lod_append<"parts", 0, 2, 2, 3, 5, 5>(layer::fc<3>(x));
  auto sums = layer::sequence_pool(parts, {.type = lamina::pooling_type::sum});
  auto cost = layer::mean(layer::square(sums) * layer::fc<3>(x));
  return std::tuple{cost, parts, sums};
});

}  // namespace

TEST_CASE("sequence_concat and sequence_reshape") { lamina::law::check_engine(joined); }

TEST_CASE("sequence_slice") { lamina::law::check_engine(sliced_on_engine); }

TEST_CASE("lod_reset to offsets") {
  lamina::law::check_engine(regrouped_twice, {.rows_are_alone = false, .batches = {5}});
  lamina::law::check_engine(regrouped_once, {.rows_are_alone = false, .batches = {5}});
}

TEST_CASE("lod_append") {
  lamina::law::check_engine(appended, {.rows_are_alone = false, .batches = {5}});
}

namespace {

constexpr auto turned = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 9>(main);
  auto id = layer::sequence<"id", std::int64_t>(x);
  auto h = layer::fc<11>(x);
  auto y = layer::sequence_reverse(layer::tanh(layer::sequence_reverse(h)) * h);
  return std::tuple{layer::mean(layer::square(y)), y, layer::sequence_reverse(id)};
});

constexpr auto regrouped_like = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 6>(main);
  auto same = layer::lod_reset(layer::fc<7>(x), x);
  auto y = layer::sequence_pool(same, {.type = lamina::pooling_type::sum});
  return std::tuple{layer::mean(layer::square(y)), same, y};
});

}  // namespace

TEST_CASE("sequence_reverse") { lamina::law::check_engine(turned, {.limit = 9}); }

TEST_CASE("lod_reset to known sequences") { lamina::law::check_engine(regrouped_like); }

using floats = std::vector<float>;

TEST_CASE("A sequence for each row, which the rows do not belong to") {
  law::kernel_bench b;
  const int words = b.add_domain(domain_kind::sequence, batch::domain);
  const int parts = b.add_domain(domain_kind::sequence, words);
  b.feed_rows(batch::domain, 2);
  b.feed_lengths(words, {1, 2});
  const int x = b.add<float>(words, {1}), y = b.add<float>(parts, {1});
  const int offsets = b.add<std::int64_t>(0, {4}), few = b.add<std::int64_t>(0, {3});
  b.set<float>(x, {1, 2, 3});
  b.set<std::int64_t>(offsets, {0, 2, 2, 3});
  b.call<operators::lod_reset>({x, offsets}, {y}, {0, 1});
  CHECK(b.get<float>(y) == floats{1, 2, 3});
  CHECK(b.lengths(parts) == std::vector<int>{2, 0, 1});
  CHECK(b.lengths(words) == std::vector<int>{1, 2});
  b.set<std::int64_t>(few, {0, 1, 3});
  CHECK_THROWS_WITH((b.call<operators::lod_reset>({x, few}, {y}, {0, 1})),
                    Contains("expected one sequence for each of 3 rows, found 3 offsets"));
}

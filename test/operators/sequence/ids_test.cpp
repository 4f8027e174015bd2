// SPDX-License-Identifier: Apache-2.0
// sequence_enumerate, sequence_erase and sequence_scatter: values by hand, gradients, the engine.

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

using ids = std::vector<std::vector<std::int64_t>>;

namespace {

constexpr auto windows = lamina::program([](block& main) {
  auto x = layer::sequence<"x", std::int64_t>(main);
  return std::tuple{layer::sequence_enumerate<2>(x),
                    layer::sequence_enumerate<3>(x, {.pad_value = -1})};
});

constexpr auto cleaned = lamina::program([](block& main) {
  auto x = layer::sequence<"x", std::int64_t>(main);
  auto y = layer::sequence_erase<"cleaned">(x, {2, 5});
  static_assert(__is_same(decltype(y)::rows_type, lamina::tokens<"cleaned">));
  return std::tuple{y, layer::sequence_erase<"all">(x, {}), layer::sequence_enumerate<2>(y)};
});

constexpr auto cleaned_documents = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", std::int32_t>(main);
  return layer::sequence_erase<"cleaned">(x, {2, 5});
});

constexpr auto scattered = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto at = layer::sequence<"at", std::int64_t>(main);
  auto updates = layer::sequence<"updates", float>(at);
  return layer::sequence_scatter(x, at, updates);
});

lamina::feed_map to_scatter(const ids& at) {
  std::vector<std::vector<float>> updates;
  for (const auto& one : at) {
    updates.emplace_back();
    for (std::size_t i = 0; i < one.size(); ++i) updates.back().push_back(0.5f + 2 * float(i));
  }
  std::vector<float> x(at.size() * 4);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  return {{"x", tensor({at.size(), 4}, x)},
          {"at", lamina::sequences(at)},
          {"updates", lamina::sequences(updates)}};
}

}  // namespace

TEST_CASE("sequence_enumerate by hand: windows end with their sequence") {
  const auto r = returned_by(windows, {{"x", lamina::sequences(ids{{1, 2, 3}, {}, {4, 5}})}});
  CHECK(r[0].shape() == lamina::tensor_shape{5, 2});
  CHECK(values_of(r[0]) == numbers{1, 2, 2, 3, 3, 0, 4, 5, 5, 0});
  CHECK(values_of(r[1]) == numbers{1, 2, 3, 2, 3, -1, 3, -1, -1, 4, 5, -1, 5, -1, -1});
  CHECK(r[1].recursive_sequence_lengths() == std::vector<lod::level>{{3, 0, 2}});
  CHECK(returned_by(windows, {{"x", lamina::sequences(ids{{}})}})[0].shape() ==
        lamina::tensor_shape{0, 2});
}

TEST_CASE("sequence_erase by hand: sequences become shorter, some empty") {
  const auto r =
      returned_by(cleaned, {{"x", lamina::sequences(ids{{2, 1, 5, 3, 2}, {}, {5, 2}, {7}})}});
  CHECK(values_of(r[0]) == numbers{1, 3, 7});
  CHECK(r[0].recursive_sequence_lengths() == std::vector<lod::level>{{2, 0, 0, 1}});
  CHECK(r[0].type() == lamina::dtype::int64);
  CHECK(values_of(r[1]) == numbers{2, 1, 5, 3, 2, 5, 2, 7});
  CHECK(values_of(r[2]) == numbers{1, 3, 3, 0, 7, 0});
  const auto d =
      returned_by(cleaned_documents,
                  {{"x", lamina::nested_sequences<std::int32_t>({{{2, 1}, {5}}, {}, {{3}}})}});
  CHECK(values_of(d[0]) == numbers{1, 3});
  CHECK(d[0].recursive_sequence_lengths() == std::vector<lod::level>{{2, 0, 1}, {1, 0, 1}});
  CHECK(d[0].type() == lamina::dtype::int32);
}

TEST_CASE("sequence_scatter by hand: the same place twice adds twice") {
  const auto r = returned_by(scattered, to_scatter({{1, 3, 1}, {}, {0}}));
  CHECK(values_of(r[0]) == numbers{0, 1 + 0.5 + 4.5, 2, 3 + 2.5, 4, 5, 6, 7, 8.5, 9, 10, 11});
}

TEST_CASE("gradient: sequence_scatter") {
  laws::check_gradients(
      lamina::program([](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        auto at = layer::sequence<"at", std::int64_t>(main);
        auto updates = layer::sequence<"updates", float>(at);
        auto w = layer::data<"w", float, 4>(main);
        auto y = layer::sequence_scatter(layer::tanh(x), at, layer::square(updates));
        return layer::mean(layer::square(y) * w);
      }),
      {{"at", lamina::sequences(ids{{1, 3, 1}, {}, {0}})}}, {.lengths = {{3, 0, 1}}});
}

TEST_CASE("each sample alone is enumerated, erased and scattered as in the batch") {
  const lod_tensor x = lamina::sequences(ids{{2, 1, 5, 3}, {}, {5, 2}, {7, 7}});
  laws::check_each_sample_alone(windows, {{"x", x}});
  laws::check_each_sample_alone(cleaned, {{"x", x}});
  laws::check_each_sample_alone(scattered, to_scatter({{1, 3, 1}, {}, {0}}));
}

TEST_CASE("a place outside of its row is refused") {
  for (const std::int64_t wrong : {-1, 4})
    CHECK_THROWS_WITH(returned_by(scattered, to_scatter({{0, wrong}})),
                      Contains("layer sequence_scatter_0") && Contains("from 0 to 3 in feed 'at'"));
}

namespace {

template <class V>
constexpr auto cost_of(V x) {
  return layer::mean(layer::square(layer::sequence_pool(x, {.type = lamina::pooling_type::sum})));
}

constexpr auto of_ids = lamina::program([](block& main) {
  auto id = layer::sequence<"id", std::int64_t>(main);
  auto small = layer::sequence<"small", std::int32_t>(main);
  auto windows = layer::sequence_enumerate<3>(id, {.pad_value = -1});
  auto kept = layer::sequence_erase<"kept">(id, {1, 3});
  auto path = layer::ctc_align<"path">(small, {.blank = 2});
  auto all = layer::ctc_align<"all">(small, {.blank = 0, .merge_repeated = false});
  auto word = layer::embedding<5, 4>(kept);
  return std::tuple{cost_of(word), windows, layer::sequence_enumerate<2>(small), kept,
                    path,          all,     layer::sequence_reverse(kept)};
});

constexpr auto greedy = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto score = layer::fc<3>(x);
  return std::tuple{cost_of(score), layer::ctc_greedy_decoder<"label">(score, {.blank = 1})};
});

constexpr auto scattered_on_engine = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto id = layer::sequence<"id", std::int64_t>(main);
  auto update = layer::sequence<"update", float>(id);
  auto y = layer::sequence_scatter(layer::fc<6>(x), id, layer::fc<1>(update));
  return std::tuple{layer::mean(layer::square(y)), y};
});

}  // namespace

TEST_CASE("sequence_enumerate, sequence_erase, ctc_align") {
  lamina::law::check_engine(of_ids, {.limit = 5});
  lamina::law::check_engine(greedy);
}

TEST_CASE("sequence_scatter") { lamina::law::check_engine(scattered_on_engine, {.limit = 6}); }

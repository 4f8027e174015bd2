// SPDX-License-Identifier: Apache-2.0
// Steps of a beam search: values by hand, and samples alone.

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
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

constexpr int end_id = 0;

template <int BeamSize, bool Accumulated = true>
constexpr auto step = lamina::program([](block& main) {
  auto before = layer::sequence<"before", std::int64_t>(main);
  auto so_far = layer::sequence<"so_far", float>(before);
  auto ids = layer::sequence<"ids", std::int64_t, 3>(before);
  auto scores = layer::sequence<"scores", float, 3>(before);
  return layer::beam_search<"beam">(before, so_far, ids, scores, BeamSize, end_id,
                                    {.is_accumulated = Accumulated});
});

constexpr auto whole_dictionary = lamina::program([](block& main) {
  auto before = layer::nested_sequence<"before", std::int64_t>(main);
  auto so_far = layer::sequence<"so_far", float>(before);
  auto scores = layer::sequence<"scores", float, 3>(before);
  auto [ids, kept, parent] = layer::beam_search<"beam">(before, so_far, scores, 2, end_id);
  static_assert(__is_same(decltype(ids)::rows_type, lamina::nested_tokens<"beam">));
  return std::tuple{ids, kept, parent};
});

constexpr auto without_parents = lamina::program([](block& main) {
  auto before = layer::sequence<"before", std::int64_t>(main);
  auto so_far = layer::sequence<"so_far", float>(before);
  auto scores = layer::sequence<"scores", float, 3>(before);
  auto [ids, kept, parent] = layer::beam_search<"beam">(before, so_far, scores, 2, end_id);
  return std::tuple{ids, kept};
});

using levels = std::vector<lod::level>;

lamina::feed_map feed_of(const levels& lengths, const std::vector<std::int64_t>& before,
                         const std::vector<float>& so_far, const std::vector<std::int64_t>& ids,
                         const std::vector<float>& scores) {
  const lod l = lod::from_lengths(lengths);
  const std::size_t n = before.size();
  lamina::feed_map feed{{"before", lod_tensor(tensor({n, 1}, before), l)},
                        {"so_far", lod_tensor(tensor({n, 1}, so_far), l)},
                        {"scores", lod_tensor(tensor({n, 3}, scores), l)}};
  if (!ids.empty()) feed["ids"] = lod_tensor(tensor({n, 3}, ids), l);
  return feed;
}

}  // namespace

TEST_CASE("beam_search keeps the best of each source") {
  // Source 0 has hypotheses 0 and 1, source 1 none, source 2 hypotheses 2 and 3.
  const auto r =
      returned_by(step<2>, feed_of({{2, 0, 2}}, {1, 2, 3, 4}, {.1f, .2f, .3f, .4f},
                                   {4, 2, 5, 2, 1, 3, 3, 5, 2, 8, 2, 1},
                                   {.6f, .3f, .5f, .2f, .3f, .1f, .4f, .5f, .1f, .7f, .5f, .1f}));
  CHECK(values_of(r[0]) == numbers{4, 5, 8, 2});
  CHECK(values_of(r[1]) == numbers{.6f, .5f, .7f, .5f});
  CHECK(values_of(r[2]) == numbers{0, 0, 3, 3});
  CHECK(r[0].type() == lamina::dtype::int64);
  CHECK(r[0].shape() == lamina::tensor_shape{4, 1});
  CHECK(r[2].shape() == lamina::tensor_shape{4});
  for (const lod_tensor& t : r)
    CHECK(t.recursive_sequence_lengths() == levels{{2, 0, 2}, {2, 0, 0, 2}});
}

TEST_CASE("beam_search: of equal scores the later hypothesis; one equal to the last replaces it") {
  // Hypotheses 0 and 1 have a candidate of score 0.5 each: of two places, the first is 0.9's.
  const auto r = returned_by(
      step<2>, feed_of({{2}}, {1, 2}, {0, 0}, {4, 5, 6, 7, 8, 9}, {.9f, .5f, .1f, .5f, .2f, .1f}));
  CHECK(values_of(r[0]) == numbers{4, 7});
  CHECK(values_of(r[2]) == numbers{0, 1});
  // Of one hypothesis: 5 and 6 are equal, and the later one stays.
  const auto same = returned_by(step<2>, feed_of({{1}}, {1}, {0}, {4, 5, 6}, {.9f, .5f, .5f}));
  CHECK(values_of(same[0]) == numbers{4, 6});
  // With room for all, equal ones of a hypothesis stay in their order.
  const auto room = returned_by(
      step<9>, feed_of({{2}}, {1, 2}, {0, 0}, {4, 5, 6, 7, 8, 9}, {.5f, .9f, .5f, .5f, .1f, .5f}));
  CHECK(values_of(room[0]) == numbers{5, 4, 6, 7, 9, 8});
}

TEST_CASE("beam_search: what has ended keeps its score, and its source is left out when all has") {
  // Hypothesis 0 has ended, with a better score than 1's candidates but one.
  const auto r = returned_by(step<2>, feed_of({{2}}, {end_id, 2}, {.6f, .1f}, {4, 5, 6, 7, 8, 9},
                                              {9, 9, 9, .7f, .2f, .1f}));
  CHECK(values_of(r[0]) == numbers{end_id, 7});
  CHECK(values_of(r[1]) == numbers{.6f, .7f});
  CHECK(r[0].recursive_sequence_lengths() == levels{{2}, {1, 1}});
  // All of source 0 has ended; in source 1 hypothesis 3 ends only now.
  const auto over =
      returned_by(step<2>, feed_of({{2, 2}}, {end_id, end_id, end_id, 3}, {.6f, .5f, .4f, .3f},
                                   {1, 2, 3, 1, 2, 3, 1, 2, 3, end_id, 2, 3},
                                   {9, 9, 9, 9, 9, 9, 9, 9, 9, .8f, .2f, .1f}));
  CHECK(values_of(over[0]) == numbers{end_id, end_id});
  CHECK(values_of(over[1]) == numbers{.4f, .8f});
  CHECK(values_of(over[2]) == numbers{2, 3});
  CHECK(over[0].recursive_sequence_lengths() == levels{{2, 2}, {0, 0, 1, 1}});
}

TEST_CASE("beam_search of probabilities of one step adds their logarithms") {
  const auto r = returned_by(step<1, false>, feed_of({{2}}, {1, 2}, {-1, -2}, {4, 5, 6, 7, 8, 9},
                                                     {.1f, .2f, .3f, .1f, .9f, 0}));
  CHECK(values_of(r[0]) == numbers{8});
  CHECK(values_of(r[1])[0] == Approx(-2 + std::log(0.9)));
}

TEST_CASE("beam_search over two levels of a whole dictionary: sources are the outermost") {
  const auto r = returned_by(whole_dictionary,
                             feed_of({{2, 1}, {1, 2, 1}}, {1, 2, 1, 2}, {0, 0, 0, 0}, {},
                                     {.1f, .2f, .3f, .6f, .5f, .4f, .1f, .1f, .1f, .3f, .2f, .1f}));
  CHECK(values_of(r[0]) == numbers{0, 1, 0, 1});
  CHECK(values_of(r[2]) == numbers{1, 1, 3, 3});
  CHECK(r[0].recursive_sequence_lengths() == levels{{3, 1}, {0, 2, 0, 2}});
}

TEST_CASE("each sample alone is searched as in the batch") {
  laws::check_each_sample_alone(without_parents,
                                feed_of({{2, 0, 1}}, {1, end_id, 2}, {.1f, .2f, .3f}, {},
                                        {.1f, .2f, .3f, .6f, .5f, .4f, .1f, .3f, .2f}));
  const auto none = returned_by(without_parents, feed_of({{0, 0}}, {}, {}, {}, {}));
  CHECK(none[0].shape() == lamina::tensor_shape{0, 1});
}

TEST_CASE("a beam without room is refused") {
  CHECK_THROWS_WITH(
      returned_by(step<0>, feed_of({{1}}, {1}, {0}, {4, 5, 6}, {.9f, .5f, .5f})),
      Contains("layer beam_search_0") && Contains("beam_size of at least 1, found 0"));
}

namespace {

template <bool Accumulated, int BeamSize, class Real = float>
constexpr auto search = lamina::program([](block& main) {
  auto before = layer::nested_sequence<"before", std::int64_t>(main);
  auto so_far = layer::sequence<"so_far", Real>(before);
  auto ids = layer::sequence<"ids", std::int64_t, 3>(before);
  auto scores = layer::sequence<"scores", Real, 3>(before);
  auto [id, score, parent] = layer::beam_search<"beam">(before, so_far, ids, scores, BeamSize, 0,
                                                        {.is_accumulated = Accumulated});
  auto whole = layer::beam_search<"whole">(before, so_far, scores, BeamSize, 1);
  return std::tuple{layer::mean(so_far), id, score, parent, std::get<0>(whole), std::get<1>(whole)};
});

}  // namespace

TEST_CASE("beam_search") {
  lamina::law::check_engine(search<true, 2>, {.limit = 4, .rows_are_alone = false});
  lamina::law::check_engine(search<false, 3>,
                            {.low = 0.1f, .high = 1, .limit = 3, .rows_are_alone = false});
}

TEST_CASE("beam_search in double") {
  static_assert(std::is_same_v<lamina::real_of<decltype(search<true, 2, double>)>, double>);
  lamina::law::check_engine(search<true, 2, double>, {.limit = 4, .rows_are_alone = false});
  lamina::law::check_engine(search<false, 3, double>,
                            {.low = 0.1f, .high = 1, .limit = 3, .rows_are_alone = false});
}

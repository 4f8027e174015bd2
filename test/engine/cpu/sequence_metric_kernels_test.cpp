// SPDX-License-Identifier: Apache-2.0
// Edit distances, chunks, labels without positions and steps of a beam search on the engine:
// against the executor.
#include "laws/engine_law.hpp"

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;

namespace {

constexpr auto distances = lamina::program([](block& main) {
  auto x = layer::sequence<"x", std::int64_t>(main);
  auto y = layer::sequence<"y", std::int32_t>(main);
  auto [distance, count] = layer::edit_distance(x, y, {.normalized = false});
  auto path = layer::ctc_align<"path">(x, {.blank = 0});
  auto of_path = std::get<0>(layer::edit_distance(path, x, {.normalized = false}));
  auto other_way = std::get<0>(layer::edit_distance(y, path, {.normalized = false}));
  return std::tuple{layer::mean(distance), distance, count, of_path, other_way};
});

template <int Types, layer::chunk_scheme Scheme>
constexpr auto chunks = lamina::program([](block& main) {
  auto x = layer::sequence<"x", std::int64_t>(main);
  auto y = layer::sequence<"y", std::int32_t>(x);
  return std::tuple_cat(layer::chunk_eval<Types>(x, y, {.scheme = Scheme}),
                        layer::chunk_eval<Types>(x, x, {.scheme = Scheme}, {1}));
});

template <bool ByTimes>
constexpr auto labels = lamina::program([](block& main) {
  auto label = layer::sequence<"label", std::int64_t>(main);
  auto x = layer::sequence<"x", float, 3>(label);
  auto h = layer::fc<5>(x);
  auto score =
      layer::sequence_concat<"score">(std::tuple{h, layer::tanh(h), layer::scale(h, -2.0f)});
  auto loss = layer::warpctc(score, label, {.blank = 4, .norm_by_times = ByTimes});
  return std::tuple{layer::mean(loss), loss};
});

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

TEST_CASE("edit_distance, of made sequences too") {
  lamina::law::check_engine(distances, {.limit = 3});
}
TEST_CASE("chunk_eval of each scheme") {
  using enum layer::chunk_scheme;
  const lamina::law::engine_law_options o{.limit = 7, .rows_are_alone = false};
  lamina::law::check_engine(chunks<3, iob>, o);
  lamina::law::check_engine(chunks<3, ioe>, o);
  lamina::law::check_engine(chunks<6, plain>, o);
  lamina::law::check_engine(chunks<2, iobes>, o);
}
TEST_CASE("warpctc") {
  lamina::law::check_engine(labels<false>, {.limit = 4});
  lamina::law::check_engine(labels<true>, {.low = -4, .high = 4, .limit = 4});
}
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

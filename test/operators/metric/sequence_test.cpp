// SPDX-License-Identifier: Apache-2.0
// edit_distance and chunk_eval: values by hand, and the engine against the executor.
#include <functional>

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
using layer::chunk_scheme;

using numbers = std::vector<double>;

using ids = std::vector<std::vector<std::int64_t>>;

namespace {

template <bool Normalized>
constexpr auto distances = lamina::program([](block& main) {
  auto hyps = layer::sequence<"hyps", std::int64_t>(main);
  auto refs = layer::sequence<"refs", std::int64_t>(main);
  auto [distance, count] = layer::edit_distance(hyps, refs, {.normalized = Normalized});
  return std::tuple{distance, count};
});

constexpr auto of_documents = lamina::program([](block& main) {
  auto hyps = layer::nested_sequence<"hyps", std::int32_t>(main);
  auto all = layer::sequence_erase<"kept">(hyps, {0});
  auto distance = std::get<0>(layer::edit_distance(all, hyps));
  using sentences = lamina::nested_tokens<"hyps">::parent;
  static_assert(__is_same(decltype(distance), lamina::variable<float, sentences, 1>));
  return distance;
});

template <chunk_scheme Scheme, int... Excluded>
constexpr auto chunks = lamina::program([](block& main) {
  auto found = layer::sequence<"found", std::int64_t>(main);
  auto label = layer::sequence<"label", std::int64_t>(found);
  return layer::chunk_eval<2>(found, label, {.scheme = Scheme}, {Excluded...});
});

lamina::feed_map pairs(const ids& hyps, const ids& refs) {
  return {{"hyps", lamina::sequences(hyps)}, {"refs", lamina::sequences(refs)}};
}

// Precision, recall, F1, found, labelled, correct.
template <class P>
numbers chunks_of(P program, const ids& found, const ids& label) {
  numbers all;
  for (const lod_tensor& t : returned_by(
           program, {{"found", lamina::sequences(found)}, {"label", lamina::sequences(label)}}))
    all.push_back(values_of(t).at(0));
  return all;
}

bool is_close(const numbers& found, const numbers& expected) {
  bool same = found.size() == expected.size();
  for (std::size_t i = 0; same && i < found.size(); ++i) same = found[i] == Approx(expected[i]);
  return same;
}

std::vector<std::int64_t> letters(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace

TEST_CASE("edit_distance by hand, with empty sequences") {
  const lamina::feed_map feed =
      pairs({letters("kitten"), {}, letters("abc"), letters("abc"), letters("flaw")},
            {letters("sitting"), letters("ab"), {}, letters("abc"), letters("lawn")});
  const auto r = returned_by(distances<false>, feed);
  CHECK(values_of(r[0]) == numbers{3, 2, 3, 0, 2});
  CHECK(values_of(r[1]) == numbers{5});
  CHECK(r[1].type() == lamina::dtype::int64);
  const auto n =
      returned_by(distances<true>, pairs({letters("kitten"), {}}, {letters("sitting"), {4, 5}}));
  CHECK(values_of(n[0])[0] == Approx(3.0 / 7));
  CHECK(values_of(n[0])[1] == 1);
  CHECK(returned_by(distances<true>, pairs({}, {}))[0].shape() == lamina::tensor_shape{0, 1});
}

TEST_CASE("edit_distance is what the definition by recursion gives") {
  ids hyps, refs;
  for (std::uint32_t i = 0; i < 30; ++i) {
    hyps.emplace_back(), refs.emplace_back();
    for (std::uint32_t k = 0; k < i % 6; ++k) hyps.back().push_back((i * 7 + k * k * 3) % 4);
    for (std::uint32_t k = 0; k < (i * 5) % 7; ++k) refs.back().push_back((i + k * 5 + k / 2) % 4);
  }
  const auto r = values_of(returned_by(distances<false>, pairs(hyps, refs))[0]);
  for (std::size_t s = 0; s < hyps.size(); ++s) {
    const std::function<double(std::size_t, std::size_t)> from = [&](std::size_t i, std::size_t j) {
      if (i == hyps[s].size()) return static_cast<double>(refs[s].size() - j);
      if (j == refs[s].size()) return static_cast<double>(hyps[s].size() - i);
      const double kept = from(i + 1, j + 1) + (hyps[s][i] == refs[s][j] ? 0 : 1);
      return std::min({kept, from(i + 1, j) + 1, from(i, j + 1) + 1});
    };
    CHECK(r[s] == from(0, 0));
  }
}

TEST_CASE("edit_distance of the sentences of documents, after sequence_erase") {
  const lod_tensor x = lamina::nested_sequences<std::int32_t>({{{1, 0, 2}, {3}}, {}, {{0, 0}}});
  const auto r = returned_by(of_documents, {{"hyps", x}});
  CHECK(values_of(r[0])[0] == Approx(1.0 / 3));
  CHECK(values_of(r[0])[1] == 0);
  CHECK(values_of(r[0])[2] == 1);
  CHECK(r[0].recursive_sequence_lengths() == std::vector<lod::level>{{2, 0, 1}});
  laws::check_each_sample_alone(of_documents, {{"hyps", x}});
}

TEST_CASE("each sample alone has its edit distance") {
  laws::check_each_sample_alone(distances<false>,
                                pairs({{1, 2, 3}, {}, {4, 4}}, {{1, 3}, {2}, {}}));
}

TEST_CASE("an empty label has no length to divide by") {
  CHECK_THROWS_WITH(returned_by(distances<true>, pairs({{1}, {2}}, {{1}, {}})),
                    Contains("layer edit_distance_0") && Contains("variable 'refs'") &&
                        Contains("none in sequence 1"));
}

// Tags of two types 0 and 1: IOB B0 I0 B1 I1 = 0 1 2 3, outside 4.
TEST_CASE("chunk_eval, IOB: a begin, or an inside of another type, begins a chunk") {
  constexpr auto iob = chunks<chunk_scheme::iob>;
  // Labels: [B0 I0] O [B1] [B1 I1] | [I0 I0] [I1]; found: [B0 I0] O [B1 I1 I1] | [I0 I0] [I1].
  CHECK(is_close(chunks_of(iob, {{0, 1, 4, 2, 3, 3}, {1, 1, 3}}, {{0, 1, 4, 2, 2, 3}, {1, 1, 3}}),
                 {0.75, 0.6, 2 * 0.75 * 0.6 / 1.35, 4, 5, 3}));
  // Chunks end with their sequences.
  CHECK(is_close(chunks_of(iob, {{0, 1}, {1}}, {{0, 0}, {1}}), {0.5, 1 / 3.0, 0.4, 2, 3, 1}));
  CHECK(is_close(chunks_of(iob, {{0}, {}, {1, 1}}, {{0}, {}, {1, 1}}), {1, 1, 1, 2, 2, 2}));
  CHECK(is_close(chunks_of(iob, {{4, 4}}, {{0, 4}}), {0, 0, 0, 0, 1, 0}));
  CHECK(is_close(chunks_of(iob, {{}}, {{}}), {0, 0, 0, 0, 0, 0}));
}

// IOE: I0 E0 I1 E1 = 0 1 2 3, outside 4.
TEST_CASE("chunk_eval, IOE: an end ends a chunk") {
  // Labels: [I0 E0] [I0] O [E1] [E1]; found: [I0 I0 I0] O [E1] [I1].
  CHECK(is_close(chunks_of(chunks<chunk_scheme::ioe>, {{0, 0, 0, 4, 3, 2}}, {{0, 1, 0, 4, 3, 3}}),
                 {2 / 3.0, 0.5, 4 / 7.0, 3, 4, 2}));
}

// IOBES: B0 I0 E0 S0 = 0 1 2 3, B1 I1 E1 S1 = 4 5 6 7, outside 8.
TEST_CASE("chunk_eval, IOBES: singles stand alone") {
  // Labels: [B0 I0 E0] [S0] [S0] O [B1 E1]; found: [B0 I0] [S0] [S0] O [B1 E1]: the row of E0 is O.
  CHECK(is_close(chunks_of(chunks<chunk_scheme::iobes>, {{0, 1, 8, 3, 3, 8, 4, 6}},
                           {{0, 1, 2, 3, 3, 8, 4, 6}}),
                 {0.75, 0.75, 0.75, 4, 4, 3}));
  CHECK(chunks_of(chunks<chunk_scheme::iobes>, {{2, 1, 0}}, {{2, 1, 0}})[3] == 3);
}

TEST_CASE("chunk_eval, plain: a run of one type is a chunk; types can be left out") {
  const ids found{{0, 0, 1, 1, 2}, {1}}, label{{0, 0, 1, 2, 2}, {1}};
  CHECK(is_close(chunks_of(chunks<chunk_scheme::plain>, found, label),
                 {2 / 3.0, 2 / 3.0, 2 / 3.0, 3, 3, 2}));
  CHECK(is_close(chunks_of(chunks<chunk_scheme::plain, 1>, found, label), {1, 1, 1, 1, 1, 1}));
}

TEST_CASE("a tag that the scheme does not have is refused") {
  CHECK_THROWS_WITH(
      chunks_of(chunks<chunk_scheme::plain>, {{3}}, {{0}}),
      Contains("layer chunk_eval_0") && Contains("from 0 to 2 in feed 'found', found 3"));
  CHECK_THROWS_WITH(chunks_of(chunks<chunk_scheme::iob>, {{0}}, {{-1}}),
                    Contains("from 0 to 4 in feed 'label', found -1"));
}

namespace {

constexpr auto distances_on_engine = lamina::program([](block& main) {
  auto x = layer::sequence<"x", std::int64_t>(main);
  auto y = layer::sequence<"y", std::int32_t>(main);
  auto [distance, count] = layer::edit_distance(x, y, {.normalized = false});
  auto path = layer::ctc_align<"path">(x, {.blank = 0});
  auto of_path = std::get<0>(layer::edit_distance(path, x, {.normalized = false}));
  auto other_way = std::get<0>(layer::edit_distance(y, path, {.normalized = false}));
  return std::tuple{layer::mean(distance), distance, count, of_path, other_way};
});

template <int Types, layer::chunk_scheme Scheme>
constexpr auto chunks_on_engine = lamina::program([](block& main) {
  auto x = layer::sequence<"x", std::int64_t>(main);
  auto y = layer::sequence<"y", std::int32_t>(x);
  return std::tuple_cat(layer::chunk_eval<Types>(x, y, {.scheme = Scheme}),
                        layer::chunk_eval<Types>(x, x, {.scheme = Scheme}, {1}));
});

}  // namespace

TEST_CASE("edit_distance, of made sequences too") {
  lamina::law::check_engine(distances_on_engine, {.limit = 3});
}

TEST_CASE("chunk_eval of each scheme") {
  using enum layer::chunk_scheme;
  const lamina::law::engine_law_options o{.limit = 7, .rows_are_alone = false};
  lamina::law::check_engine(chunks_on_engine<3, iob>, o);
  lamina::law::check_engine(chunks_on_engine<3, ioe>, o);
  lamina::law::check_engine(chunks_on_engine<6, plain>, o);
  lamina::law::check_engine(chunks_on_engine<2, iobes>, o);
}

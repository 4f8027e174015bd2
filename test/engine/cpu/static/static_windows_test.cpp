// SPDX-License-Identifier: Apache-2.0
// The states of convolutions in windows: the same numbers as with states that are copied.
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <tuple>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/static/static_windows.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/static_evaluator.hpp>

namespace layer = lamina::layer;

namespace {

// Two convolutions over a signal. Only states with the names NAME and NAME_next are in windows, so
// `Next` chooses whether the evaluator copies the states.
template <int Length, lamina::fixed_string Next>
constexpr auto filter = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, Length>(main);
  auto past = layer::data<"past", float, 2, 8>(main);
  auto older = layer::data<"older", float, 3, 1, 14>(main);
  auto [h, next] = layer::conv1d_with_state<3, 3, lamina::window1{.dilation = 4}>(
      x, past, {.act = lamina::activation::tanh});
  auto seen = layer::concat<3>(std::tuple{older, layer::reshape<3, 1, Length>(h)});
  auto z = layer::conv2d<4, lamina::extent2{1, 3}, lamina::window{.dilation = {1, 7}}>(seen);
  auto older_next = layer::slice<layer::along<3, Length, Length + 14>>(seen, {.name = Next.view()});
  return std::tuple{layer::relu(z, {.name = "y"}), next, older_next};
});
template <int Length>
using kept = std::remove_const_t<decltype(filter<Length, "older_next">)>;
template <int Length>
using copied = std::remove_const_t<decltype(filter<Length, "after">)>;

template <class Program>
constexpr int windows() {
  constexpr lamina::engine::cpu::static_windows<lamina::for_test<Program>> all{};
  int n = 0;
  for (const auto& w : all.of) n += w.data >= 0;
  return n;
}
static_assert(windows<kept<8>>() == 2);
static_assert(windows<copied<8>>() == 1);

void fill(auto&& to, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::generate(to.begin(), to.end(), [&] { return normal(random); });
}
std::vector<float> all_of(const auto& view) { return {view.begin(), view.end()}; }

template <int Length, int Rows>
void compare() {
  INFO("blocks of " << Length << ", " << Rows << " rows");
  const lamina::model model{filter<Length, "older_next">, 5};
  const lamina::model same{filter<Length, "after">, 5};
  auto s = std::make_unique<lamina::static_evaluator<kept<Length>, Rows>>();
  auto c = std::make_unique<lamina::static_evaluator<copied<Length>, Rows>>();
  s->load(model);
  c->load(same);
  std::mt19937 random(Length);
  for (int t = 0; t < 60; ++t) {
    if (t == 20) {  // somewhere else
      auto moved = std::make_unique<lamina::static_evaluator<kept<Length>, Rows>>();
      std::memcpy(static_cast<void*>(moved.get()), s.get(), sizeof *s);
      s.swap(moved);
    }
    if (t == 30) {  // other states, as at the beginning of another signal
      std::vector<float> state(Rows * 3 * 14);
      fill(state, random);
      std::copy(state.begin(), state.end(), s->template input<"older">().begin());
      std::copy(state.begin(), state.end(), c->template input<"older">().begin());
      for (std::size_t i = 0; i < s->template input<"past">().size(); ++i)
        s->template input<"past">()[i] = c->template input<"past">()[i] = 0.5F;
    }
    fill(s->template input<"x">(), random);
    std::ranges::copy(s->template input<"x">(), c->template input<"x">().begin());
    s->forward();
    if (t % 3 == 0) s->forward();  // the states are the same until they are fed back
    c->forward();
    for (int r = 0; r < Rows; ++r) {
      REQUIRE(all_of(s->template activation<"y">(r)) == all_of(c->template activation<"y">(r)));
      REQUIRE(all_of(s->template activation<"older_next">(r)) ==
              all_of(c->template activation<"after">(r)));
    }
    if (t % 2 == 0) {
      s->feed_back();
    } else {
      s->template feed_back<"older_next", "older">();
      s->template feed_back<"past_next", "past">();
    }
    c->feed_back();
    c->template feed_back<"after", "older">();
    REQUIRE(all_of(s->template input<"older">()) == all_of(c->template input<"older">()));
    REQUIRE(all_of(s->template input<"past">()) == all_of(c->template input<"past">()));
    for (int r = 0; r < Rows; ++r)
      REQUIRE(all_of(s->template activation<"older_next">(r)) ==
              all_of(c->template activation<"after">(r)));
  }
}

// States that are copied: one more operator reads the concatenation, or the next state; the
// concatenation has a name; the slice is not the end.
enum class other { reads_whole, reads_next, names_whole, begins_early };
template <other Kind>
constexpr auto unfit = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 1, 8>(main);
  auto past = layer::data<"past", float, 2, 1, 2>(main);
  auto seen =
      layer::concat<3>(std::tuple{past, x}, {.name = Kind == other::names_whole ? "seen" : ""});
  auto y = layer::conv2d<4, lamina::extent2{1, 3}>(seen, {.name = "y"});
  constexpr int first = Kind == other::begins_early ? 7 : 8;
  auto next = layer::slice<layer::along<3, first, first + 2>>(seen, {.name = "past_next"});
  if constexpr (Kind == other::reads_whole) layer::tanh(seen, {.name = "more"});
  if constexpr (Kind == other::reads_next) layer::tanh(next, {.name = "more"});
  return std::tuple{y, next};
});
template <other Kind>
constexpr int windows_of_unfit = windows<std::remove_const_t<decltype(unfit<Kind>)>>();
static_assert(windows_of_unfit<other::reads_whole> == 0);
static_assert(windows_of_unfit<other::reads_next> == 0);
static_assert(windows_of_unfit<other::names_whole> == 0);
static_assert(windows_of_unfit<other::begins_early> == 0);

// A state that another activation replaces is copied element by element.
constexpr auto replaced = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 4>(main);
  auto past = layer::data<"past", float, 2, 4>(main);
  auto [y, next] = layer::conv1d_with_state<2, 3, lamina::window1{.dilation = 2}>(x, past);
  return std::tuple{layer::scale(y, 1, {.name = "y"}), next};
});

}  // namespace

TEST_CASE("states in windows have the numbers of copied states") {
  compare<8, 1>();
  compare<8, 3>();
  compare<5, 2>();
  compare<1, 1>();
  compare<64, 1>();
}

TEST_CASE("an activation of another name can become a state in a window") {
  lamina::static_evaluator<std::remove_const_t<decltype(replaced)>, 2> s;
  static_assert(windows<std::remove_const_t<decltype(replaced)>>() == 1);
  s.load(lamina::model{replaced, 3});
  std::mt19937 random(1);
  for (int t = 0; t < 9; ++t) {
    fill(s.input<"x">(), random);
    s.forward();
    t % 2 == 0 ? s.feed_back<"y", "past">() : s.feed_back();
  }
  s.feed_back<"y", "past">();
  for (std::size_t i = 0; i < 16; ++i)
    CHECK(s.input<"past">()[i] == s.activation<"y">(static_cast<int>(i / 8))[i % 8]);
  s.forward();
  const auto next = all_of(s.activation<"past_next">(1));
  s.feed_back<"past_next", "x">();
  CHECK(std::equal(next.begin(), next.end(), s.input<"x">().begin() + 8));
}

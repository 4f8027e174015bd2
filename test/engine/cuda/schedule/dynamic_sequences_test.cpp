// SPDX-License-Identifier: Apache-2.0
// Sequences of new lengths on a device are those that the CPU's engine makes.
#include <string>
#include <vector>

#include "engine/cuda/dynamic_sequence_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/place.hpp>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/model/evaluator.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

namespace {

constexpr optimizer::sgd how{.learning_rate = 0.1f};

/// Work is done as late as it is waited for: what the host tells the place has to stay.
template <class P>
double apart(P program, const std::vector<int>& sizes = {5, 3, 5, 9}) {
  cuda::host_backend<1> backend;
  backend.defer();
  return test::train_both(program, how, backend, sizes).worst();
}

}  // namespace

TEST_CASE("sequences of new lengths on a device are those of the CPU") {
  CHECK(apart(test::pieces) < 1e-5);
  CHECK(apart(test::words) < 1e-5);
  CHECK(apart(test::copies) < 1e-5);
  CHECK(apart(test::parts, {3, 3}) < 1e-5);
}

TEST_CASE("sequences in branches and steps on a device are those of the CPU") {
  CHECK(apart(test::ways) < 1e-5);
  CHECK(apart(test::decoder) < 2e-5);
  CHECK(apart(test::made_in_steps) < 2e-4);
}

TEST_CASE("steps of sequences that a program makes on a device are those of the CPU") {
  CHECK(apart(test::steps_in_steps) < 2e-5);
  CHECK(apart(test::steps_in_branches) < 2e-5);
}

namespace {

constexpr auto named = lamina::program([](lamina::block& main) {
  auto x = test::layer::sequence<"x", float, 2>(main);
  auto h = test::layer::fc<2>(x);
  return test::layer::sequence_concat<"twice">(std::tuple{h, h}, {.name = "twice"});
});

}  // namespace

TEST_CASE("an evaluator on a device tells where the sequences are that were made") {
  using P = std::remove_const_t<decltype(named)>;
  const lamina::model model{named, 3};
  lamina::evaluator expected{model};
  lamina::evaluator<P, lamina::device_machine<P, cuda::host_backend<1>>> found(model,
                                                                               lamina::place{});
  using sentence = std::vector<float>;
  for (const std::vector<sentence>& x :
       {std::vector<sentence>{{1, 2}, {}, {3, 4, 5, 6}}, std::vector<sentence>{{7, 8, 9, 1}}}) {
    expected.forward(lamina::feed<"x">(x));
    found.forward(lamina::feed<"x">(x));
    const auto a = expected.sequences<"twice">(), b = found.sequences<"twice">();
    REQUIRE(b.count == a.count);
    for (int i = 0; i < a.count; ++i) {
      CHECK(b.begin(i) == a.begin(i));
      CHECK(b.end(i) == a.end(i));
    }
    const auto u = expected.activation<"twice">(), v = found.activation<"twice">();
    REQUIRE(v.shape()[0] == u.shape()[0]);
    for (int r = 0; r < static_cast<int>(u.shape()[0]); ++r) CHECK(v(r, 1) == Approx(u(r, 1)));
  }
}

namespace {

constexpr auto short_rows = lamina::program([](lamina::block& main) {
  auto x = test::layer::sequence<"x", float, 2>(main);
  auto [padded, length] = test::layer::sequence_pad<3>(test::layer::fc<2>(x), 0);
  return test::detail::cost_of(padded);
});

constexpr auto wrong_cut = lamina::program([](lamina::block& main) {
  auto x = test::layer::sequence<"x", float, 2>(main);
  auto n = test::layer::data<"n", std::int64_t>(main);
  auto cut = test::layer::sequence_slice<"cut">(test::layer::fc<2>(x), n - n, n);
  return test::detail::cost_of(test::detail::pooled(cut));
});

constexpr auto wrong_id = lamina::program([](lamina::block& main) {
  auto word = test::layer::sequence<"word", std::int64_t>(main);
  auto weight = test::layer::sequence<"weight", float>(word);
  auto x = test::layer::data<"x", float, 3>(main);
  return test::detail::cost_of(test::layer::sequence_scatter(test::layer::fc<3>(x), word, weight));
});

/// What a step on the CPU says, and what one on a device does.
template <class P>
void check_messages(P program, const char* part) {
  lamina::model on_cpu{program, 3}, on_device{program, 3};
  cuda::host_backend<1> backend;
  lamina::cpu_trainer<P, optimizer::sgd> expected(how, on_cpu, 1, 11);
  lamina::device_trainer<P, optimizer::sgd, cuda::host_backend<1>> found(backend, how, on_device,
                                                                         11);
  const test::random_samples<P> s(9, 9);
  const auto message_of = [&](auto& trainer) -> std::string {
    try {
      trainer.step(s.batch(0, 9));
    } catch (const lamina::error& e) {
      return e.what();
    }
    return "";
  };
  // Errors that are known when a kernel is launched name the layer, without the feed.
  const auto without_feed = [](std::string text) {
    const std::size_t feed = text.find(", feed '");
    if (feed != text.npos) text.erase(feed, text.find(':', feed) - feed);
    return text;
  };
  const std::string wanted = without_feed(message_of(expected));
  CHECK(wanted.find(part) != std::string::npos);
  CHECK(without_feed(message_of(found)).substr(0, wanted.size()) == wanted);
}

}  // namespace

TEST_CASE("what does not fit into sequences is said as on the CPU") {
  check_messages(short_rows, "expected sequences of at most 3 rows, found");
  check_messages(wrong_cut, "length in row");
  check_messages(wrong_id, "id in row");
}

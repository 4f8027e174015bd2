// SPDX-License-Identifier: Apache-2.0
// Loops and branches on a device compute what the CPU's engine does.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/loop_programs.hpp"
#include "engine/cuda/recurrence_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/schedule/block_engine.hpp>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

namespace {

const std::vector<int> sizes = {5, 3, 5, 7};

const optimizer::sgd sgd{.learning_rate = 0.1f};

}  // namespace

TEST_CASE("loops on a device learn what they do on the CPU") {
  cuda::host_backend<1> one;
  SECTION("steps of a dimension") {
    CHECK(test::train_both(test::steps, sgd, one, sizes).worst() < 1e-5);
  }
  SECTION("sequences") { CHECK(test::train_both(test::ragged, sgd, one, sizes).worst() < 1e-5); }
  SECTION("as long as values say") {
    CHECK(test::train_both(test::halved, sgd, one, sizes).worst() < 1e-5);
  }
  SECTION("loops in loops") {
    CHECK(test::train_both(test::nested, sgd, one, sizes).worst() < 1e-5);
  }
}

TEST_CASE("branches on a device learn what they do on the CPU") {
  cuda::host_backend<1> one;
  SECTION("of rows, and of all") {
    CHECK(test::train_both(test::branches, sgd, one, sizes).worst() < 1e-5);
  }
  SECTION("by values, around loops") {
    CHECK(test::train_both(test::decided, sgd, one, sizes).worst() < 1e-5);
  }
  SECTION("in a loop") { CHECK(test::train_both(test::choices, sgd, one, sizes).worst() < 1e-5); }
}

namespace {

// What the host knows of a training program on a device: whether its launches repeat.
template <class P>
using known = cuda::host_table<lamina::training_program<P, optimizer::sgd>, cuda::host_backend<1>>;

template <auto const& Program>
using known_of = known<std::remove_cvref_t<decltype(Program)>>;

}  // namespace

TEST_CASE("what a place has recorded of loops and branches does the same again") {
  cuda::host_backend<1> recorder;
  recorder.record();
  STATIC_REQUIRE(known_of<test::steps>::repeats);
  STATIC_REQUIRE(known_of<test::nested>::repeats);
  STATIC_REQUIRE(known_of<test::ragged>::repeats);
  // The host waits for conditions and for the number of chosen rows.
  STATIC_REQUIRE(!known_of<test::decided>::repeats);
  STATIC_REQUIRE(!known_of<test::halved>::repeats);
  STATIC_REQUIRE(!known_of<test::branches>::repeats);
  STATIC_REQUIRE(!known_of<test::choices>::repeats);
  const std::vector<int> again = {5, 5, 5, 3, 5, 3, 3};
  CHECK(test::train_both(test::steps, sgd, recorder, again).worst() < 1e-5);
  CHECK(test::train_both(test::nested, sgd, recorder, again).worst() < 1e-5);
  CHECK(test::train_both(test::decided, sgd, recorder, again).worst() < 1e-5);
  CHECK(test::train_both(test::halved, sgd, recorder, again).worst() < 1e-5);
  // Where lengths come back, and where they do not.
  CHECK(test::train_both(test::ragged, sgd, recorder, again).worst() < 1e-5);
  CHECK(test::train_both(test::branches, sgd, recorder, again).worst() < 1e-5);
  CHECK(test::train_both(test::choices, sgd, recorder, again).worst() < 1e-5);
}

TEST_CASE("loops by values keep a frame for each iteration that their gradient reads") {
  cuda::host_backend<1> backend;
  backend.defer();
  const std::vector<int> equal(12, 3);
  CHECK(test::train_both(test::told_by_values, sgd, backend, equal).worst() < 1e-4);
}

TEST_CASE("branches take rows as values say, also none") {
  cuda::host_backend<1> backend;
  backend.defer();
  const std::vector<int> few = {1, 1, 1, 1, 2, 2, 2, 2, 5, 5};
  CHECK(test::train_both(test::parted, sgd, backend, few).worst() < 1e-5);
  CHECK(test::train_both(test::counted, sgd, backend, few).worst() < 1e-5);
}

TEST_CASE("recurrences written by hand learn what they do on the CPU") {
  cuda::host_backend<1> recorder;
  recorder.record();
  const std::vector<int> again = {5, 3, 5, 5};
  CHECK(test::train_both(test::recurrence, sgd, recorder, again).worst() < 1e-5);
  CHECK(test::train_both(test::gated, sgd, recorder, again).worst() < 1e-5);
  CHECK(test::train_both(test::broad, sgd, recorder, {3, 3}).worst() < 1e-5);
  CHECK(test::train_both(test::unit_cells, sgd, recorder, again).worst() < 1e-5);
  CHECK(test::train_both(test::carried, sgd, recorder, again).worst() < 1e-5);
  CHECK(test::train_both(test::repeated, sgd, recorder, again).worst() < 1e-5);
}

TEST_CASE("loops and branches on a device tell what they do on the CPU") {
  CHECK(test::test_both<cuda::host_backend<1>>(test::steps, 6) < 1e-5);
  CHECK(test::test_both<cuda::host_backend<1>>(test::ragged, 6) < 1e-5);
  CHECK(test::test_both<cuda::host_backend<1>>(test::halved, 6) < 1e-5);
  CHECK(test::test_both<cuda::host_backend<1>>(test::nested, 6) < 1e-5);
  CHECK(test::test_both<cuda::host_backend<1>>(test::branches, 6) < 1e-5);
}

namespace {

// One counter goes up to a limit that never comes, or an array is read where nobody wrote.
constexpr auto endless = lamina::program([](lamina::block& main) {
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto going = layer::less_than(i, i + i + layer::fill_constant<std::int64_t>(main, 1));
  layer::while_loop(going, [&](lamina::block&) {
    auto next = i + layer::fill_constant<std::int64_t>(main, 1);
    layer::less_than(i, next, going);
    i = next;
  });
  return i;
});

constexpr auto unwritten = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto zero = layer::fill_constant<std::int64_t>(main, 0);
  auto one = layer::fill_constant<std::int64_t>(main, 1);
  return layer::array_read(layer::array_write(x, zero), one);
});

template <class P>
std::string message_of(P, std::uint64_t most) {
  cuda::host_backend<1> backend;
  cuda::machine<P, cuda::host_backend<1>> machine(backend, {});
  machine.limit_iterations(most);
  try {
    const float x[2] = {};
    if (lamina::counts_of<P>.data > 0) machine.feed(0, x);
    machine.run(~0ull, 0, 0);
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("what fails in a loop on a device is told as on the CPU") {
  CHECK(message_of(endless, 100) ==
        "lamina: while: expected the condition 'while_0.tmp_0' to be false after 100 "
        "iterations, found true");
  CHECK(
      message_of(unwritten, 100) ==
      "lamina: layer array_read_0: expected a value at index 1 of an array of 1 values, found none "
      "(for array_read_0.tmp_0)");
}

TEST_CASE("a number that is out of range in a loop on a device is told with its row") {
  static constexpr auto looked_up = lamina::program([](lamina::block& main) {
    auto ids = layer::data<"ids", std::int64_t>(main);
    auto i = layer::fill_constant<std::int64_t>(main, 0);
    auto two = layer::fill_constant<std::int64_t>(main, 2);
    auto h = layer::cast<float>(ids);
    auto going = layer::less_than(i, two);
    layer::while_loop(going, [&](lamina::block&) {
      h = layer::tanh(h + layer::embedding<5, 1>(ids));
      layer::increment(i);
      layer::less_than(i, two, going);
    });
    return layer::mean(layer::square(h));
  });
  using P = std::remove_const_t<decltype(looked_up)>;
  const lamina::model model{looked_up, 3};
  lamina::device_machine<P, cuda::host_backend<1>> machine(model, 0);
  struct {
    int count[2] = {0, 3};
    const int* offsets[2] = {};
    std::int64_t first[2] = {};
  } rows;
  machine.bind(rows);
  const std::int64_t wrong[3] = {0, 4, 7}, right[3] = {0, 4, 1};
  machine.feed(0, wrong);
  CHECK_THROWS_WITH(machine.run(~0ull, 0, 0),
                    "lamina: layer embedding_0, feed 'ids': id in row 2: expected 0 to 4, found "
                    "another in a loop or branch");
  machine.feed(0, right);
  CHECK_NOTHROW(machine.run(~0ull, 0, 0));
}

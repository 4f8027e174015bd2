// SPDX-License-Identifier: Apache-2.0
// Narrow products behind each other are one kernel, which computes what the CPU's engine does.
#include <algorithm>
#include <vector>

#include "engine/cuda/chain_programs.hpp"
#include "engine/cuda/noting_host.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/tensor_backend.hpp>
#include <lamina/model/place_machine.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

namespace {

using test::noting_host;
using test::of_few_rows;
using test::with_gradients;
using host = noting_host<cuda::host_backend<1>>;
template <class Arithmetic>
using tensor_host = cuda::backend_of<cuda::host_backend<1>, Arithmetic>;
constexpr optimizer::sgd sgd{.learning_rate = 0.1f};

/// The same without chains: their weights would find no room.
template <class Tile>
struct lone_tile : Tile {
  static constexpr cuda::operand_layout operands{1, 1 << 20, true};
};
template <class Base>
struct lone_host : Base {
  using Base::Base;
  using product_tile = lone_tile<typename Base::product_tile>;
};

/// A chain of many rows rounds what lone products round, and adds in their order, but for the sums
/// over all rows that are gradients of weights.
template <class Base, class P>
void check_equal(P program) {
  noting_host<Base> chained;
  noting_host<lone_host<Base>> lone;
  lamina::model at_lone{program, 3}, at_chained{program, 3};
  lamina::device_trainer<P, optimizer::sgd, noting_host<lone_host<Base>>> expected(lone, sgd,
                                                                                   at_lone, 11);
  lamina::device_trainer<P, optimizer::sgd, noting_host<Base>> found(chained, sgd, at_chained, 11);
  CHECK(test::train_side_by_side<P>(expected, found, {529}).cost == 0);
  CHECK(test::train_side_by_side<P>(expected, found, {513}).cost < 1e-6);
  expected.bring_back();
  CHECK(test::parameters_apart(expected.trained(), found.trained()) < 1e-6);
  CHECK(lone.links.empty());
  CHECK(!chained.links.empty());
}

}  // namespace

TEST_CASE("a chain of products at a place learns what it does on the CPU") {
  host backend;
  SECTION("of equal layers") {
    CHECK(test::train_both(test::narrow, sgd, backend, {7, 12, 1, 70}).worst() < 1e-5);
    CHECK(backend.links.size() == 8);
    // With the slope of the cost behind them.
    CHECK(backend.links[0] == of_few_rows + 5 + 1);
    CHECK(backend.links[1] == with_gradients + 4);
  }
  SECTION("of others") {
    CHECK(test::train_both(test::uneven, sgd, backend, {7, 12, 1, 70, 515}).worst() < 1e-5);
    CHECK(std::count(backend.links.begin(), backend.links.end(), of_few_rows + 2) > 0);
    CHECK(std::count(backend.links.begin(), backend.links.end(), 2) > 0);
  }
}

TEST_CASE("gradients of many rows are added up in parts") {
  host backend;
  // One part; several that are one sum; several sums; parts of several tiles.
  CHECK(test::train_both(test::thin, sgd, backend, {3, 700, 1100, 17000, 64}).worst() < 2e-5);
  const int slopes = with_gradients + 3;
  CHECK(backend.links == std::vector<int>{of_few_rows + 4 + 1, slopes, 4, slopes, 4, slopes, 4,
                                          slopes, of_few_rows + 4 + 1, slopes});
  noting_host<tensor_host<lamina::cuda::tf32_type>> tf32;
  CHECK(test::train_both(test::thin, sgd, tf32, {3, 1100}).worst() < 2e-3);
}

TEST_CASE("gradients of a chain go to whoever updates") {
  host backend;
  const optimizer::momentum limited{.learning_rate = 0.1f,
                                    .clip = lamina::clip_by_global_norm(0.1f)};
  CHECK(test::train_both(test::narrow, limited, backend, {7, 12}).worst() < 1e-5);
  const optimizer::adam adam{.learning_rate = 0.01f};
  CHECK(test::train_both(test::narrow, adam, backend, {7, 12}).worst() < 5e-5);
  backend.record();
  CHECK(test::train_both(test::thin, adam, backend, {7, 7, 7, 12, 12, 7}).worst() < 5e-5);
}

// The small tiles of the host in float are split where those of a device are not.
TEST_CASE("a chain by tensor cores computes what lone products do") {
  const auto check = []<class Base>(Base*) {
    check_equal<Base>(test::narrow);
    check_equal<Base>(test::uneven);
  };
  SECTION("tf32") { check(static_cast<tensor_host<lamina::cuda::tf32_type>*>(nullptr)); }
  SECTION("bfloat16") { check(static_cast<tensor_host<lamina::cuda::bfloat16_type>*>(nullptr)); }
  SECTION("float16") { check(static_cast<tensor_host<lamina::cuda::float16_type>*>(nullptr)); }
}

TEST_CASE("a chain of a program in test mode computes what the CPU does") {
  CHECK(test::test_both<host>(test::narrow, 70) < 1e-5);
  CHECK(test::test_both<host>(test::uneven, 70) < 1e-5);
  CHECK(test::test_both<noting_host<tensor_host<lamina::cuda::tf32_type>>>(test::uneven, 70) <
        1e-3);
}

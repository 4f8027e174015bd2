// SPDX-License-Identifier: Apache-2.0
// Loops that are one kernel at a place compute what the CPU's engine does.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/cuda/loop_programs.hpp"
#include "engine/cuda/row_loop_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/tensor_backend.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

namespace {

const optimizer::sgd sgd{.learning_rate = 0.1f};
const std::vector<int> sizes = {5, 3, 5, 7};

template <class Body>
inline constexpr bool is_row_loop = false;
template <int Threads, int Arguments, class... Steps>
inline constexpr bool is_row_loop<cuda::row_loop_body<Threads, Arguments, Steps...>> = true;

/// A host that counts loops and all launches.
template <class Base>
struct counting : Base {
  using Base::Base;
  int loops = 0, launches = 0;
  template <class Body>
  void cells(const typename Body::arguments& g) {
    ++launches;
    Base::template cells<Body>(g);
  }
  template <class Body>
  void teams(const typename Body::arguments& g) {
    loops += is_row_loop<Body> ? 1 : 0;
    ++launches;
    Base::template teams<Body>(g);
  }
  template <class Body>
  void lines(const typename Body::arguments& a) {
    ++launches;
    Base::template lines<Body>(a);
  }
  template <class Body>
  void elements(const typename Body::arguments& a) {
    ++launches;
    Base::template elements<Body>(a);
  }
};
using host = counting<cuda::host_backend<1>>;

template <class P>
void check(P program, double most = 1e-5) {
  host joined, apart;
  apart.keep_steps_apart();
  CHECK(test::train_both(program, sgd, joined, sizes).worst() < most);
  CHECK(test::train_both(program, sgd, apart, sizes).worst() < most);
  CHECK(joined.loops > 0);
  CHECK(apart.loops == 0);
  CHECK(joined.launches < apart.launches);
}

}  // namespace

TEST_CASE("row loops at a place learn what they do on the CPU") {
  SECTION("a recurrence") { check(test::recurrence); }
  SECTION("products behind each other") { check(test::gated); }
  SECTION("weights that find no room") { check(test::broad); }
  SECTION("what a loop carries") { check(test::carried); }
  SECTION("cells of an operator") { check(test::unit_cells); }
  SECTION("random numbers of each step") { check(test::steps); }
  SECTION("inside of a loop") { check(test::repeated); }
  SECTION("with values of the sample") { check(test::ragged); }
}

TEST_CASE("a row loop is one launch, however many steps it has") {
  host backend;
  test::train_both(test::gated, sgd, backend, {3});
  CHECK(backend.loops == 2);
}

TEST_CASE("rows of a row loop are shared among teams") {
  host backend;
  // One, two and four rows at a time.
  CHECK(test::train_both(test::recurrence, sgd, backend, {127, 200, 600, 1}).worst() < 1e-5);
  CHECK(test::train_both(test::carried, sgd, backend, {128, 129, 257, 1000}).worst() < 2e-5);
}

TEST_CASE("a recorded row loop does the same again") {
  host recorder;
  recorder.record();
  const std::vector<int> again = {5, 5, 5, 3, 5, 3, 3};
  CHECK(test::train_both(test::gated, sgd, recorder, again).worst() < 1e-5);
  CHECK(test::train_both(test::carried, sgd, recorder, again).worst() < 1e-5);
  CHECK(test::train_both(test::repeated, sgd, recorder, again).worst() < 1e-5);
}

namespace {
/// Mini-batches by their first sample and size, one after the other, at a place and on the CPU.
template <class P, class Backend>
double train_parts(P program, Backend& backend, const std::vector<std::pair<int, int>>& parts) {
  lamina::model on_cpu{program, 3}, at_place{program, 3};
  lamina::trainer<P, optimizer::sgd> expected(sgd, on_cpu, 1, 11);
  lamina::device_trainer<P, optimizer::sgd, Backend> found(backend, sgd, at_place, 11);
  const test::random_samples<P> s(20, 5);
  double worst = 0;
  for (const auto& [first, n] : parts) {
    const double wanted = expected.step(s.batch(first, n)), cost = found.step(s.batch(first, n));
    worst = std::max(worst, std::abs(wanted - cost) / std::max(1e-3, std::abs(wanted)));
  }
  found.bring_back();
  return std::max(worst, test::parameters_apart(on_cpu, at_place));
}
}  // namespace

TEST_CASE("what ranks sequences is recorded where their lengths come back") {
  host recorder;
  recorder.record();
  const std::pair<int, int> a{0, 6}, b{6, 6}, c{12, 3};
  CHECK(train_parts(test::recurrence, recorder, {a, a}) < 1e-5);
  const int walked = recorder.launches;
  CHECK(train_parts(test::recurrence, recorder, {a, a, a, a, a}) < 1e-5);
  CHECK(recorder.launches == 2 * walked);
  // Others of the same number in between: neither is taken for the other.
  CHECK(train_parts(test::recurrence, recorder, {a, a, b, a, b, b, a, c, b, c, c, a}) < 1e-5);
  CHECK(train_parts(test::ragged, recorder, {a, a, b, a, b, b, a, c, b, c, c, a}) < 1e-5);
}

TEST_CASE("a row loop is launched as late as it is waited for") {
  host late;
  late.defer();
  CHECK(test::train_both(test::recurrence, sgd, late, sizes).worst() < 1e-5);
  CHECK(test::train_both(test::gated, sgd, late, sizes).worst() < 1e-5);
}

TEST_CASE("a place that multiplies by tensor cores runs row loops in float") {
  counting<cuda::backend_of<cuda::host_backend<1>, lamina::cuda::tf32_type>> tf32;
  CHECK(test::train_both(test::carried, sgd, tf32, sizes).worst() < 5e-3);
  CHECK(tf32.loops > 0);
}

TEST_CASE("row loops tell what they do on the CPU in test mode") {
  CHECK(test::test_both<cuda::host_backend<1>>(test::recurrence, 6) < 1e-5);
  CHECK(test::test_both<cuda::host_backend<1>>(test::gated, 6) < 1e-5);
  CHECK(test::test_both<cuda::host_backend<1>>(test::broad, 6) < 1e-5);
  CHECK(test::test_both<cuda::host_backend<1>>(test::carried, 6) < 1e-5);
}

TEST_CASE("teams of threads run row loops", "[threads]") {
  cuda::host_backend<4> four;
  CHECK(test::train_both(test::recurrence, sgd, four, {5, 3}).worst() < 1e-5);
  CHECK(test::train_both(test::gated, sgd, four, {5, 3}).worst() < 1e-5);
  CHECK(test::train_both(test::carried, sgd, four, {5, 70}).worst() < 1e-5);
  CHECK(train_parts(test::ragged, four, {{6, 6}, {0, 6}}) < 1e-5);
}

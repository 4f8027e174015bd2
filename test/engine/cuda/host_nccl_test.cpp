// SPDX-License-Identifier: Apache-2.0
// Gradients of several places are added up by the calls of NCCL, in their order and with their
// errors; a list of requests stands for the library.
#include <cmath>
#include <type_traits>

// clang-format off
#include "engine/cuda/fake_nccl.hpp"  // before who includes the real one
// clang-format on
#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/places_both.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/nccl_sum.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

namespace {

struct place_with_stream final : cuda::host_backend<1>, test::nccl::stream {
  using host_backend::host_backend;
  void catch_up() override { wait(); }
  cudaStream_t stream() { return this; }
};
using P = std::remove_const_t<decltype(test::classes)>;
using trainer = lamina::places_trainer<P, optimizer::momentum, place_with_stream,
                                       cuda::nccl_sum<place_with_stream>>;
constexpr optimizer::momentum momentum{.learning_rate = 0.1f};

}  // namespace

TEST_CASE("NCCL adds up the gradients of several places") {
  test::nccl::now = {};
  for (const int count : {1, 2, 3}) {
    const test::several<place_with_stream> places(count);
    if (count == 3)
      for (place_with_stream* const b : places.all()) b->defer();
    CHECK(
        test::train_at_all<cuda::nccl_sum>(test::classes, momentum, places, {7, 12, 1, 7}).worst() <
        1e-5);
  }
  CHECK(test::nccl::now.communicators == 0);
}

TEST_CASE("all places are asked in one group") {
  test::nccl::now = {};
  const test::several<place_with_stream> places(2);
  lamina::model m{test::classes, 3};
  trainer t(places.all(), momentum, m);
  const test::dense_samples s(6);
  CHECK(std::isfinite(t.step(s.batch<P>(0, 6))));
  CHECK(test::nccl::now.calls == "init start reduce reduce end");
}

TEST_CASE("a failure of NCCL names call and device") {
  test::nccl::now = {};
  const test::several<place_with_stream> places(2);
  lamina::model m{test::classes, 3};
  const test::dense_samples s(6);
  test::nccl::now.failing = "init";
  CHECK_THROWS_WITH(trainer(places.all(), momentum, m),
                    "lamina: cuda: ncclCommInitAll of devices 0, 1: unhandled system error");
  {
    test::nccl::now.failing = "";
    trainer t(places.all(), momentum, m);
    test::nccl::now.failing = "reduce";
    CHECK_THROWS_WITH(t.step(s.batch<P>(0, 6)),
                      "lamina: cuda: ncclAllReduce at device 0: unhandled system error");
    // The group was ended, so that nobody waits for the rest of it.
    CHECK(test::nccl::now.calls == "init init start reduce end");
    test::nccl::now.failing = "end";
    CHECK_THROWS_WITH(t.step(s.batch<P>(0, 6)),
                      Catch::Contains("lamina: cuda: ncclGroupEnd at device "));
  }
  CHECK(test::nccl::now.communicators == 0);
}

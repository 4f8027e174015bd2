// SPDX-License-Identifier: Apache-2.0
// The kernels of the device, run on the host body for body, compute what the CPU's engine does.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/place.hpp>
#include <lamina/engine/cuda/schedule/machine.hpp>
#include <lamina/model/device_machine.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/optimizer/lamb.hpp>
#include <lamina/optimizer/lars_momentum.hpp>
#include <lamina/train/train.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

TEST_CASE("training on a device computes what training on the CPU does") {
  const std::vector<int> sizes = {7, 12, 7, 1};
  cuda::host_backend<1> one;
  SECTION("sgd") {
    CHECK(
        test::train_both(test::classes, optimizer::sgd{.learning_rate = 0.1f}, one, sizes).worst() <
        1e-5);
  }
  SECTION("adam, and every function") {
    CHECK(test::train_both(test::functions, optimizer::adam{.learning_rate = 0.01f}, one, sizes)
              .worst() < 5e-5);
  }
}

TEST_CASE("limits on norms of gradients on a device are those of the CPU") {
  cuda::host_backend<1> one;
  const auto limited = [](lamina::gradient_clip clip) {
    return optimizer::momentum{.learning_rate = 0.1f, .clip = clip};
  };
  for (const float limit : {0.1f, 100.0f}) {
    CHECK(test::train_both(test::classes, limited(lamina::clip_by_norm(limit)), one, {7, 12, 7})
              .worst() < 1e-5);
    CHECK(test::train_both(test::classes, limited(lamina::clip_by_global_norm(limit)), one, {7, 3})
              .worst() < 1e-5);
  }
}

TEST_CASE("optimizers that need norms on a device are those of the CPU") {
  cuda::host_backend<1> one;
  const std::vector<int> sizes = {7, 12, 7};
  const auto adapted = [](lamina::gradient_clip clip) {
    return optimizer::lars_momentum{.learning_rate = 3.0f, .lars_coeff = 0.1f, .clip = clip};
  };
  const auto long_as_parameters = [](lamina::gradient_clip clip) {
    return optimizer::lamb{.learning_rate = 0.02f, .clip = clip};
  };
  for (const lamina::gradient_clip clip :
       {lamina::gradient_clip{}, lamina::clip_by_global_norm(0.5f)}) {
    CHECK(test::train_both(test::classes, adapted(clip), one, sizes).worst() < 2e-5);
    CHECK(test::train_both(test::classes, long_as_parameters(clip), one, sizes).worst() < 2e-5);
  }
}

TEST_CASE("an evaluator on a device computes what one on the CPU does") {
  using P = std::remove_const_t<decltype(test::classes)>;
  const lamina::model model{test::classes, 3};
  const test::dense_samples s(6);
  lamina::evaluator expected{model};
  lamina::evaluator<P, lamina::device_machine<P, cuda::host_backend<1>>> found(model,
                                                                               lamina::place{});
  for (const int n : {6, 2}) {
    const std::span<const float> x(s.x.data(), static_cast<std::size_t>(13 * n));
    expected.forward(lamina::feed<"x">(x));
    found.forward(lamina::feed<"x">(x));
    const auto a = expected.activation<"logits">(), b = found.activation<"logits">();
    REQUIRE(b.shape()[0] == static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < 5; ++j) CHECK(b(i, j) == Approx(a(i, j)).epsilon(1e-5).margin(1e-6));
  }
}

TEST_CASE("a gradient machine on a device computes what one on the CPU does") {
  using P = std::remove_const_t<decltype(test::classes)>;
  using on_device = lamina::device_machine<P, cuda::host_backend<1>, lamina::gradient_program<P>>;
  lamina::model model{test::classes, 3};
  const test::dense_samples s(6);
  lamina::gradient_machine expected{model, 5};
  lamina::gradient_machine<P, on_device> found(model, lamina::place{}, 5);
  for (const float factor : {1.0f, 2.0f}) {
    // The model is read anew each time.
    auto w = model.get(0);
    for (std::size_t i = 0; i < w.size(); ++i) w.data()[i] *= factor;
    model.set(0, w);
    CHECK(found.backward(s.batch<P>(0, 6)) == Approx(expected.backward(s.batch<P>(0, 6))));
    const auto a = expected.gradient<"fc_0.w_0">(), b = found.gradient<"fc_0.w_0">();
    for (std::size_t i = 0; i < a.size(); ++i)
      CHECK(b.data()[i] == Approx(a.data()[i]).margin(1e-6));
  }
}

namespace {

/// A place at which no product of matrices can be launched.
struct place_without_products : cuda::host_backend<1> {
  void multiply(const cuda::product&, float*) {
    throw lamina::error("lamina: cuda: mul: cublasLtMatmul: CUBLAS_STATUS_INTERNAL_ERROR");
  }
};

}  // namespace

TEST_CASE("a failure on a device names operator, call and layer") {
  using P = std::remove_const_t<decltype(test::classes)>;
  lamina::model model{test::classes, 3};
  place_without_products backend;
  lamina::device_trainer<P, optimizer::sgd, place_without_products> t(backend, {}, model);
  const test::dense_samples s(3);
  CHECK_THROWS_WITH(
      t.step(s.batch<P>(0, 3)),
      Catch::Contains("mul: cublasLtMatmul: CUBLAS_STATUS_INTERNAL_ERROR (for fc_0."));
}

TEST_CASE("a place without enough memory says how much was asked for, planned, in use and free") {
  using P = std::remove_const_t<decltype(test::classes)>;
  lamina::model model{test::classes, 3};
  cuda::host_backend<1> backend;
  backend.limit_memory(100'000);
  lamina::device_trainer<P, optimizer::sgd, cuda::host_backend<1>> t(backend, {}, model);
  const test::dense_samples s(500);
  CHECK(std::isfinite(t.step(s.batch<P>(0, 3))));
  std::string said;
  try {
    t.step(s.batch<P>(0, 500));
  } catch (const lamina::error& e) {
    said = e.what();
  }
  std::size_t asked = 0, planned = 0, in_use = 0, free = 0;
  REQUIRE(std::sscanf(said.c_str(),
                      "lamina: cuda: out of memory: asked for %zu bytes, where %zu are planned for "
                      "this mini-batch, with %zu in use by this program; %zu of 100000 are free",
                      &asked, &planned, &in_use, &free) == 4);
  // What rows need is one memory, besides what has none.
  CHECK(planned > asked);
  CHECK(asked > free);
  CHECK(in_use + free == 100'000);
  // Where no mini-batch asks for it, nothing is planned.
  cuda::host_backend<1> small;
  small.limit_memory(1'000);
  CHECK_THROWS_WITH(cuda::device_buffer<cuda::host_backend<1>>(small).reserve(2'000),
                    Catch::Contains("asked for 2000 bytes with "));
}

TEST_CASE("without lamina.cuh a device is no place to train at") {
  lamina::model model{test::classes};
  const lamina::train_options options{.place = lamina::cuda::place{0}};
  const std::vector<std::vector<std::tuple<std::vector<float>, std::int64_t, std::vector<float>>>>
      batches;
  CHECK_THROWS_WITH(lamina::train(model, batches, options),
                    Catch::Contains("expected the CPU as place"));
}

TEST_CASE("rows of more elements than kernels count are refused, and fewer run afterwards") {
  static constexpr auto scores = lamina::program([](lamina::block& main) {
    auto x = lamina::layer::data<"x", float, 64>(main);
    return lamina::layer::softmax(x);
  });
  using P = std::remove_const_t<decltype(scores)>;
  cuda::host_backend<1> backend;
  cuda::machine<P, cuda::host_backend<1>> machine(backend, {});
  CHECK_THROWS_WITH(machine.bind(33'554'432),
                    "lamina: softmax: expected at most 33554431 rows of 64 numbers on a CUDA "
                    "device, found 33554432");
  const std::vector<float> x(2 * 64, 1.0f);
  machine.bind(2);
  machine.feed(0, x.data());
  machine.run(~0ull, 0, 0);
  CHECK(machine.template address<P::desc.cost>()[65] == Approx(1.0 / 64));
}

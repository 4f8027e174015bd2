// SPDX-License-Identifier: Apache-2.0
// The kernels of the device, run on the host body for body, compute what the CPU's engine does.
#include <algorithm>
#include <array>
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
#include <lamina/model/device/device_machine.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/optimizer/lamb.hpp>
#include <lamina/optimizer/lars_momentum.hpp>
#include <lamina/reader/reader.hpp>
#include <lamina/train/train.hpp>
#include <lamina/train/trainer.hpp>

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

/// Stands for a device.
struct host_place {
  using arithmetic = void;
  int number = 0;
};

}  // namespace

TEST_CASE("calls of train on a device, and passes of a trainer there, are one train") {
  using P = std::remove_const_t<decltype(test::classes)>;
  using sample = std::tuple<std::array<float, 13>, std::int64_t, std::array<float, 5>>;
  using backend = cuda::host_backend<1>;
  optimizer::momentum momentum{.learning_rate = 0.1f};
  std::vector<sample> all;
  for (int i = 0; i < 12; ++i) {
    sample s{};
    for (std::size_t k = 0; k < 13; ++k)
      std::get<0>(s)[k] = lamina::uniform_at(1, static_cast<std::uint64_t>(i), k);
    std::get<1>(s) = i % 5;
    all.push_back(s);
  }
  auto batches = all | lamina::reader::shuffle(12) | lamina::reader::batch(5);
  backend device;
  const auto train = [&](lamina::model<P>& m, int passes) {
    return lamina::detail::train_loop<P, lamina::device_trainer<P, optimizer::momentum, backend>>(
               momentum, m, batches, lamina::train_options{.passes = passes}, device, momentum, m,
               0)
        .steps;
  };
  const auto same = [](const lamina::model<P>& a, const lamina::model<P>& b) {
    double worst = 0;
    for (int i = 0; i < a.parameter_arrays(); ++i)
      for (std::size_t k = 0; k < a.get(i).size(); ++k)
        worst =
            std::max(worst, std::abs(static_cast<double>(a.get(i).data()[k]) - b.get(i).data()[k]));
    return worst;
  };
  lamina::model once{test::classes, 3}, calls{test::classes, 3}, passes{test::classes, 3},
      both{test::classes, 3};
  CHECK(train(once, 3) == 9);
  lamina::trainer<P, optimizer::momentum, lamina::placed_trainer<P, optimizer::momentum, backend>>
      t(passes, momentum, {}, host_place{});
  for (int pass = 1; pass <= 3; ++pass) {
    CHECK(train(calls, 1) == 3 * pass);
    CHECK(t.pass(batches).steps == 3 * pass);
  }
  CHECK(t.activation<"logits">().shape(0) == 2);  // the last mini-batch
  CHECK(same(calls, once) == 0);
  CHECK(same(passes, once) == 0);
  t.step(all);
  CHECK(t.steps() == 10);
  CHECK(same(passes, once) == 0);  // the model on the host, before copy_to_host()
  t.copy_to_host();
  CHECK(same(passes, once) > 0);
  // A model remembers its training wherever that ran.
  train(both, 1);
  momentum.train(both, batches);
  CHECK(train(both, 1) == 9);
  CHECK(same(both, once) < 1e-5);
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

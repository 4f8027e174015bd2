// SPDX-License-Identifier: Apache-2.0
// Large products are asked of cuBLASLt as its matrices lie, with what it can do behind them, and
// everything else follows in kernels.
// clang-format off
#include "engine/cuda/simulated/device.hpp"  // before who includes the real headers
#include "engine/cuda/simulated/cublasLt.hpp"
// clang-format on
#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/cuda/train_both.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/library_backend.hpp>
#include <lamina/engine/cuda/tensor_backend.hpp>

namespace simulated = test::simulated;
namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
using lamina::activation;

namespace {

/// Products with bias, with bias and relu, with neither, and with other statements behind them, as
/// updates are.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 48>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::fc<160>(x, {.act = activation::relu});
  auto b = layer::fc<144>(a);
  auto c = layer::fc<176>(layer::tanh(b), {.bias = false});
  auto d = layer::fc<192>(c, {.act = activation::sigmoid});
  // Rows with padding stay with the own kernels.
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<16>(d), label)) +
         layer::mean(layer::square(layer::fc<5>(d)));
});
using P = std::remove_const_t<decltype(net)>;
constexpr optimizer::momentum momentum{.learning_rate = 0.1f};

using rule = cuda::library_rule<16, 16 * 16 * 16>;
template <class Arithmetic = lamina::cuda::float32_type>
using device = cuda::library_backend<cuda::backend_of<simulated::device, Arithmetic>, rule>;

void begin(simulated::schedule order = simulated::schedule::late) {
  simulated::begin_test(order);
  simulated::cublas = {};
}
/// All was done by the rules, and given back.
void check_ended() {
  CHECK(simulated::now.broken_rules == "");
  CHECK(simulated::now.gave_all_back());
  CHECK(simulated::cublas.held == 0);
}

}  // namespace

TEST_CASE("large products are those of cuBLASLt") {
  for (const auto order : {simulated::schedule::late, simulated::schedule::random}) {
    begin(order);
    {
      device<> d(0);
      CHECK(test::train_both(net, momentum, d, {16, 32, 16, 16, 7}).worst() < 1e-4);
    }
    check_ended();
  }
  // Runs of 16 and 32 rows, and one that was recorded: 5 forward, 4 for the gradients of inputs, 5
  // for those of weights. With 7 rows none is large.
  CHECK(simulated::cublas.products == 4 * 14);
  CHECK(simulated::cublas.with_bias == 4 * 2);
  CHECK(simulated::cublas.with_relu == 4);
}

TEST_CASE("the arithmetic of a place is that of its large products") {
  const auto arithmetic_of = [](auto d) {
    begin();
    {
      typename decltype(d)::type made(0);
      CHECK(test::train_both(net, momentum, made, {16}).worst() < 0.1);
    }
    check_ended();
    REQUIRE(simulated::cublas.arithmetic.size() == 14);
    return simulated::cublas.arithmetic[0];
  };
  CHECK(arithmetic_of(std::type_identity<device<>>{}) == CUBLAS_COMPUTE_32F);
  CHECK(arithmetic_of(std::type_identity<device<lamina::cuda::tf32_type>>{}) ==
        CUBLAS_COMPUTE_32F_FAST_TF32);
  CHECK(arithmetic_of(std::type_identity<device<lamina::cuda::bfloat16_type>>{}) ==
        CUBLAS_COMPUTE_32F_FAST_16BF);
  CHECK(arithmetic_of(std::type_identity<device<lamina::cuda::float16_type>>{}) ==
        CUBLAS_COMPUTE_32F_FAST_16F);
}

TEST_CASE("a product that cuBLASLt has no way for is that of the own kernels") {
  begin();
  simulated::cublas.knows_a_way = false;
  {
    device<> d(0);
    CHECK(test::train_both(net, momentum, d, {16, 32, 16}).worst() < 1e-4);
  }
  check_ended();
  CHECK(simulated::cublas.products == 0);
}

TEST_CASE("a failure of cuBLASLt names call, operator and layer, and nothing is lost") {
  const test::random_samples<P> s(16, 5);
  std::string told, expected;
  // The first and the last of the calls of each name, once a run has shown which there are.
  std::vector<int> tried = {-1};
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const int k = tried[i];
    begin();
    simulated::now.failing = k;
    try {
      device<> d(0);
      lamina::model m{net, 3};
      lamina::device_trainer<P, optimizer::momentum, device<>> t(d, momentum, m, 11);
      std::string message;
      try {
        t.step(s.batch(0, 16));
      } catch (const lamina::error& e) {
        message = e.what();
      }
      if (simulated::now.failed.rfind("cublasLt", 0) == 0) told += message + "\n";
      simulated::now.failing = -1;
      if (k < 0) {
        const std::vector<std::string>& names = simulated::now.names;
        for (auto n = names.begin(); n != names.end(); ++n)
          if (std::find(names.begin(), n, *n) == n ||
              std::find(n + 1, names.end(), *n) == names.end())
            tried.push_back(static_cast<int>(n - names.begin()));
      }
      lamina::model again{net, 3};
      for (int i = 0; i < P::desc.count.parameters; ++i) m.set(i, again.get(i));
      t.send();
      t.set_steps(0);
      const std::string cost = std::to_string(t.step(s.batch(0, 16)));
      if (k < 0) expected = cost;
      CHECK(cost == expected);
    } catch (const lamina::error& e) {
      if (simulated::now.failed.rfind("cublasLt", 0) == 0) told += std::string(e.what()) + "\n";
    }
    check_ended();
  }
  for (const char* const call :
       {"lamina: cuda: cublasLtCreate: CUBLAS_STATUS_INTERNAL_ERROR\n",
        "lamina: cuda: mul: cublasLtMatmul: CUBLAS_STATUS_INTERNAL_ERROR (for fc_0.tmp_0)\n",
        "mul: cublasLtMatmulDescCreate: ", "mul: cublasLtMatrixLayoutCreate: ",
        "mul: cublasLtMatmulDescSetAttribute: ", "mul: cublasLtMatmulPreferenceCreate: ",
        "mul: cublasLtMatmulPreferenceSetAttribute: ", "mul: cublasLtMatmulAlgoGetHeuristic: "})
    CHECK_THAT(told, Catch::Contains(call));
}

TEST_CASE("large is what has many multiplications, long sides and no padding") {
  using large = cuda::large_products;
  using backend = cuda::library_backend<cuda::device_backend>;
  STATIC_REQUIRE(std::is_same_v<backend::rule_of_library, cuda::largest_products>);
  STATIC_REQUIRE(
      std::is_same_v<cuda::library_backend<cuda::backend_of<
                         cuda::device_backend, lamina::cuda::tf32_type>>::rule_of_library,
                     large>);
  CHECK(large::takes(4096, 256, 64));
  CHECK_FALSE(large::takes(4095, 256, 64));
  CHECK_FALSE(large::takes(1 << 20, 256, 63));
  CHECK_FALSE(large::takes(63, 4096, 4096));
  CHECK_FALSE(large::takes(4096, 257, 256));
  CHECK(large::takes(1 << 20, 1 << 16, 1 << 12));
  CHECK_FALSE(large::may_take(48, 1024));
  CHECK_FALSE(large::may_take(1024, 48));
  CHECK(large::may_take(64, -2));
}

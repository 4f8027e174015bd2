// SPDX-License-Identifier: Apache-2.0
// Every matrix product is asked of cuBLASLt as its matrices lie, with what it can do behind them,
// and everything else follows in kernels.
// clang-format off
#include "engine/cuda/simulated/device.hpp"  // before who includes the real headers
// clang-format on
#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/cuda/edge_values.hpp"
#include "engine/cuda/product_check.hpp"
#include "engine/cuda/train_both.hpp"
#include <catch2/catch.hpp>

namespace simulated = test::simulated;
namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
using lamina::activation;

namespace {

/// Products with bias, without, and with other statements behind them, as relu and updates are.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 48>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::fc<160>(x, {.act = activation::relu});
  auto b = layer::fc<144>(a);
  auto c = layer::fc<17>(layer::tanh(b), {.bias = false});
  auto d = layer::fc<19>(c, {.act = activation::sigmoid});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<16>(d), label)) +
         layer::mean(layer::square(layer::fc<5>(d)));
});
using P = std::remove_const_t<decltype(net)>;
constexpr optimizer::momentum momentum{.learning_rate = 0.1f};

/// Matrices whose rows follow each other, on both sides of a product and with one for all.
constexpr auto matrices = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 8>(main);
  auto a = layer::fc<16, 2>(x, {.bias = false}), b = layer::fc<16, 2>(x, {.bias = false});
  return layer::mean(layer::square(layer::matmul<layer::matmul_form{.transpose_y = true}>(a, b)));
});

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

TEST_CASE("every product is one of cuBLASLt") {
  for (const auto order : {simulated::schedule::late, simulated::schedule::random}) {
    begin(order);
    {
      simulated::device d(0);
      CHECK(test::train_both(net, momentum, d, {16, 32, 16, 16, 7, 1}).worst() < 1e-4);
    }
    check_ended();
    // Each step asks for 6 forward, 5 for the gradients of inputs and 6 for those of weights. One
    // layer has no other statement behind it than a bias.
    CHECK(simulated::cublas.products == 6 * 17);
    CHECK(simulated::cublas.with_bias == 6);
    CHECK(simulated::cublas.with_relu == 0);
  }
}

// pytorch/pytorch#78601, apache/mxnet#11115
TEST_CASE("NaN goes through relu behind a product") {
  constexpr auto layers = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto a = layer::fc<16>(x, {.act = activation::relu});
    auto b = layer::fc<16>(x, {.act = activation::relu, .bias = false});
    return std::tuple{a, b};
  });
  begin();
  CHECK(test::edges_apart<simulated::device>(layers,
                                             {{1, std::nan(""), 2, 3, -4, 5, 0, 1, HUGE_VAL}}, 3,
                                             {.tolerance = 1e-4}) == "");
  check_ended();
}

TEST_CASE("batches of matrices are one product") {
  begin();
  {
    simulated::device d(0);
    CHECK(test::train_both(matrices, momentum, d, {5}).worst() < 1e-4);
  }
  check_ended();
  // A weight serves all, and so all matrices are one: 2 forward and 2 for its gradients. The
  // product of matrices by pairs has two gradients.
  CHECK(simulated::cublas.products == 7);
  CHECK(simulated::cublas.with_batches == 3);
}

TEST_CASE("the arithmetic of a place is that of its products") {
  const auto arithmetic_of = [](auto d) {
    begin();
    {
      typename decltype(d)::type made(0);
      CHECK(test::train_both(net, momentum, made, {16}).worst() < 1e-4);
    }
    check_ended();
    REQUIRE(simulated::cublas.arithmetic.size() == 17);
    return simulated::cublas.arithmetic[0];
  };
  CHECK(arithmetic_of(std::type_identity<simulated::device>{}) == CUBLAS_COMPUTE_32F);
  CHECK(arithmetic_of(std::type_identity<simulated::device_of<lamina::cuda::tf32_type>>{}) ==
        CUBLAS_COMPUTE_32F_FAST_TF32);
  CHECK(arithmetic_of(std::type_identity<simulated::device_of<lamina::cuda::bfloat16_type>>{}) ==
        CUBLAS_COMPUTE_32F_FAST_16BF);
}

TEST_CASE("a product that cuBLASLt has no algorithm for is told with its sizes") {
  begin();
  simulated::cublas.knows_an_algorithm = false;
  {
    simulated::device d(0);
    CHECK_THROWS_WITH(test::train_both(net, momentum, d, {7}),
                      "lamina: cuda: mul: cublasLtMatmulAlgoGetHeuristic: found no algorithm for "
                      "1 x [7, 48] * [48, 160] (for fc_0.tmp_0)");
  }
  check_ended();
  CHECK(simulated::cublas.products == 0);
}

TEST_CASE("products of every layout by the calls of cuBLASLt") {
  begin();
  {
    simulated::device d(0);
    CHECK(test::product_faults(d) == "");
    CHECK(simulated::cublas.with_batches > 0);
    CHECK(simulated::cublas.least_alignment == 4);
  }
  check_ended();
}

TEST_CASE("more batches than a grid has layers are several calls") {
  begin();
  {
    simulated::device d(0);
    test::product_case c{1, 1, 1};
    c.batches = 65537;
    CHECK(test::product_fault(d, c) == "");
    CHECK(simulated::cublas.products == 2);
  }
  check_ended();
}

TEST_CASE("an empty product asks nothing of cuBLASLt") {
  begin();
  {
    simulated::device d(0);
    for (const test::product_case& c : test::empty_products())
      CHECK(test::product_fault(d, c) == "");
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
      simulated::device d(0);
      lamina::model m{net, 3};
      lamina::device_trainer<P, optimizer::momentum, simulated::device> t(d, momentum, m, 11);
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
      for (int i = 0; i < lamina::counts_of<P>.parameters; ++i) m.set(i, again.get(i));
      t.copy_to_device();
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

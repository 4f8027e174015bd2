// SPDX-License-Identifier: Apache-2.0
// Whole programs at a place whose products are those of tensor cores learn what they do on the
// CPU, as near as the rounding of operands allows.
#include <cmath>
#include <random>
#include <type_traits>
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/image_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/tensor_backend.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/model/place_machine.hpp>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

namespace {

using tf32_host = cuda::backend_of<cuda::host_backend<1>, lamina::cuda::tf32_type>;
using bfloat16_host = cuda::backend_of<cuda::host_backend<1>, lamina::cuda::bfloat16_type>;
using float16_host = cuda::backend_of<cuda::host_backend<1>, lamina::cuda::float16_type>;
constexpr optimizer::sgd sgd{.learning_rate = 0.1f};

/// Apart by the rounding of operands, no more and no less.
template <class Backend, class P>
void check_apart(P program, const std::vector<int>& sizes, double least, double most_cost,
                 double most) {
  Backend backend;
  const test::difference d = test::train_both(program, sgd, backend, sizes);
  CAPTURE(d.cost, d.parameters);
  CHECK(d.parameters > least);
  CHECK(d.parameters < most);
  CHECK(d.cost < most_cost);
}

/// Products of every kind without anything else between them: convolutions forward and spread,
/// gradients of filters in one part, groups, a product over all.
constexpr auto products = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 12, 9, 7>(main);
  auto slope = layer::data<"slope", float, 11>(main);
  auto a = layer::conv2d<20, 3, lamina::window{.padding = 1, .groups = 2}>(image, {.bias = false});
  auto b = layer::conv2d<70, 3, lamina::window{.stride = 2, .padding = 1}>(a, {.bias = false});
  auto c = layer::conv2d_transpose<9, 3>(b, {.bias = false});
  auto d = layer::fc<11>(layer::flatten(c), {.bias = false});
  return layer::reduce_sum(d * slope);
});

/// Numbers of which no sum is rounded: whole, small, and most of them 0.
class whole_numbers {
 public:
  float operator()() {
    const unsigned n = static_cast<unsigned>(random_()) % 24;
    return n == 0 ? 1.0f : n == 1 ? -1.0f : 0.0f;
  }

 private:
  std::mt19937 random_{4};
};

/// Gradients of whole numbers on the CPU and by tensor cores: equal to the last bit. Of the CPU's
/// the nearest whole numbers, for its filters of 3 by 3 are transformed, and not exact.
template <class Backend, lamina::fixed_string... Names, class P>
void check_exact(P program) {
  using at_place = lamina::place_machine<P, Backend, lamina::gradient_program<P>>;
  lamina::model model{program};
  whole_numbers next;
  for (int i = 0; i < P::desc.count.parameters; ++i) {
    auto w = model.get(i);
    for (std::size_t k = 0; k < w.size(); ++k) w.data()[k] = next();
    model.set(i, w);
  }
  std::vector<float> numbers[P::desc.count.data];
  const void* data[P::desc.count.data];
  for (int i = 0; i < P::desc.count.data; ++i) {
    const int columns = lamina::matrix_of(P::desc.variables[P::desc.data[i]], P::desc.dims).columns;
    numbers[i].resize(static_cast<std::size_t>(3 * columns));
    for (float& x : numbers[i]) x = next();
    data[i] = numbers[i].data();
  }
  lamina::gradient_machine expected{model};
  lamina::gradient_machine<P, at_place> found(model, lamina::place{});
  CHECK(found.backward(3, data) == std::round(expected.backward(3, data)));
  const auto check = [](const auto& a, const auto& b) {
    int wrong = 0, zeros = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      wrong += std::round(a.data()[i]) != b.data()[i];
      zeros += a.data()[i] == 0;
    }
    CHECK(wrong == 0);
    CHECK(zeros < static_cast<int>(a.size()));
  };
  (check(expected.template gradient<Names>(), found.template gradient<Names>()), ...);
}

template <class Backend>
void check_exact() {
  check_exact<Backend, "conv2d_0.w_0", "conv2d_1.w_0", "conv2d_transpose_0.w_0", "fc_0.w_0">(
      products);
  check_exact<Backend, "conv2d_0.w_0", "conv2d_1.w_0", "conv2d_2.w_0", "conv2d_3.w_0",
              "conv2d_4.w_0", "conv2d_5.w_0", "conv2d_6.w_0", "conv2d_7.w_0", "conv2d_8.w_0",
              "conv2d_9.w_0", "conv2d_transpose_0.w_0">(test::channels);
}

}  // namespace

TEST_CASE("tensor cores convolve whole numbers exactly") {
  SECTION("tf32") { check_exact<tf32_host>(); }
  SECTION("bfloat16") { check_exact<bfloat16_host>(); }
  SECTION("float16") { check_exact<float16_host>(); }
}

TEST_CASE("tensor cores convolve by every tile") {
  tf32_host backend;
  const test::difference d = test::train_both(test::channels, sgd, backend, {3});
  CHECK(d.worst() > 1e-6);
  CHECK(d.worst() < 2e-3);
}

TEST_CASE("dense programs learn by tensor cores what they do on the CPU") {
  SECTION("tf32") { check_apart<tf32_host>(test::classes, {7, 12, 70}, 1e-6, 1e-3, 1e-3); }
  SECTION("bfloat16") { check_apart<bfloat16_host>(test::classes, {7, 12, 70}, 1e-5, 1e-2, 1e-2); }
  SECTION("float16") { check_apart<float16_host>(test::classes, {7, 12, 70}, 1e-6, 1e-3, 1e-3); }
}

// Where two elements of a window are nearly equal, rounding chooses another, and the gradient goes
// another way.
TEST_CASE("convolutional networks learn by tensor cores what they do on the CPU") {
  SECTION("tf32") { check_apart<tf32_host>(test::lenet, {3, 2}, 1e-6, 1e-3, 0.05); }
  SECTION("bfloat16") { check_apart<bfloat16_host>(test::lenet, {3, 2}, 1e-5, 0.05, 0.1); }
  SECTION("float16") { check_apart<float16_host>(test::lenet, {3, 2}, 1e-6, 1e-3, 0.05); }
}

// SPDX-License-Identifier: Apache-2.0
// A pass of few rows through layers, costs and slopes computes what the CPU's engine does, and what
// its groups do by themselves.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/noting_host.hpp"
#include "engine/cuda/pass_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/model/place_machine.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

namespace {

using test::of_few_rows;
using host = test::noting_host<cuda::host_backend<1>>;
constexpr optimizer::sgd sgd{.learning_rate = 0.1f};

/// How many passes of so many steps there were.
long count_of(const host& backend, int steps) {
  return std::count(backend.links.begin(), backend.links.end(), of_few_rows + steps);
}

}  // namespace

TEST_CASE("a pass of few rows learns what the CPU does") {
  host backend;
  SECTION("from the sum of a product to the slopes of its layer") {
    CHECK(test::train_both(test::classifier, sgd, backend, {7, 12, 1, 70}).worst() < 1e-5);
    // The sum, two products; softmax, cost, its gradient, and that of the mean; two slopes.
    CHECK(backend.links == std::vector<int>(4, of_few_rows + 9));
  }
  SECTION("with masks that each row draws") {
    CHECK(test::train_both(test::classes, sgd, backend, {7, 12, 1, 70}).worst() < 1e-5);
    CHECK(count_of(backend, 7) == 4);
  }
  SECTION("to slopes of a broad layer") {
    CHECK(test::train_both(test::broad_layer, sgd, backend, {7, 12, 1, 70}).worst() < 1e-5);
    CHECK(count_of(backend, 5) == 4);
  }
  SECTION("around others") {
    CHECK(test::train_both(test::weighed, sgd, backend, {7, 12, 1, 70}).worst() < 1e-5);
    CHECK(*std::max_element(backend.links.begin(), backend.links.end()) > of_few_rows + 12);
  }
  SECTION("of several towers") {
    CHECK(test::train_both(test::towers, sgd, backend, {7, 12, 1, 70}).worst() < 1e-5);
    CHECK(*std::max_element(backend.links.begin(), backend.links.end()) > of_few_rows + 2);
  }
}

TEST_CASE("many rows take the groups of a pass one by one") {
  host backend;
  CHECK(test::train_both(test::classifier, sgd, backend, {512, 513, 7}).worst() < 2e-5);
  CHECK(count_of(backend, 9) == 2);
  CHECK(std::count(backend.links.begin(), backend.links.end(), 2) == 2);
  CHECK(test::train_both(test::weighed, sgd, backend, {513, 7, 513}).worst() < 2e-5);
  CHECK(test::train_both(test::towers, sgd, backend, {513, 7, 513}).worst() < 2e-5);
}

TEST_CASE("passes through layers at random") {
  host backend;
  const std::vector<int> sizes = {5, 70, 520};
  CHECK(test::train_both(test::random_rows<22, 7>, sgd, backend, sizes).worst() < 1e-5);
  CHECK(test::train_both(test::random_rows<102, 12>, sgd, backend, sizes).worst() < 1e-5);
  CHECK(*std::max_element(backend.links.begin(), backend.links.end()) > of_few_rows + 20);
}

TEST_CASE("passes are recorded, and leave updates to others") {
  host backend;
  backend.record();
  const optimizer::adam adam{.learning_rate = 0.01f};
  CHECK(test::train_both(test::classifier, adam, backend, {7, 7, 7, 12, 12, 7}).worst() < 1e-4);
  const optimizer::momentum limited{.learning_rate = 0.1f,
                                    .clip = lamina::clip_by_global_norm(0.1f)};
  CHECK(test::train_both(test::towers, limited, backend, {7, 7, 7, 12}).worst() < 2e-5);
}

TEST_CASE("a pass in test mode, with all data and without labels") {
  CHECK(test::test_both<host>(test::classifier, 70) < 1e-5);
  CHECK(test::test_both<host>(test::weighed, 70) < 1e-5);
  CHECK(test::test_both<host>(test::towers, 515) < 1e-5);

  using P = std::remove_const_t<decltype(test::classifier)>;
  const lamina::model model{test::classifier, 3};
  lamina::evaluator expected{model};
  lamina::evaluator<P, lamina::place_machine<P, host>> found(model, lamina::place{});
  const test::random_samples<P> s(6, 5);
  const std::span<const float> x(
      static_cast<const float*>(static_cast<const void*>(s.batch(0, 6).data[0])), 6 * 300);
  expected.forward(lamina::feed<"x">(x));
  found.forward(lamina::feed<"x">(x));
  const auto a = expected.activation<"logits">(), b = found.activation<"logits">();
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 5; ++j) CHECK(b(i, j) == Approx(a(i, j)).epsilon(1e-5).margin(1e-6));
}

TEST_CASE("a label out of range in a pass is told with its operator and row") {
  using P = std::remove_const_t<decltype(test::classifier)>;
  lamina::model model{test::classifier, 3};
  host backend;
  lamina::device_trainer<P, optimizer::sgd, host> trainer(backend, sgd, model);
  std::vector<float> x(9 * 300, 0.5f);
  std::vector<std::int64_t> label(9, 1);
  label[4] = 5;
  label[7] = -2;
  const void* const data[] = {x.data(), label.data()};
  CHECK_THROWS_WITH(trainer.step(lamina::batch_view<P>::dense(9, data)),
                    "lamina: softmax_with_cross_entropy: label in row 4: expected 0 to 4, found 5");
  CHECK(count_of(backend, 9) == 1);
}

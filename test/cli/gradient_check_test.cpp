// SPDX-License-Identifier: Apache-2.0
// The check of gradients finds what is wrong, however few elements are, and nothing else.
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/cli/gradient_check.hpp>

namespace {

/// A cost of one parameter: 3 + the sum of k sin(x_k) / n.
class waves final : public lamina::exact_cost {
 public:
  explicit waves(std::size_t n) : x_(n) {
    for (std::size_t k = 0; k < n; ++k) x_[k] = 0.05 * std::cos(static_cast<double>(k));
  }
  double* values(int) override { return x_.data(); }
  double cost() override {
    double sum = 0;
    for (std::size_t k = 0; k < x_.size(); ++k) sum += weight(k) * std::sin(x_[k]);
    return 3 + sum / static_cast<double>(x_.size());
  }
  std::vector<double> gradient() const {
    std::vector<double> g(x_.size());
    for (std::size_t k = 0; k < g.size(); ++k)
      g[k] = weight(k) * std::cos(x_[k]) / static_cast<double>(g.size());
    return g;
  }

 private:
  static double weight(std::size_t k) { return static_cast<double>(k % 7) - 2; }
  std::vector<double> x_;
};

double difference(waves& of, const std::vector<double>& gradient, double least = 0,
                  double eps = 1e-5) {
  return lamina::detail::difference_of(of, 0, gradient, of.cost(), eps, least).diff;
}

}  // namespace

TEST_CASE("the right gradient differs by rounding alone, and the parameter is as before") {
  for (const std::size_t n : {1u, 2u, 31u, 128u, 129u, 100000u}) {
    waves cost(n);
    const std::vector<double> before(cost.values(0), cost.values(0) + n);
    INFO(n << " elements");
    for (const double eps : {1e-3, 1e-5, 1e-9})
      CHECK(std::fabs(difference(cost, cost.gradient(), 0, eps)) < 1e-4);
    CHECK((before == std::vector<double>(cost.values(0), cost.values(0) + n)));
  }
}

TEST_CASE("a gradient of another size, sign or length is wrong") {
  for (const std::size_t n : {1u, 17u, 10000u}) {
    waves cost(n);
    INFO(n << " elements");
    for (const double factor : {1.05, 0.9, 2.0, 0.0, -1.0}) {
      std::vector<double> g = cost.gradient();
      for (double& x : g) x *= factor;
      CHECK(std::fabs(difference(cost, g)) > lamina::detail::wrong_gradient);
    }
  }
}

TEST_CASE(
    "elements that are zero by mistake are found, though they are at right angles to the rest") {
  for (const std::size_t n : {64u, 10000u})
    for (const std::size_t part : {2u, 10u}) {
      waves cost(n);
      std::vector<double> g = cost.gradient();
      for (std::size_t k = 0; k < n; k += part) g[k] = 0;
      INFO("each of " << part << " of " << n);
      CHECK(std::fabs(difference(cost, g)) > lamina::detail::wrong_gradient);
    }
}

TEST_CASE("a gradient of nothing but rounding counts as zero beside a larger one") {
  class flat final : public lamina::exact_cost {
   public:
    double* values(int) override { return x_; }
    double cost() override { return 2.5; }

   private:
    double x_[3] = {1, 2, 3};
  } cost;
  const std::vector<double> rounding = {1e-9, -2e-9, 5e-10};
  CHECK(std::fabs(lamina::detail::difference_of(cost, 0, rounding, 2.5, 1e-5, 1e-5).diff) < 1e-3);
  CHECK(std::fabs(lamina::detail::difference_of(cost, 0, rounding, 2.5, 1e-5, 0).diff) > 0.01);
  CHECK(lamina::detail::difference_of(cost, 0, {0, 0, 0}, 2.5, 1e-5, 0).diff == 0);
  CHECK(lamina::detail::difference_of(cost, 0, {0, 0, 0}, 0, 1e-5, 0).diff == 0);
}

TEST_CASE("NaN is the largest of differences") {
  waves cost(5);
  std::vector<double> g = cost.gradient();
  g[3] = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(difference(cost, g)));
}

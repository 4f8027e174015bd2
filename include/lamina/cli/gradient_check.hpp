// SPDX-License-Identifier: Apache-2.0
// lamina/cli/gradient_check.hpp - the job checkgrad, which compares gradients with difference
// quotients of the cost. The interpreter that computes the cost is compiled in the file that
// includes <lamina/cli/checkgrad.hpp>.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/cli/pass_folder.hpp>
#include <lamina/cli/trained_program.hpp>
#include <lamina/cli/trainer_flags.hpp>
#include <lamina/cli/trainer_log.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/numbers/philox.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The cost of a mini-batch as a function of the parameters, computed in double.
class exact_cost {
 public:
  virtual ~exact_cost() = default;
  /// Returns the elements of parameter i, row by row. The caller may change them.
  virtual double* values(int i) = 0;
  /// Returns the cost for the current values of all parameters.
  virtual double cost() = 0;
};

namespace detail {

/// The function that makes the cost of the mini-batch that a program has read. It is null in a
/// program that does not include <lamina/cli/checkgrad.hpp>.
using exact_cost_maker = std::unique_ptr<exact_cost> (*)(trained_program& program,
                                                         std::uint64_t seed);
inline exact_cost_maker make_exact_cost = nullptr;

/// A gradient counts as wrong if its relative difference is larger than this, as in PaddlePaddle
/// v2.
inline constexpr double wrong_gradient = 0.01;

inline double root_mean_square(const double* x, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * x[i];
  return n > 0 ? std::sqrt(sum / static_cast<double>(n)) : 0;
}

/// Compares the change of the cost along one direction of parameter i with the change that the
/// gradient predicts. Each element of the direction is +1 or -1, at random, divided by the square
/// root of the number of elements. So the relative difference is about the relative error of the
/// gradient, whichever elements are wrong. PaddlePaddle v2 uses the direction of the gradient,
/// which does not detect elements of the gradient that are wrongly zero.
///
/// The step is so long that the cost changes by about the fraction `eps`, but no element changes by
/// more than 1e-6 of the size of the elements. With so short a step, the quotient is the derivative
/// even if the cost has kinks. The difference is divided by the change of the cost, but by at least
/// the step times `least_slope`: a smaller derivative is lost in the rounding of the gradients,
/// which are floats.
LAMINA_COLD inline gradient_difference difference_along(exact_cost& exact, int i,
                                                        const std::vector<double>& gradient,
                                                        double cost, double eps, int direction,
                                                        double least_slope) {
  const std::size_t n = gradient.size();
  double* const values = exact.values(i);
  const double root = std::sqrt(static_cast<double>(n));
  const std::vector<double> before(values, values + n);
  std::vector<double> towards(n);
  for (std::size_t k = 0; k < n; k += 128) {
    const random_words drawn =
        philox(static_cast<std::uint64_t>(direction), static_cast<std::uint64_t>(i), k / 128);
    for (std::size_t j = k; j < (std::min)(n, k + 128); ++j)
      towards[j] = (drawn.word[j % 128 / 32] >> (j % 32) & 1) != 0 ? 1 / root : -1 / root;
  }
  double slope = 0;
  for (std::size_t k = 0; k < n; ++k) slope += gradient[k] * towards[k];
  const double size = root_mean_square(gradient.data(), n);
  const double expected = (std::max)({std::fabs(slope), size, least_slope});
  const double farthest = 1e-6 * root * (std::max)(root_mean_square(before.data(), n), 0.01);
  gradient_difference d;
  d.step =
      expected > 0 && cost != 0 ? (std::min)(eps * std::fabs(cost) / expected, farthest) : farthest;
  for (std::size_t k = 0; k < n; ++k) values[k] = before[k] + d.step * towards[k];
  d.cost_above = exact.cost();
  for (std::size_t k = 0; k < n; ++k) values[k] = before[k] - d.step * towards[k];
  d.cost_below = exact.cost();
  std::copy(before.begin(), before.end(), values);
  d.true_delta = (d.cost_above - d.cost_below) / 2;
  d.analytic_delta = d.step * slope;
  const double scale = (std::max)(d.step * expected, std::fabs(d.true_delta));
  d.diff = scale > 0 ? (d.true_delta - d.analytic_delta) / scale : d.true_delta - d.analytic_delta;
  return d;
}

/// Returns the larger of the differences along two random directions; NaN counts as the largest.
LAMINA_COLD inline gradient_difference difference_of(exact_cost& exact, int i,
                                                     const std::vector<double>& gradient,
                                                     double cost, double eps, double least_slope) {
  const gradient_difference a = difference_along(exact, i, gradient, cost, eps, 1, least_slope);
  const gradient_difference b = difference_along(exact, i, gradient, cost, eps, 2, least_slope);
  return !(std::fabs(a.diff) >= std::fabs(b.diff)) && a.diff == a.diff ? b : a;
}

/// Computes the gradients of all trained parameters for the first mini-batch with the engine, and
/// compares them with difference quotients of the cost, which the interpreter computes in double.
/// Logs a line per parameter. Throws lamina::error that names the parameters with a wrong gradient.
LAMINA_COLD inline void check_gradients(trained_program& program, std::uint64_t seed,
                                        const trainer_flags& flags, trainer_log& log) {
  if (make_exact_cost == nullptr)
    throw error(
        "lamina: --job=checkgrad: expected a program with the interpreter that computes the cost "
        "in double: include <lamina/cli/checkgrad.hpp> in one of its files, found none");
  if (const std::string model = first_model(flags); !model.empty()) program.load_model(model);
  program.read_minibatch();
  program.compute_gradients();
  const std::unique_ptr<exact_cost> exact = make_exact_cost(program, seed);
  const double cost = exact->cost();
  std::string number = text().print("%g", cost);
  log.line("original cost=" + number);
  if (!std::isfinite(cost))
    throw error("lamina: --job=checkgrad: expected a finite cost, found " + number);
  const parameter_memory all = program.parameters();
  const auto is_trained = [&](int i) { return all.list.program->parameters[i].trainable; };
  const auto gradient_of = [&](int i) {
    std::vector<double> gradient(all.list.describe(i).size());
    program.copy_gradient(i, gradient.data());
    return gradient;
  };
  double largest = 0;
  for (int i = 0; i < all.list.size(); ++i)
    if (is_trained(i)) {
      const std::vector<double> gradient = gradient_of(i);
      largest = (std::max)(largest, root_mean_square(gradient.data(), gradient.size()));
    }
  std::string wrong;
  int count = 0, of = 0;
  for (int i = 0; i < all.list.size(); ++i) {
    if (!is_trained(i)) continue;
    const std::string name = all.list.describe(i).name;
    const gradient_difference d =
        difference_of(*exact, i, gradient_of(i), cost, flags.checkgrad_eps, 1e-3 * largest);
    const bool is_wrong = !(std::fabs(d.diff) <= wrong_gradient);
    log.line(trainer_message::gradient(name, d, is_wrong, of % 2 != 0));
    ++of;
    if (!is_wrong) continue;
    ++count;
    wrong += (wrong.empty() ? "" : ", ") + name;
  }
  if (count > 0)
    throw error(text() << "lamina: --job=checkgrad: expected gradients that are the slopes of the "
                          "cost, found others of "
                       << count << " of " << of << " parameters: " << wrong);
}

}  // namespace detail

}}  // namespace lamina

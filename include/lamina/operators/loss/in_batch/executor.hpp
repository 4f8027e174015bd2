// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/in_batch/executor.hpp - in_batch_cross_entropy: classifies each row of a
// mini-batch among all rows of the mini-batch.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// The scores: the inner products of all rows of X with all rows of Y. Also the target probability
/// of each pair.
template <class Real>
class all_pairs {
 public:
  explicit all_pairs(call_context<Real>& ctx)
      : rows(matrix(shape_of(ctx.real("X")), 1).rows),
        score(rows * rows),
        target(rows * rows),
        x_(ctx.real("X")),
        y_(ctx.real("Y")),
        width_(matrix(shape_of(x_), 1).columns) {
    std::vector<std::int64_t> label(rows);
    for (std::size_t i = 0; i < rows; ++i)
      label[i] = ctx.has("Label") ? ctx.integers("Label").flat(i) : static_cast<std::int64_t>(i);
    for (std::size_t i = 0; i < rows; ++i) {
      double equal = 0;
      for (std::size_t j = 0; j < rows; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < width_; ++k)
          sum += static_cast<double>(x_.flat(i * width_ + k)) *
                 static_cast<double>(y_.flat(j * width_ + k));
        score[i * rows + j] = sum;
        equal += label[i] == label[j] ? 1 : 0;
      }
      for (std::size_t j = 0; j < rows; ++j)
        target[i * rows + j] = label[i] == label[j] ? 1 / equal : 0;
    }
  }

  /// Returns, for row i, the largest score_ij over j, and log(sum over j of e^(score_ij -
  /// largest)).
  std::pair<double, double> log_sum(std::size_t i) const {
    double most = score[i * rows], sum = 0;
    for (std::size_t j = 1; j < rows; ++j)
      if (score[i * rows + j] > most) most = score[i * rows + j];
    for (std::size_t j = 0; j < rows; ++j) sum += std::exp(score[i * rows + j] - most);
    return {most, std::log(sum)};
  }

  std::size_t rows;
  std::vector<double> score, target;  // pair (i, j) is element i * rows + j

 private:
  const xt::xarray<Real>& x_;
  const xt::xarray<Real>& y_;
  std::size_t width_;
};

/// Out_i = LogSum_i0 + LogSum_i1 - the sum over j of target_ij score_ij.
template <class Real>
void in_batch_cross_entropy_forward(call_context<Real>& ctx) {
  const all_pairs<Real> pairs(ctx);
  auto sums = zeros<Real>({pairs.rows, 2}), out = zeros<Real>({pairs.rows, 1});
  for (std::size_t i = 0; i < pairs.rows; ++i) {
    const auto [most, sum] = pairs.log_sum(i);
    double right = 0;
    for (std::size_t j = 0; j < pairs.rows; ++j)
      if (const double target_i = pairs.target[i * pairs.rows + j]; target_i > 0)
        right += target_i * pairs.score[i * pairs.rows + j];
    sums.flat(2 * i) = static_cast<Real>(most);
    sums.flat(2 * i + 1) = static_cast<Real>(sum);
    out.flat(i) = static_cast<Real>(sum + (most - right));
  }
  ctx.give("LogSum", std::move(sums));
  ctx.give("Out", std::move(out));
}

/// With g_ij = dOut_i (e^(score_ij - LogSum_i0 - LogSum_i1) - target_ij): dX_i = sum over j of g_ij
/// Y_j, dY_j = sum over i of g_ij X_i.
template <class Real>
void in_batch_cross_entropy_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Y");
  const auto& d = ctx.real("Out@GRAD");
  const all_pairs<Real> pairs(ctx);
  const std::size_t width = matrix(shape_of(x), 1).columns;
  auto dx = zeros<Real>(shape_of(x)), dy = zeros<Real>(shape_of(y));
  for (std::size_t i = 0; i < pairs.rows; ++i) {
    const auto [most, sum] = pairs.log_sum(i);
    for (std::size_t j = 0; j < pairs.rows; ++j) {
      const std::size_t pair = i * pairs.rows + j;
      const Real g =
          static_cast<Real>(static_cast<double>(d.flat(i)) *
                            (std::exp(pairs.score[pair] - most - sum) - pairs.target[pair]));
      for (std::size_t k = 0; k < width; ++k) {
        dx.flat(i * width + k) += g * y.flat(j * width + k);
        dy.flat(j * width + k) += g * x.flat(i * width + k);
      }
    }
  }
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Y@GRAD", std::move(dy));
}

template <class Real>
void add_in_batch_kernels(kernel_table<Real>& table) {
  table["in_batch_cross_entropy"] = in_batch_cross_entropy_forward<Real>;
  table["in_batch_cross_entropy_grad"] = in_batch_cross_entropy_gradient<Real>;
}

}}}  // namespace lamina::kernel

// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/matmul/cuda.cuh - products of batches of matrices: matmul, and mul
// outside of fused groups.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>

#include <lamina/engine/cuda/body/divider.cuh>
#include <lamina/engine/cuda/body/product.cuh>
#include <lamina/engine/cuda/body/small_product.cuh>
#include <lamina/engine/cuda/schedule/call_context.hpp>
#include <lamina/operators/matrix/matmul/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Computes to[i] = alpha * left[i] * right[i] for `count` matrices.
template <class Backend>
void multiply(Backend& b, const read_matrices& left, const read_matrices& right,
              const written_matrices& to, int count, float alpha, float* workspace) {
  const auto follows = [](const matrix_list& l, int rows, std::ptrdiff_t stride) {
    return l.batch_stride() == rows * stride;
  };
  // The number of matrices per batched product: the largest at which all three sides have a
  // constant distance between matrices.
  const int even =
      std::gcd(std::gcd(left.list.even(count), right.list.even(count)), to.list.even(count));
  // For several small products, library calls take longer than one call of a slower kernel.
  constexpr double smaller = 1 << 25;
  if (even < count &&
      static_cast<double>(left.rows) * right.columns * left.columns * even <= smaller)
    return multiply_small(b, left, right, to, count, alpha);
  for (int first = 0; first < count; first += even) {
    product p{left.rows,
              right.columns,
              left.columns,
              left.side(first),
              right.side(first),
              to.data + to.list.at(first),
              to.stride,
              to.list.batch_stride(),
              even,
              alpha};
    // If all left matrices share one right matrix, the left matrices form one tall matrix.
    if (even > 1 && p.right.batch_stride == 0 && !left.is_turned &&
        follows(left.list, left.rows, left.stride) && follows(to.list, left.rows, to.stride)) {
      p.rows *= even;
      p.batches = 1;
    }
    run_product(b, p, workspace);
  }
}

/// Computes to[row][column] = or += the sum of `matrices` matrices that are stored one after the
/// other.
struct matrix_sum_body {
  struct arguments {
    const float* from;
    float* to;
    std::ptrdiff_t from_stride, batch_stride, to_stride;
    divider columns;
    int matrices, count;  // number of elements of the sum
    bool adds;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int column = i;
    const int row = a.columns.divide(column);
    float* const to = a.to + row * a.to_stride + column;
    const float* from = a.from + row * a.from_stride + column;
    double sum = a.adds ? *to : 0.0f;
    for (int n = 0; n < a.matrices; ++n, from += a.batch_stride) sum += *from;
    *to = static_cast<float>(sum);
  }
};

/// The sum of `count` products. If the matrices are stored suitably, it is one product over their
/// concatenated inner dimensions. Otherwise separate products are computed, several at a time, and
/// added up.
class product_sum {
 public:
  product_sum(const read_matrices& left, const read_matrices& right, int count)
      : left_(left), right_(right), count_(count) {
    const auto follows = [&](const read_matrices& m) {
      return m.list.even(count) == count && m.list.batch_stride() == left.columns * m.stride;
    };
    const bool is_deep =
        count > 1 && left.is_turned && !right.is_turned && follows(left) && follows(right);
    if (is_deep || count == 0) {
      left_.columns *= count;
      right_.rows *= count;
      count_ = 1;
    }
  }
  template <class Backend>
  std::ptrdiff_t scratch() const {
    return Backend::product_workspace + (count_ > 1 ? (std::min)(most(), count_) * size() : 0);
  }
  template <class Backend>
  void run(Backend& b, float* to, std::ptrdiff_t stride, float alpha, float* scratch) const {
    if (count_ == 1) return multiply(b, left_, right_, {to, {}, stride}, 1, alpha, scratch);
    float* const parts = scratch + Backend::product_workspace;
    const int row = static_cast<int>(row_floats());
    for (int first = 0; first < count_; first += most()) {
      const int some = (std::min)(most(), count_ - first);
      multiply(b, part(left_, first), part(right_, first), {parts, {1, size(), 0}, row}, some,
               alpha, scratch);
      b.template elements<matrix_sum_body>({parts, to, row, size(), stride, divider(right_.columns),
                                            some, left_.rows * right_.columns, first > 0});
    }
  }

 private:
  static constexpr std::ptrdiff_t most_floats = std::ptrdiff_t{1} << 24;  // for stored products

  std::ptrdiff_t row_floats() const { return padded(right_.columns); }
  std::ptrdiff_t size() const { return left_.rows * row_floats(); }
  /// The number of products that are computed at a time: a multiple of the matrices per row of the
  /// arrays, so that each batch begins with a row.
  int most() const {
    const int each = std::lcm(left_.list.in_row, right_.list.in_row);
    const std::ptrdiff_t fit = most_floats / std::max<std::ptrdiff_t>(1, size());
    return static_cast<int>(std::max<std::ptrdiff_t>(each, fit / each * each));
  }
  static read_matrices part(read_matrices m, int first) {
    m.data += m.list.at(first);
    return m;
  }

  read_matrices left_, right_;
  int count_;
};

template <class Backend>
void run_matmul(Backend& b, const matmul_shape& s, const operand& x, const operand& y,
                const operand& out, float alpha, float* scratch) {
  multiply(b, read_matrices(x, s.x), read_matrices(y, s.y),
           {out.row<float>(0), {s.out_in_row, s.out_row_step, s.out_step}, s.out_stride}, s.count,
           alpha, scratch);
}

/// Computes the NaN elements of products again, without the terms that have a 0 on a side that
/// skips zeros. An element is a sum over `each` products.
struct skip_zeros_body {
  struct arguments {
    small_product_arguments::side left, right, to;
    float* results;
    divider columns, rows;
    int depth, each;
    bool left_turned, right_turned, in_left, in_right;
    float alpha;
    int count;  // number of elements
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int column = i;
    int row = a.columns.divide(column);
    const int matrix = a.rows.divide(row);
    float* const to = a.results + a.to.at(matrix * a.each) + row * a.to.stride + column;
    if (*to == *to) return;
    double sum = 0;
    for (int p = 0; p < a.each; ++p) {
      const float* const x = a.left.data + a.left.at(matrix * a.each + p);
      const float* const y = a.right.data + a.right.at(matrix * a.each + p);
      for (int k = 0; k < a.depth; ++k) {
        const float l = a.left_turned ? x[k * a.left.stride + row] : x[row * a.left.stride + k];
        const float r =
            a.right_turned ? y[column * a.right.stride + k] : y[k * a.right.stride + column];
        if ((a.in_left && l == 0) || (a.in_right && r == 0)) continue;
        sum += static_cast<double>(l) * static_cast<double>(r);
      }
    }
    *to = static_cast<float>(sum) * a.alpha;
  }
};
/// Runs this kernel for `count` products, which form groups of `each` consecutive products. The
/// products of a group are added up.
template <class Backend>
void skip_zero_terms(Backend& b, const read_matrices& left, const read_matrices& right,
                     const written_matrices& to, int count, int each, float alpha, bool in_left,
                     bool in_right) {
  if ((!in_left && !in_right) || count == 0) return;
  const read_matrices written(to.data, to.list, left.rows, right.columns, to.stride, false);
  b.template elements<skip_zeros_body>({left, right, written, to.data, divider(right.columns),
                                        divider(left.rows), left.columns, each, left.is_turned,
                                        right.is_turned, in_left, in_right, alpha,
                                        count / each * left.rows * right.columns});
}

/// Calls f(left, right, to, side, is_left) for each side (X, Y) whose gradient is wanted. The
/// products of `left` and `right` are the gradients of the matrices of this side.
template <class F>
void each_matmul_gradient(const call_context& c, const matmul_shape& s, const F& f) {
  const operand dx = c.output(0), dy = c.output(1);
  const read_matrices left(c.input(0), s.x), right(c.input(1), s.y);
  const read_matrices d(c.input(2).row<const float>(0), {s.out_in_row, s.out_row_step, s.out_step},
                        s.m, s.n, s.out_stride, false);
  if (dx && s.x.transposed) f(right, d.turned(), dx, s.x, true);
  if (dx && !s.x.transposed) f(d, right.turned(), dx, s.x, true);
  if (dy && s.y.transposed) f(d.turned(), left, dy, s.y, false);
  if (dy && !s.y.transposed) f(left.turned(), d, dy, s.y, false);
}

}  // namespace detail

template <>
struct call_kernel<operators::matmul> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), y = c.input(1), out = c.output(0);
    require_float(c, x);
    const matmul_shape s(c, x, y, out);
    const float alpha = static_cast<float>(c.number(2));
    detail::run_matmul(b, s, x, y, out, alpha, c.run.scratch);
    detail::skip_zero_terms(
        b, detail::read_matrices(x, s.x), detail::read_matrices(y, s.y),
        {out.row<float>(0), {s.out_in_row, s.out_row_step, s.out_step}, s.out_stride}, s.count, 1,
        alpha, c.flag(3), false);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context&) {
    return Backend::product_workspace;
  }
};

template <>
struct call_kernel<gradient_of<operators::matmul>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const matmul_shape s(c, c.input(0), c.input(1), c.input(2));
    const float alpha = static_cast<float>(c.number(2));
    detail::each_matmul_gradient(
        c, s,
        [&](const detail::read_matrices& l, const detail::read_matrices& r, const operand& to,
            const matrix_side& side, bool is_left) {
          const matrix_side at = side_like(to, side, c.flag(is_left ? 0 : 1), is_left);
          const detail::written_matrices all{to.row<float>(0), detail::matrix_list(at), at.stride};
          const bool shared = side.count == 1;  // one matrix for all products
          if (shared)
            detail::product_sum(l, r, s.count).run(b, all.data, at.stride, alpha, c.run.scratch);
          else
            detail::multiply(b, l, r, all, s.count, alpha, c.run.scratch);
          // The gradient of Out is on the left of the product for X, or for a transposed Y.
          const bool grad_left = is_left != side.transposed;
          const bool in_other = !is_left && c.flag(3), in_grad = c.flag(4);
          detail::skip_zero_terms(b, l, r, all, s.count, shared ? s.count : 1, alpha,
                                  grad_left ? in_grad : in_other, grad_left ? in_other : in_grad);
        });
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    std::ptrdiff_t floats = Backend::product_workspace;
    // While the rows of domains are set one after the other, the sizes of both sides may not match
    // yet.
    const matrix_side x(c.input(0), c.flag(0), true), y(c.input(1), c.flag(1), false);
    if (x.width() != y.height() || (x.count != y.count && x.count != 1 && y.count != 1))
      return floats;
    const matmul_shape s(c, c.input(0), c.input(1), c.input(2));
    detail::each_matmul_gradient(
        c, s,
        [&](const detail::read_matrices& l, const detail::read_matrices& r, const operand&,
            const matrix_side& side, bool) {
          if (side.count == 1)
            floats = (std::max)(floats, detail::product_sum(l, r, s.count).scratch<Backend>());
        });
    return floats;
  }
};

}}}  // namespace lamina::engine::cuda

// SPDX-License-Identifier: Apache-2.0
// lamina/operators/update/cpu.hpp - the kernels of optimizer updates that cannot be part of a fused
// group: they read the parameter more than once, or change only some of its rows.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/gemm/panel.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/optimizer/update_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// Applies one optimizer update to slices of the parameter and its accumulators, which have the
/// same layout. If the gradient of a slice is null, the gradient is zero and is not clipped.
template <class Opt, class Real>
class update_pass {
 public:
  using vector = vector_in<Real>;
  using update = update_operator<Opt>;
  static constexpr int states = update::states;
  static constexpr int numbers = static_cast<int>(update::attributes.size());
  static constexpr bool has_norms = update::traits::has_norms;

  /// `array` has the addresses of the parameter and of the accumulators in entries 0, 2, 3, ...;
  /// entry 1 is not used. `given` has the values of the operator's attributes.
  update_pass(Real* const* array, const Real* given) : array_(array) {
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    for (int i = 0; i < numbers; ++i) of_gradient_.set(i, given[i]), of_zeros_.set(i, given[i]);
    of_zeros_.set(2, -infinity);
    of_zeros_.set(3, infinity);
  }

  /// Adds the squares of a slice to the sums of squares from which the norms of the update equation
  /// are computed.
  void measure(std::ptrdiff_t offset, std::ptrdiff_t n, const Real* gradient) {
    vector part[2] = {vector(Real(0)), vector(Real(0))};
    Real rest[2] = {0, 0};
    for_each_position<Real>(n, [&](std::ptrdiff_t j, auto like) {
      using T = decltype(like);
      T state[bound(states)];
      const T p = load(array_[0] + offset + j, like), g = at(gradient, j, like);
      for (int s = 0; s < states; ++s) state[s] = load(array_[2 + s] + offset + j, like);
      const T u = update::template normed<T>(p, g, state, numbers_of(gradient).of(like));
      T* to = of(rest, part, like);
      to[0] += p * p;
      to[1] += u * u;
    });
    for (int i = 0; i < 2; ++i)
      square_[i] += static_cast<double>(sum_of(part[i])) + static_cast<double>(rest[i]);
  }
  /// Computes the norms from the sums of squares. Returns false if a sum overflows or loses digits
  /// in Real.
  bool end_of_measure() {
    bool whole = true;
    for (int i = 0; i < 2; ++i) {
      whole = whole && holds_squares(static_cast<Real>(square_[i]));
      norm_.set(i, static_cast<Real>(std::sqrt(square_[i])));
    }
    return whole;
  }
  /// Computes the norms again, with sums of squares in a wider type.
  template <class Each>
  LAMINA_COLD void measure_wide(const Each& each) {
    using wide = wide_number<Real>;
    wide squares[2] = {0, 0};
    each([&](std::ptrdiff_t offset, std::ptrdiff_t n, const Real* gradient) {
      for (std::ptrdiff_t j = 0; j < n; ++j) {
        Real state[bound(states)];
        const Real p = array_[0][offset + j], g = at(gradient, j, Real(0));
        for (int s = 0; s < states; ++s) state[s] = array_[2 + s][offset + j];
        const wide of_p = static_cast<wide>(p);
        const wide of_u = static_cast<wide>(
            update::template normed<Real>(p, g, state, numbers_of(gradient).of(Real(0))));
        squares[0] += of_p * of_p;
        squares[1] += of_u * of_u;
      }
    });
    for (int i = 0; i < 2; ++i) norm_.set(i, static_cast<Real>(std::sqrt(squares[i])));
  }

  /// Applies the update equation to a slice in place.
  void apply(std::ptrdiff_t offset, std::ptrdiff_t n, const Real* gradient) const {
    for_each_position<Real>(n, [&](std::ptrdiff_t j, auto like) {
      using T = decltype(like);
      T state[bound(states)];
      T p = load(array_[0] + offset + j, like);
      for (int s = 0; s < states; ++s) state[s] = load(array_[2 + s] + offset + j, like);
      update::template apply<T>(p, at(gradient, j, like), state, numbers_of(gradient).of(like),
                                norm_.of(like));
      store(array_[0] + offset + j, p);
      for (int s = 0; s < states; ++s) store(array_[2 + s] + offset + j, state[s]);
    });
  }

 private:
  /// A list of numbers, each as a scalar and as a SIMD vector whose lanes all have this number.
  template <int N>
  struct number_list {
    Real number[bound(N)] = {};
    vector full[bound(N)] = {};

    void set(int i, Real x) { number[i] = x, full[i] = vector(x); }
    const Real* of(Real) const { return number; }
    const vector* of(vector) const { return full; }
  };
  static Real* of(Real* number, vector*, Real) { return number; }
  static vector* of(Real*, vector* full, vector) { return full; }
  template <class T>
  static T at(const Real* gradient, std::ptrdiff_t j, T like) {
    return gradient == nullptr ? T(Real(0)) : load(gradient + j, like);
  }
  const number_list<numbers>& numbers_of(const Real* gradient) const {
    return gradient == nullptr ? of_zeros_ : of_gradient_;
  }

  Real* const* array_;
  number_list<numbers> of_gradient_, of_zeros_;
  number_list<2> norm_;
  double square_[2] = {0, 0};
};

/// Updates all slices of a parameter: each(f) must call f(offset, count, gradient) for each slice.
/// Computes the norms first if the update equation has norms.
template <class Opt, class Real, class Each>
void update_parts(Real* const* array, const Real* number, const Each& each) {
  update_pass<Opt, Real> pass(array, number);
  if constexpr (update_pass<Opt, Real>::has_norms) {
    each([&](std::ptrdiff_t offset, std::ptrdiff_t n, const Real* g) {
      pass.measure(offset, n, g);
    });
    if (!pass.end_of_measure()) pass.measure_wide(each);
  }
  each([&](std::ptrdiff_t offset, std::ptrdiff_t n, const Real* g) { pass.apply(offset, n, g); });
}

}  // namespace detail

/// Updates a parameter in place. The addresses of the call are those of the parameter, of its
/// gradient and of its accumulators, which all have the same layout, and of an array with the value
/// of each attribute.
template <class Opt, bool Given>
struct call_kernel<update_operator<Opt, Given>> {
  static constexpr int arrays = 2 + update_operator<Opt>::states;
  template <class Real = float>
  static void run(const call_context& c) {
    if (!c.at_position(0)) return;
    Real* array[bound(arrays)];
    for (int i = 0; i < arrays; ++i) array[i] = numbers_at<Real>(c.address(i));
    if (c.address(arrays) == nullptr) return keep_gradient(c.at_position(0), array);
    run(c.at_position(0), array, numbers_at<Real>(c.address(arrays)));
  }

  /// Updates a parameter. `array` has the addresses of the parameter, its gradient and its
  /// accumulators. Padding is skipped, because it must not be part of a norm.
  template <class Real>
  static void run(const operand& param, Real* const* array, const Real* number) {
    detail::update_parts<Opt>(array, number, [&](auto&& f) {
      if (param.panel)
        for_each_row_segment<Real>(param.rows, param.columns,
                                   [&](std::ptrdiff_t offset, int count, int, int) {
                                     f(offset, count, array[1] + offset);
                                   });
      else
        for (int r = 0; r < param.rows; ++r)
          f(r * param.stride, static_cast<std::ptrdiff_t>(param.columns),
            array[1] + r * param.stride);
    });
  }

 private:
  /// Copies the gradient to the output: the caller of the machine computes the update.
  template <class Real>
  static void keep_gradient(const operand& param, Real* const* array) {
    const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(param.rows) * padded(param.columns);
    std::copy(array[1], array[1] + n, array[0]);
  }
};

/// Updates a parameter by a sparse gradient, which stores only some of the rows.
template <class Opt, bool Given>
struct call_kernel<rows_update_operator<Opt, Given>> {
  using update = rows_update_operator<Opt, Given>;
  static constexpr int arrays = 2 + update::states;
  template <class Real = float>
  static void run(const call_context& c) {
    // If the array with the attributes' values is absent, the caller of the machine computes the
    // update, and this kernel does nothing.
    if (!c.at_position(0) || c.address(arrays) == nullptr) return;
    Real* array[bound(arrays)];
    for (int i = 0; i < arrays; ++i) array[i] = numbers_at<Real>(c.address(i));
    run(c.at_position(0), array, rows_of<Real>(c.at_position(1)),
        numbers_at<Real>(c.address(arrays)));
  }

  /// Updates a parameter and its accumulators, which have the same layout, by a sparse gradient.
  template <class Real>
  static void run(const operand& param, Real* const* array, basic_selected_rows<Real>& gradient,
                  const Real* number) {
    run(param, array, gradient, number, 0, param.rows);
  }
  /// Updates only the rows [first, end) of the parameter. They must contain all rows of the
  /// gradient.
  template <class Real>
  static void run(const operand& param, Real* const* array, basic_selected_rows<Real>& gradient,
                  const Real* number, int first, int end) {
    const bool decays = number[4] != 0 || number[5] != 0;
    if (number[update::lazy_mode] != 0 && !decays)
      detail::update_parts<Opt>(array, number, [&](auto&& f) { touched_rows(param, gradient, f); });
    else
      detail::update_parts<Opt>(array, number,
                                [&](auto&& f) { all_rows(param, gradient, first, end, f); });
  }

 private:
  template <class Real, class F>
  static void touched_rows(const operand& param, const basic_selected_rows<Real>& gradient, F&& f) {
    for (int i = 0; i < gradient.size(); ++i)
      for_each_column_part<Real>(
          param, [&](std::ptrdiff_t begin, int column, int width, int count) {
            f(begin + static_cast<std::ptrdiff_t>(gradient.number(i)) * width, count,
              gradient.row(i) + column);
          });
  }
  template <class Real, class F>
  static void all_rows(const operand& param, basic_selected_rows<Real>& gradient, int first_row,
                       int end, F&& f) {
    const std::vector<int>& sorted = gradient.sorted();
    for_each_column_part<Real>(param, [&](std::ptrdiff_t begin, int column, int width, int count) {
      int next = first_row;
      const auto skip_to = [&](int row) {
        // Neighbouring rows without gradients are updated as one slice if there is no padding
        // between them.
        if (count == width && row > next)
          f(begin + static_cast<std::ptrdiff_t>(next) * width,
            static_cast<std::ptrdiff_t>(row - next) * width, nullptr);
        else
          for (; next < row; ++next)
            f(begin + static_cast<std::ptrdiff_t>(next) * width, count, nullptr);
        next = row + 1;
      };
      for (const int i : sorted) {
        skip_to(gradient.number(i));
        f(begin + static_cast<std::ptrdiff_t>(gradient.number(i)) * width, count,
          gradient.row(i) + column);
      }
      skip_to(end);
    });
  }
  /// Calls f(offset of row 0, first column, stride of rows, number of columns) for each panel of
  /// the parameter, or once for all columns if the parameter is not stored in panels.
  template <class Real, class F>
  static void for_each_column_part(const operand& param, F&& f) {
    if (!param.panel) return f(0, 0, static_cast<int>(param.stride), param.columns);
    for (int first = 0; first < param.columns; first += panel_width_in<Real>) {
      const int width = width_of_panel<Real>(param.columns, first);
      f(offset_of_panel(param.rows, first), first, width, (std::min)(width, param.columns - first));
    }
  }
};

}}}  // namespace lamina::engine::cpu

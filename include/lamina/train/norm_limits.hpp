// SPDX-License-Identifier: Apache-2.0
// lamina/train/norm_limits.hpp - updates at a place where norms of gradients are limited: a norm is
// known when all gradients are, so that the update cannot ride on them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/engine/cuda/selected_rows_kernels.hpp>
#include <lamina/model/device_arrays.hpp>
#include <lamina/model/model.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/optimizer/update_operator.hpp>

namespace lamina {

/// The gradients of a program's parameters at a place, their norms, and the updates by them.
template <program_type P, optimizer::optimizer_type Opt, class Backend>
class norm_limits {
 public:
  using update = update_operator<Opt>;
  static constexpr int parameters = P::desc.count.parameters, states = update::states;
  using rows_update = rows_update_operator<Opt>;
  static constexpr std::size_t numbers = rows_update::attributes.size();
  static constexpr bool takes_rows = detail::has_rows_gradient(with_backward<P>::desc);

  LAMINA_COLD explicit norm_limits(Backend& b)
      : backend_(b),
        gradients_(b, parameters_in<P>(), 1),
        squares_(b),
        numbers_(b),
        scratch_(b),
        found_(b),
        staged_(b) {
    std::size_t parts = 0;
    std::ptrdiff_t scratch = 0;
    for (int i = 0; i < parameters; ++i) {
      first_.push_back(parts);
      scratch = std::max(scratch, engine::cuda::update_scratch<update>(elements(i)));
      if constexpr (takes_rows)
        scratch = std::max(scratch, engine::cuda::rows_update_scratch<rows_update>(
                                        parameter_table<P>::table.of[i].rows));
      parts += static_cast<std::size_t>(parts_of(i));
    }
    first_.push_back(parts);
    squares_.reserve(parts * sizeof(double));
    scratch_.reserve(static_cast<std::size_t>(scratch) * sizeof(float));
    found_.reserve(parts * sizeof(double));
    numbers_.reserve(at_least_one(parameters) * numbers * sizeof(float));
    staged_.reserve(at_least_one(parameters) * numbers * sizeof(float));
  }
  float* const* gradients() const { return gradients_.pointers(); }

  /// Updates those parameters that `is_updated`. `clip_of(i)` is in force for parameter i, and
  /// `set_numbers(i, to)` writes the numbers of its update; `rows_of(i)` is its gradient where that
  /// has only some rows, or null.
  template <class Updated, class Clip, class Numbers, class Rows>
  void finish(const Updated& is_updated, const Clip& clip_of, const Numbers& set_numbers,
              const Rows& rows_of, float* const* values, float* const* accumulators) {
    for (int i = 0; i < parameters; ++i)
      if (is_updated(i)) {
        const parameter_place& p = parameter_table<P>::table.of[i];
        double* const to = reinterpret_cast<double*>(squares_.data()) + first_[index(i)];
        const engine::cuda::selected_rows* const selected = rows_of(i);
        engine::cuda::sum_squares(backend_, selected == nullptr ? gradients()[i] : selected->values,
                                  selected == nullptr ? p.rows : selected->count, p.columns,
                                  padded(p.columns), to, parts_of(i));
      }
    backend_.download(found_.data(), squares_.data(), first_.back() * sizeof(double));
    backend_.wait();
    const std::vector<float> scale = scales(is_updated, clip_of);
    float* const staged = reinterpret_cast<float*>(staged_.data());
    for (int i = 0; i < parameters; ++i) {
      if (!is_updated(i)) continue;
      float* const to = staged + index(i) * numbers;
      set_numbers(i, to);
      to[1] = scale[index(i)];
    }
    backend_.upload(numbers_.data(), staged,
                    static_cast<std::size_t>(parameters) * numbers * sizeof(float));
    for (int i = 0; i < parameters; ++i)
      if (is_updated(i)) run_update(i, values[i], rows_of(i), accumulators + i * states);
    backend_.wait();
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static int elements(int i) {
    const parameter_place& p = parameter_table<P>::table.of[i];
    return p.rows * p.columns;
  }
  /// Into how many parts the norm of a gradient is cut: one of some rows as one of all.
  static int parts_of(int i) { return engine::cuda::square_sum_lines::parts(elements(i)); }
  template <class Updated, class Clip>
  std::vector<float> scales(const Updated& is_updated, const Clip& clip_of) const {
    std::vector<gradient_clip> clips;
    std::vector<float> norms, scale(static_cast<std::size_t>(parameters));
    for (int i = 0; i < parameters; ++i) {
      double squares = 0;
      for (std::size_t k = first_[index(i)]; is_updated(i) && k < first_[index(i) + 1]; ++k) {
        double part;
        std::memcpy(&part, found_.data() + k * sizeof(double), sizeof(part));
        squares += part;
      }
      clips.push_back(clip_of(i));
      norms.push_back(static_cast<float>(std::sqrt(squares)));
    }
    optimizer::clip_scales(clips, norms, scale);
    return scale;
  }
  void run_update(int i, float* value, const engine::cuda::selected_rows* selected,
                  float* const* accumulators) {
    const parameter_place& p = parameter_table<P>::table.of[i];
    if constexpr (takes_rows)
      if (selected != nullptr)
        return engine::cuda::run_rows_update<rows_update>(
            backend_, value, *selected, accumulators,
            reinterpret_cast<float*>(numbers_.data()) + index(i) * numbers, p.rows, p.columns,
            reinterpret_cast<float*>(scratch_.data()));
    float* of[3 + states] = {value, gradients()[i]};
    for (int s = 0; s < states; ++s) of[2 + s] = accumulators[s];
    of[2 + states] = reinterpret_cast<float*>(numbers_.data()) + index(i) * numbers;
    engine::cuda::run_update<update>(backend_, of, p.rows, p.columns,
                                     reinterpret_cast<float*>(scratch_.data()));
  }

  Backend& backend_;
  device_arrays<Backend> gradients_;
  engine::cuda::device_buffer<Backend> squares_, numbers_, scratch_;
  engine::cuda::staging_buffer<Backend> found_, staged_;
  std::vector<std::size_t> first_;  // by parameter: of the parts of its norm
};

}  // namespace lamina

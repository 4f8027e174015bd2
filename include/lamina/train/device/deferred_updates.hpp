// SPDX-License-Identifier: Apache-2.0
// lamina/train/device/deferred_updates.hpp - updates on a device after all gradients are complete.
// Clipping by norm needs all gradients, so these updates cannot be fused into the products that
// compute the gradients.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/cuda/device/device_buffer.hpp>
#include <lamina/model/device/device_arrays.hpp>
#include <lamina/model/model.hpp>
#include <lamina/operators/embedding/selected_rows/cuda.cuh>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/optimizer/update_operator.hpp>
#include <lamina/train/device/optimizer_state.hpp>
#include <lamina/train/update_constants.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The gradients of a program's parameters on a device, their norms if they are clipped by norm,
/// and the updates.
template <program_type P, optimizer::optimizer_type Opt, class Backend>
class deferred_updates {
 public:
  using state_type = optimizer_state<P, Opt>;
  using update = update_operator<Opt>;
  static constexpr int parameters = counts_of<P>.parameters, states = update::states;
  using rows_update = rows_update_operator<Opt>;
  static constexpr std::size_t numbers = rows_update::attributes.size();
  static constexpr bool accepts_rows = detail::has_rows_gradient(with_backward<P>::desc);

  LAMINA_COLD deferred_updates(Backend& b, const state_type& state)
      : backend_(b),
        state_(state),
        gradients_(b, parameters_in<P>(), 1, &has_rows),
        squares_(b),
        numbers_(b),
        scratch_(b),
        found_(b),
        staged_(b) {
    std::ptrdiff_t scratch = 0;
    for (int i = 0; i < parameters; ++i) {
      if (!is_updated(i)) continue;
      scratch = (std::max)({scratch, engine::cuda::update_scratch<update, Backend>(elements(i)),
                            square_scratch(elements(i))});
      if constexpr (accepts_rows)
        scratch = (std::max)(scratch, engine::cuda::rows_update_scratch<rows_update>(
                                          parameter_table<P>::table.of[i].rows));
    }
    squares_.reserve(parameters * sizeof(double));
    scratch_.reserve(static_cast<std::size_t>(scratch) * sizeof(float));
    found_.reserve(parameters * sizeof(double));
    numbers_.reserve(at_least_one(parameters) * numbers * sizeof(float));
    staged_.reserve(at_least_one(parameters) * numbers * sizeof(float));
  }
  float* const* gradients() const { return gradients_.pointers(); }

  /// Whether the program updates parameter i.
  static constexpr bool is_updated(int i) {
    return detail::update_constants_of<training_program<P, Opt>>.first[i] >= 0;
  }
  /// Whether the gradient of parameter i is sparse (selected rows): it then has no dense gradient.
  static bool has_rows(int i) {
    return rows_gradient_table<training_program<P, Opt>>::table.of[i] >= 0;
  }
  /// Runs the update of step `step`. `values` has one array per parameter, `accumulators` one per
  /// parameter and state. `rows_of(i)` returns the gradient of parameter i if it is sparse
  /// (selected rows), else null.
  template <class Rows>
  void run(std::int64_t step, const Rows& rows_of, float* const* values,
           float* const* accumulators) {
    std::vector<float> scale(static_cast<std::size_t>(parameters), 1.0f);
    if (state_.limits_norms()) find_scales(rows_of, scale);
    float* const staged = reinterpret_cast<float*>(staged_.data());
    const auto scalars = state_.scalars(step);
    for (int i = 0; i < parameters; ++i) {
      if (!is_updated(i)) continue;
      float* const to = staged + index(i) * numbers;
      state_.set_numbers(i, scalars, to);
      to[1] = scale[index(i)];
    }
    const auto work = [&] {
      backend_.upload(numbers_.data(), staged,
                      static_cast<std::size_t>(parameters) * numbers * sizeof(float));
      updates_ = true;
      for (int i = 0; i < parameters; ++i)
        if (is_updated(i)) try {
            run_update(i, values[i], rows_of(i), accumulators + i * states);
          } catch (const error& what) {
            fail_update(i, what);
          }
    };
    // Steps differ only in the contents of memory, so the work is recorded once and replayed. With
    // sparse gradients the number of rows differs too, so nothing is recorded.
    if constexpr (accepts_rows)
      backend_.once(work);
    else
      backend_.replay(recorded_as, work);
    updates_ = true;
    backend_.wait();
    updates_ = false;
  }
  /// Whether a parameter may already have been updated when the last step failed.
  bool may_have_updated() const { return updates_; }

 private:
  static constexpr char recorded_as[] = "updates";

  [[noreturn]] LAMINA_COLD static void fail_update(int i, const error& what) {
    throw error(text() << what.what() << " (for the update of "
                       << parameters_in<P>().describe(i).name << ")");
  }
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static int elements(int i) {
    const parameter_layout& p = parameter_table<P>::table.of[i];
    return p.rows * p.columns;
  }
  using square_terms = engine::cuda::element_terms<engine::cuda::element_square>;
  static std::ptrdiff_t square_scratch(int elements) {
    return engine::cuda::sum_scratch<square_terms, engine::cuda::all_reduce, Backend>(elements);
  }
  /// Computes the sum of squares of each gradient, by parameter.
  template <class Rows>
  void sum_squares(const Rows& rows_of) {
    std::ptrdiff_t scratch = 0;
    for (int i = 0; i < parameters; ++i)
      if (const engine::cuda::selected_rows* const selected = rows_of(i); selected != nullptr)
        scratch = (std::max)(scratch, square_scratch(selected->count * selected->columns));
    scratch_.reserve(static_cast<std::size_t>(scratch) * sizeof(float));
    for (int i = 0; i < parameters; ++i) {
      if (!is_updated(i)) continue;
      const parameter_layout& p = parameter_table<P>::table.of[i];
      const engine::cuda::selected_rows* const selected = rows_of(i);
      const int count = (selected == nullptr ? p.rows : selected->count) * p.columns;
      const square_terms terms{selected == nullptr ? gradients()[i] : selected->values,
                               padded(p.columns), engine::cuda::divider(p.columns)};
      engine::cuda::sum_terms(
          backend_, count, terms,
          engine::cuda::all_reduce{reinterpret_cast<double*>(squares_.data()) + i},
          reinterpret_cast<float*>(scratch_.data()));
    }
  }
  template <class Rows>
  LAMINA_COLD void find_scales(const Rows& rows_of, std::vector<float>& scale) {
    sum_squares(rows_of);
    backend_.download(found_.data(), squares_.data(), parameters * sizeof(double));
    backend_.wait();
    std::vector<gradient_clip> clips;
    std::vector<float> norms;
    for (int i = 0; i < parameters; ++i) {
      double squares = 0;
      if (is_updated(i))
        std::memcpy(&squares, found_.data() + index(i) * sizeof(double), sizeof(squares));
      clips.push_back(state_.clip_of(i));
      norms.push_back(static_cast<float>(std::sqrt(squares)));
    }
    optimizer::clip_scales(clips, norms, scale);
  }
  void run_update(int i, float* value, const engine::cuda::selected_rows* selected,
                  float* const* accumulators) {
    const parameter_layout& p = parameter_table<P>::table.of[i];
    if constexpr (accepts_rows)
      if (selected != nullptr)
        return engine::cuda::run_rows_update<rows_update>(
            backend_, value, *selected, accumulators,
            reinterpret_cast<float*>(numbers_.data()) + index(i) * numbers, p.rows, p.columns,
            reinterpret_cast<float*>(scratch_.data()));
    float* of[bound(3 + states)] = {value, gradients()[i]};
    for (int s = 0; s < states; ++s) of[2 + s] = accumulators[s];
    of[2 + states] = reinterpret_cast<float*>(numbers_.data()) + index(i) * numbers;
    engine::cuda::run_update<update>(backend_, of, p.rows, p.columns,
                                     reinterpret_cast<float*>(scratch_.data()));
  }

  Backend& backend_;
  const state_type& state_;
  device_arrays<Backend> gradients_;
  engine::cuda::device_buffer<Backend> squares_, numbers_, scratch_;
  engine::cuda::staging_buffer<Backend> found_, staged_;
  bool updates_ = false;  // the update of parameters has begun
};

}}  // namespace lamina

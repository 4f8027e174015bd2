// SPDX-License-Identifier: Apache-2.0
// lamina/train/norm_limits.hpp - updates at a place where norms of gradients are limited: a norm is
// known when all gradients are, so that the update cannot ride on them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/engine/cuda/group_body.hpp>
#include <lamina/engine/cuda/square_sum.hpp>
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
  static constexpr std::size_t numbers = update::attributes.size();

  LAMINA_COLD explicit norm_limits(Backend& b)
      : backend_(b),
        gradients_(b, parameters_in<P>(), 1),
        squares_(b),
        numbers_(b),
        found_(b),
        staged_(b) {
    using engine::cuda::square_sum_lines;
    std::size_t parts = 0;
    for (int i = 0; i < parameters; ++i) {
      first_.push_back(parts);
      parts += static_cast<std::size_t>(square_sum_lines::parts(elements(i)));
    }
    first_.push_back(parts);
    squares_.reserve(parts * sizeof(double));
    found_.reserve(parts * sizeof(double));
    numbers_.reserve(at_least_one(parameters) * numbers * sizeof(float));
    staged_.reserve(at_least_one(parameters) * numbers * sizeof(float));
  }
  float* const* gradients() const { return gradients_.pointers(); }

  /// Updates those parameters that `is_updated`. `clip_of(i)` is in force for parameter i, and
  /// `set_numbers(i, to)` writes the numbers of its update.
  template <class Updated, class Clip, class Numbers>
  void finish(const Updated& is_updated, const Clip& clip_of, const Numbers& set_numbers,
              float* const* values, float* const* accumulators) {
    for (int i = 0; i < parameters; ++i)
      if (is_updated(i)) {
        const parameter_place& p = parameter_table<P>::table.of[i];
        engine::cuda::sum_squares(backend_, gradients()[i], p.rows, p.columns, padded(p.columns),
                                  reinterpret_cast<double*>(squares_.data()) + first_[index(i)]);
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
      if (is_updated(i)) run_update(i, values[i], accumulators + i * states);
    backend_.wait();
  }

 private:
  template <class Index>
  struct body_of;
  template <int... S>
  struct body_of<std::integer_sequence<int, S...>> {
    using statement =
        expression::update<update, expression::load<0>, expression::load<1>,
                           expression::load<2 + S>..., expression::numbers<2 + states>>;
    using type = engine::cuda::pointwise_body<expression::statements<statement>>;
  };
  using body = typename body_of<std::make_integer_sequence<int, states>>::type;

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static int elements(int i) {
    const parameter_place& p = parameter_table<P>::table.of[i];
    return p.rows * p.columns;
  }
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
  void run_update(int i, float* value, float* const* accumulators) {
    const parameter_place& p = parameter_table<P>::table.of[i];
    typename body::arguments g{};
    g.of[0] = value;
    g.of[1] = gradients()[i];
    for (int s = 0; s < states; ++s) g.of[2 + s] = accumulators[s];
    g.of[2 + states] = reinterpret_cast<float*>(numbers_.data()) + index(i) * numbers;
    g.rows = 1;
    g.columns = g.width = p.rows * padded(p.columns);
    g.channels = 1;
    backend_.template cells<body>(g);
  }

  Backend& backend_;
  device_arrays<Backend> gradients_;
  engine::cuda::device_buffer<Backend> squares_, numbers_;
  engine::cuda::staging_buffer<Backend> found_, staged_;
  std::vector<std::size_t> first_;  // by parameter: of the parts of its norm
};

}  // namespace lamina

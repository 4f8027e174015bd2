// SPDX-License-Identifier: Apache-2.0
// lamina/model/parameters_of.hpp - a model's parameters as a list of spans.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <span>
#include <type_traits>

#include <lamina/core/messages/check.hpp>
#include <lamina/model/model.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The parameters of a model in the form that optimizer::model_average and
/// exponential_moving_average require. The spans have the engine's layout and include padding.
///   auto list = parameters_of(model);
///   average.update(list);                  // after each step, from the event handler
///   auto guard = average.apply(list);      // averaged values as long as guard exists
template <program_type P>
class parameter_list {
 public:
  explicit parameter_list(model<P>& of) : model_(&of) {}

  static constexpr int size() { return counts_of<P>.parameters; }
  std::span<float> span(int i) const {
    const parameter_layout& lies = parameter_table<P>::table.of[i];
    return {model_->memory()[i],
            static_cast<std::size_t>(lies.rows) * static_cast<std::size_t>(padded(lies.columns))};
  }

 private:
  model<P>* model_;
};

template <program_type P>
parameter_list<P> parameters_of(model<P>& of) {
  static_assert(check<computes_in_float<P>>,
                "lamina: parameters_of: expected a program in float, found one in double");
  return parameter_list<P>(of);
}

}}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/clip/definition.hpp - operators that limit values or norms.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = min(max(X, min), max). NaN stays NaN. X gets a gradient only where it is strictly between
/// the limits. Fluid: clip.
struct clip : pointwise {
  static constexpr const char* type = "clip";
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"min", attribute_type::real}, {"max", attribute_type::real}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T low, T high) {
    return (math::min)(high, (math::max)(low, x));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy, T low, T high) {
    return math::select(x <= low, T(0), math::select(x >= high, T(0), dy));
  }
};

/// Out = X if ||X|| <= max_norm, else X * max_norm / ||X||, where ||X|| is the Euclidean norm of
/// all elements. Fluid: clip_by_norm. The C++ name differs from Fluid's because clip_by_norm is the
/// gradient clip of a param_attr.
struct clip_to_norm : operator_definition {
  static constexpr const char* type = "clip_by_norm";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{{{"max_norm", attribute_type::real}}};
  static constexpr auto meets_rows = row_meeting::always;
};

using elementwise_clip_operators = operator_list<clip, clip_to_norm>;

}}}  // namespace lamina::operators

// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/step_operators.hpp - operators for programs that contain their own training
// steps (minimize.hpp). They compute the scalar arguments of an optimizer that change from step to
// step: the learning rate, and the factors of clipped gradients.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>

#include <lamina/operators/operator_definition.hpp>
#include <lamina/optimizer/learning_rate.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Computes StepOut = Step + 1, in place; the first StepOut is 0. Out is the learning rate of step
/// StepOut, with the bias correction of optimizer::corrected_rate for beta1 and beta2 (none if both
/// are 0). The other attributes are the members of optimizer::learning_rate. Fluid: increment of
/// @LR_DECAY_COUNTER@, and the operators of a schedule.
struct decayed_learning_rate : operator_definition {
  static constexpr const char* type = "decayed_learning_rate";
  static constexpr std::array<slot_desc, 1> inputs{{{"Step"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"StepOut"}}};
  static constexpr std::array<attribute_desc, 14> attributes{
      {{"beta1", attribute_type::real},
       {"beta2", attribute_type::real},
       {"kind", attribute_type::integer},
       {"flag", attribute_type::boolean},
       {"learning_rate", attribute_type::real},
       {"a", attribute_type::real},
       {"b", attribute_type::real},
       {"m", attribute_type::long_integer},
       {"n", attribute_type::long_integer},
       {"warmup_steps", attribute_type::long_integer},
       {"warmup_start", attribute_type::real},
       {"warmup_end", attribute_type::real},
       {"boundaries", attribute_type::integers},
       {"values", attribute_type::reals}}};
  static constexpr bool host_takes_part = true;
};

/// Computes the factor that limits a norm to max_norm: Out is 1 if norm <= max_norm, otherwise
/// max_norm / norm. With `global`, the norm is computed over all gradients X together; otherwise X
/// is a single gradient. Fluid: clip_by_norm, and the operators of GradientClipByGlobalNorm.
struct gradient_scale : operator_definition {
  static constexpr const char* type = "gradient_scale";
  static constexpr bool knows_panels = true;
  static constexpr std::array<slot_desc, 1> inputs{{{"X", true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"max_norm", attribute_type::real, 1}, {"global", attribute_type::boolean, 0}}};
};

using step_operators = operator_list<decayed_learning_rate, gradient_scale>;

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Whether the learning rate is the same in each step.
constexpr bool is_constant(const learning_rate& r) {
  return r.kind == schedule_kind::constant && r.warmup_steps == 0;
}

/// Records the attributes of decayed_learning_rate and returns their position. A boundary above the
/// largest int is stored as the largest int, a step that no training reaches.
constexpr int rate_attributes(program_builder& b, const learning_rate& r, float beta1,
                              float beta2) {
  constexpr std::int64_t most = 0x7fffffff;
  int boundaries[schedule::piecewise_decay::most] = {};
  const int pieces = r.piecewise.pieces;
  for (int i = 0; i + 1 < pieces; ++i) {
    const std::int64_t at = r.piecewise.boundaries[i];
    boundaries[i] = static_cast<int>(at < most ? at : most);
  }
  const attribute_value ends = b.integer_list(boundaries, pieces - 1);
  const attribute_value values = b.real_list(r.piecewise.values, pieces);
  return b.attribute_list(beta1, beta2, static_cast<int>(r.kind), r.flag, r.base, r.a, r.b,
                          static_cast<double>(r.m), static_cast<double>(r.n),
                          static_cast<double>(r.warmup_steps), r.warmup_start, r.warmup_end, ends,
                          values);
}

/// Returns the learning rate of a step by the attributes of decayed_learning_rate. number(i)
/// returns attribute i; boundary(i) and value(i) return the elements of the two lists of a
/// piecewise schedule with `pieces` values.
template <class Number, class Boundary, class Value>
float rate_of_step(std::int64_t step, Number number, int pieces, Boundary boundary, Value value) {
  const auto whole = [&](int i) { return static_cast<std::int64_t>(number(i)); };
  const auto real = [&](int i) { return static_cast<float>(number(i)); };
  learning_rate r(real(4));
  r.kind = static_cast<schedule_kind>(whole(2));
  r.flag = number(3) != 0;
  r.a = number(5), r.b = number(6), r.m = whole(7), r.n = whole(8);
  r.warmup_steps = whole(9), r.warmup_start = real(10), r.warmup_end = real(11);
  r.piecewise.pieces = pieces;
  for (int i = 0; i < pieces && i < schedule::piecewise_decay::most; ++i) {
    r.piecewise.values[i] = value(i);
    if (i + 1 < pieces) r.piecewise.boundaries[i] = boundary(i);
  }
  return corrected_rate(r.at(step), step, real(0), real(1));
}

}}}  // namespace lamina::optimizer

// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/pointwise/definition.hpp - costs that are computed for each element.
// Lower-case letters are elements of the inputs.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// -label * log s - (1 - label) * log(1 - s) with s = 1 / (1 + e^-x). A term whose factor (label or
/// 1 - label) is 0 is 0, even if x is infinite. The code uses a formula that does not subtract
/// numbers as large as x, because the difference would lose digits.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T binary_cost(T x, T label) {
  const T size = math::abs(x), weight = math::select(x > T(0), T(1) - label, label);
  return math::select(weight == T(0), T(0), size * weight) + math::log1p_exp(-size);
}
/// Returns the derivative of binary_cost with respect to x: s - label.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T binary_grad(T x, T label) {
  const T e = math::exp_in_sum(-math::abs(x)), s = e / (T(1) + e);
  return math::select(x > T(0), (T(1) - label) - s, s - label);
}

}}}  // namespace lamina::detail

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = max(x, 0) - x * label + log(1 + e^-|x|), or 0 if the label is ignore_index. Fluid:
/// sigmoid_cross_entropy_with_logits.
struct sigmoid_cross_entropy_with_logits : pointwise {
  static constexpr const char* type = "sigmoid_cross_entropy_with_logits";
  static constexpr int scalars = 1;
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Label"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"ignore_index", attribute_type::integer, -100}, {"normalize", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T label, T ignore) {
    return math::select(label == ignore, T(0), detail::binary_cost(x, label));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T label, T dy, T ignore) {
    return math::select(label == ignore, T(0), dy * detail::binary_grad(x, label));
  }
};

/// Loss = -label * log(p + epsilon) - (1 - label) * log(1 - p + epsilon). Fluid: log_loss.
struct log_loss : pointwise {
  static constexpr const char* type = "log_loss";
  static constexpr std::array<slot_desc, 2> inputs{{{"Predicted"}, {"Labels"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Loss"}}};
  static constexpr std::array<attribute_desc, 1> attributes{{{"epsilon", attribute_type::real}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
  template <class T>
  LAMINA_NUMBER_FN static T f(T p, T label, T epsilon) {
    const T yes = math::select(label == T(0), T(0), label * math::log(p + epsilon));
    const T no = math::select(label == T(1), T(0), (T(1) - label) * math::log(T(1) - p + epsilon));
    return -yes - no;
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T p, T label, T dy, T epsilon) {
    const T yes = math::select(label == T(0), T(0), label / (p + epsilon));
    const T no = math::select(label == T(1), T(0), (T(1) - label) / (T(1) - p + epsilon));
    return math::select(dy == T(0), T(0), dy * (no - yes));
  }
};

/// Loss = max(0, 1 - x * (2 * label - 1)); labels are 0 or 1. Fluid: hinge_loss.
struct hinge_loss : pointwise {
  static constexpr const char* type = "hinge_loss";
  static constexpr std::array<slot_desc, 2> inputs{{{"Logits"}, {"Labels"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Loss"}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T label) {
    return (math::max)(T(0), T(1) - x * (T(2) * label - T(1)));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T label, T dy) {
    const T side = T(2) * label - T(1);
    return math::select(T(1) - x * side <= T(0), T(0), -dy * side);
  }
};

/// Residual = r = Y - X. Out = r^2 / 2 if |r| <= delta, else delta * (|r| - delta / 2). Source:
/// Huber 1964. Fluid: huber_loss.
struct huber_loss : pointwise {
  static constexpr const char* type = "huber_loss";
  static constexpr auto inputs = slots_xy;
  static constexpr std::array<slot_desc, 2> outputs{{{"Residual", false, false, true}, {"Out"}}};
  static constexpr std::array<attribute_desc, 1> attributes{{{"delta", attribute_type::real}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 0;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr std::uint32_t gradient_of_outputs = 2;
  template <int K, class T>
  LAMINA_NUMBER_FN static T f(T x, T y, T delta) {
    const T r = y - x;
    if constexpr (K == 0) return r;
    const T size = math::abs(r);
    return math::select(size <= delta, T(0.5) * r * r, delta * (size - T(0.5) * delta));
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T r, T dy, T delta) {
    const T grad = dy * (math::min)(delta, (math::max)(-delta, r));
    if constexpr (Slot == 0)
      return -grad;
    else
      return grad;
  }
};

/// IntermediateVal = v = x * (2 * label - 1); labels are 0 or 1. Out = -4 v if v < -1, (1 - v)^2 if
/// v < 1, else 0. Source: Zhang 2004. Fluid: modified_huber_loss.
struct modified_huber_loss : pointwise {
  static constexpr const char* type = "modified_huber_loss";
  static constexpr auto inputs = slots_xy;
  static constexpr std::array<slot_desc, 2> outputs{
      {{"IntermediateVal", false, false, true}, {"Out"}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 2;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr std::uint32_t gradient_of_outputs = 2;
  template <int K, class T>
  LAMINA_NUMBER_FN static T f(T x, T label) {
    const T v = x * (T(2) * label - T(1));
    if constexpr (K == 0) return v;
    const T square = (T(1) - v) * (T(1) - v);
    return math::select(v < T(-1), T(-4) * v, math::select(v >= T(1), T(0), square));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T label, T v, T dy) {
    const T nearby = math::select(v >= T(1), T(0), T(-2) * (T(1) - v));
    return dy * (T(2) * label - T(1)) * math::select(v < T(-1), T(-4), nearby);
  }
};

/// Out = log(1 + e^(left - right)) - label * (left - right). The label is the probability that left
/// ranks above right. Source: Burges et al. 2005. Fluid: rank_loss.
struct rank_loss : pointwise {
  static constexpr const char* type = "rank_loss";
  static constexpr std::array<slot_desc, 3> inputs{{{"Label"}, {"Left"}, {"Right"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 6;
  static constexpr std::uint32_t gradient_inputs = 7;
  template <class T>
  LAMINA_NUMBER_FN static T f(T label, T left, T right) {
    return detail::binary_cost<T>(left - right, label);
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T label, T left, T right, T dy) {
    const T grad = dy * detail::binary_grad<T>(left - right, label);
    if constexpr (Slot == 1)
      return grad;
    else
      return -grad;
  }
};

/// Out = max(0, -label * (x1 - x2) + margin); labels are 1 or -1. Activated is 1 if Out > 0, else
/// 0. Fluid: margin_rank_loss.
struct margin_rank_loss : pointwise {
  static constexpr const char* type = "margin_rank_loss";
  static constexpr std::array<slot_desc, 3> inputs{{{"X1"}, {"X2"}, {"Label"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Activated", false, false, true}, {"Out"}}};
  static constexpr std::array<attribute_desc, 1> attributes{{{"margin", attribute_type::real, 0}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 4;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr std::uint32_t gradient_of_outputs = 2;
  template <int K, class T>
  LAMINA_NUMBER_FN static T f(T x1, T x2, T label, T margin) {
    const T cost = (math::max)(T(0), margin - label * (x1 - x2));
    if constexpr (K == 0)
      return math::select(cost <= T(0), T(0), T(1));
    else
      return cost;
  }
  template <int Slot, class T>
  LAMINA_NUMBER_FN static T df(T label, T activated, T dy, T) {
    if constexpr (Slot == 0)
      return -dy * label * activated;
    else
      return dy * label * activated;
  }
};

using loss_pointwise_operators =
    operator_list<sigmoid_cross_entropy_with_logits, log_loss, hinge_loss, huber_loss,
                  modified_huber_loss, rank_loss, margin_rank_loss>;

}}}  // namespace lamina::operators

// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/tunable/definition.hpp - activation functions with attributes, of
// each element x of X. Out has the results.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = x if x > 0, else alpha * x. Source: Maas et al. 2013.
struct leaky_relu : pointwise {
  static constexpr const char* type = "leaky_relu";
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"alpha", attribute_type::real, 0.02}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T alpha) {
    return math::select(x > T(0), x, alpha * x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy, T alpha) {
    return math::select(x > T(0), dy, alpha * dy);
  }
};

/// Out = x if x > 0, else alpha * (e^x - 1). Source: Clevert et al. 2016.
struct elu : pointwise {
  static constexpr const char* type = "elu";
  static constexpr std::array<attribute_desc, 1> attributes{{{"alpha", attribute_type::real, 1}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T alpha) {
    return math::select(x > T(0), x, alpha * math::expm1((math::min)(T(0), x)));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy, T alpha) {
    return dy * math::select(x > T(0), T(1), alpha * math::exp_in_sum((math::min)(T(0), x)));
  }
};

/// Out = min(max(x, 0), threshold).
struct relu6 : pointwise_by_output {
  static constexpr const char* type = "relu6";
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"threshold", attribute_type::real, 6}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T threshold) {
    return (math::min)(threshold, (math::max)(T(0), x));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy, T threshold) {
    return math::select(y <= T(0), T(0), math::select(y >= threshold, T(0), dy));
  }
};

/// Out = min(max(x, t_min), t_max).
struct brelu : pointwise_by_output {
  static constexpr const char* type = "brelu";
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"t_min", attribute_type::real, 0}, {"t_max", attribute_type::real, 24}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T low, T high) {
    return (math::min)(high, (math::max)(low, x));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy, T low, T high) {
    return math::select(y <= low, T(0), math::select(y >= high, T(0), dy));
  }
};

/// Out = log(1 + e^c) with c = x clipped to [-threshold, threshold].
struct soft_relu : pointwise {
  static constexpr const char* type = "soft_relu";
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"threshold", attribute_type::real, 40}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T threshold) {
    const T c = (math::min)(threshold, (math::max)(-threshold, x));
    return math::log1p_exp(c);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy, T threshold) {
    const T inside = math::select(math::abs(x) < threshold, dy, T(0));
    return inside / (T(1) + math::exp_in_sum(-x));
  }
};

/// Out = scale_b * tanh(scale_a * x).
struct stanh : pointwise {
  static constexpr const char* type = "stanh";
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"scale_a", attribute_type::real, 0.67}, {"scale_b", attribute_type::real, 1.7159}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T a, T b) {
    return b * math::tanh(a * x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy, T a, T b) {
    const T t = math::tanh(a * x);
    return dy * a * b * (T(1) - t * t);
  }
};

/// Out = slope * x + offset, clipped to [0, 1].
struct hard_sigmoid : pointwise_by_output {
  static constexpr const char* type = "hard_sigmoid";
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"slope", attribute_type::real, 0.2}, {"offset", attribute_type::real, 0.5}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T slope, T offset) {
    return (math::min)(T(1), (math::max)(T(0), slope * x + offset));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy, T slope, T) {
    return math::select(y <= T(0), T(0), math::select(y >= T(1), T(0), slope * dy));
  }
};

/// Out = x / (1 + e^(-beta * x)). Source: Ramachandran et al. 2017.
struct swish : pointwise {
  static constexpr const char* type = "swish";
  static constexpr std::array<attribute_desc, 1> attributes{{{"beta", attribute_type::real, 1}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T beta) {
    const T d = T(1) + math::exp(-beta * x);
    return math::select(math::is_infinite(d), T(0), x / d);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy, T beta) {
    const T s = T(1) / (T(1) + math::exp_in_sum(-beta * x));
    const T bend = s * (T(1) - s);
    return dy * (s + math::select(bend == T(0), T(0), beta * x * bend));
  }
};

/// Out = x * min(max(x + offset, 0), threshold) / scale. Source: Howard et al. 2019.
struct hard_swish : pointwise {
  static constexpr const char* type = "hard_swish";
  static constexpr std::array<attribute_desc, 3> attributes{{{"threshold", attribute_type::real, 6},
                                                             {"scale", attribute_type::real, 6},
                                                             {"offset", attribute_type::real, 3}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T threshold, T scale, T offset) {
    const T c = x + offset;
    return math::select(c < T(0), T(0), x * (math::min)((math::max)(c, T(0)), threshold) / scale);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy, T threshold, T scale, T offset) {
    const T c = x + offset;
    return dy / scale * math::select(c > T(0), math::select(c < threshold, c + x, threshold), T(0));
  }
};

/// Out = x to the power of `factor` as in IEEE 754: 0 to the power of 0 is 1, 0 to the power of -1
/// is infinity.
struct pow : pointwise {
  static constexpr const char* type = "pow";
  static constexpr std::array<attribute_desc, 1> attributes{{{"factor", attribute_type::real, 1}}};
  static constexpr auto linear = linearity::nonlinear;
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T factor) {
    return math::pow(x, factor);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy, T factor) {
    // If dy or `factor` is 0, the gradient is 0 even if the power is infinite.
    const T grad = dy * factor;
    return math::select(grad == T(0), T(0), grad * math::pow(x, factor - T(1)));
  }
};

/// Out = x if |x| > threshold, else 0.
struct hard_shrink : pointwise {
  static constexpr const char* type = "hard_shrink";
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"threshold", attribute_type::real, 0.5}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T threshold) {
    return math::select(math::abs(x) <= threshold, T(0), x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy, T threshold) {
    return math::select(math::abs(x) <= threshold, T(0), dy);
  }
};

/// Out = x - lambda if x > lambda, x + lambda if x < -lambda, else 0.
struct softshrink : pointwise {
  static constexpr const char* type = "softshrink";
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"lambda", attribute_type::real, 0.5}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T l) {
    return math::select(x > l, x - l, math::select(x < -l, x + l, math::select(x == x, T(0), x)));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy, T l) {
    return math::select(math::abs(x) <= l, T(0), dy);
  }
};

/// Out = x if x > threshold, else 0.
struct thresholded_relu : pointwise {
  static constexpr const char* type = "thresholded_relu";
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"threshold", attribute_type::real, 1}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T threshold) {
    return math::select(x <= threshold, T(0), x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy, T threshold) {
    return math::select(x <= threshold, T(0), dy);
  }
};

using activation_tunable_operators =
    operator_list<leaky_relu, elu, relu6, brelu, soft_relu, stanh, hard_sigmoid, swish, hard_swish,
                  pow, hard_shrink, softshrink, thresholded_relu>;

}}}  // namespace lamina::operators

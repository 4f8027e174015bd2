// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/simple/definition.hpp - activation functions of each element x of X,
// most of them without attributes. Out has the results.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = max(x, 0); NaN if x is NaN.
struct relu : pointwise_by_output {
  static constexpr const char* type = "relu";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return (math::max)(T(0), x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy) {
    return math::select(y <= T(0), T(0), dy);
  }
};

/// Out = (e^x - e^-x) / (e^x + e^-x).
struct tanh : pointwise_by_output {
  static constexpr const char* type = "tanh";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::tanh(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy) {
    return dy * (T(1) - y * y);
  }
};

/// Out = 1 / (1 + e^-x).
struct sigmoid : pointwise_by_output {
  static constexpr const char* type = "sigmoid";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return T(1) / (T(1) + math::exp_in_sum(-x));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy) {
    return dy * y * (T(1) - y);
  }
};

/// Out = log(1 / (1 + e^-x)).
struct logsigmoid : pointwise {
  static constexpr const char* type = "logsigmoid";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return -math::log1p_exp(-x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    return dy / (T(1) + math::exp_in_sum(x));
  }
};

/// Out = log(1 + e^x).
struct softplus : pointwise {
  static constexpr const char* type = "softplus";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::log1p_exp(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    return dy / (T(1) + math::exp_in_sum(-x));
  }
};

/// Out = x / (1 + |x|).
struct softsign : pointwise {
  static constexpr const char* type = "softsign";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    const T d = T(1) + math::abs(x);
    return math::select(math::is_infinite(d), math::sign(x), x / d);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    const T d = T(1) + math::abs(x);
    return dy / (d * d);
  }
};

/// Out = x - tanh(x).
struct tanh_shrink : pointwise {
  static constexpr const char* type = "tanh_shrink";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return math::tanh_rest(x);
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    const T t = math::tanh(x);
    return dy * t * t;
  }
};

/// Out = x / 2 * (1 + erf(x / sqrt(2))), which is x times the probability that a standard normal
/// variable is below x. With `approximate`, Out = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715
/// x^3))). Source: Hendrycks and Gimpel 2016.
struct gelu : pointwise {
  static constexpr const char* type = "gelu";
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"approximate", attribute_type::boolean, 0}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T given, T approximate) {
    // The result is 0 for every x below -40. Limiting x avoids the product of infinity and 0, which
    // is NaN.
    const T x = (math::max)(T(-40), given);
    // `approximate` is the same in all lanes, so only one of the two functions is computed.
    if (math::any(approximate > T(0))) return T(0.5) * x * (T(1) + math::tanh(inner(x)));
    return T(0.5) * x * (T(1) + math::erf(x * math::constant<T>(0.70710678118654752440)));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T given, T dy, T approximate) {
    const T x = (math::max)(T(-40), (math::min)(T(40), given));
    if (math::any(approximate > T(0))) {
      const T t = math::tanh(inner(x));
      return dy * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) *
                                             math::constant<T>(0.79788456080286535588) *
                                             (T(1) + math::constant<T>(3 * 0.044715) * x * x));
    }
    const T density = math::constant<T>(0.39894228040143267794) * math::exp_in_sum(T(-0.5) * x * x);
    return dy * (T(0.5) * (T(1) + math::erf(x * math::constant<T>(0.70710678118654752440))) +
                 x * density);
  }

 private:
  template <class T>
  LAMINA_NUMBER_FN static T inner(T x) {
    return math::constant<T>(0.79788456080286535588) *
           (x + math::constant<T>(0.044715) * x * x * x);
  }
};

/// Out = scale * (x if x > 0, else alpha * (e^x - 1)). Source: Klambauer et al. 2017.
struct selu : pointwise_by_output {
  static constexpr const char* type = "selu";
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"scale", attribute_type::real, 1.0507009873554804934},
       {"alpha", attribute_type::real, 1.6732632423543772848}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T x, T scale, T alpha) {
    return scale * math::select(x > T(0), x, alpha * math::expm1((math::min)(T(0), x)));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T y, T dy, T scale, T alpha) {
    return dy * math::select(y > T(0), scale, y + scale * alpha);
  }
};

/// Out = x * tanh(log(1 + e^x)), or x * tanh(x) where x is above `threshold`, which is at least 0.
/// Source: Misra 2019. With n = e^-|x|, which is at most 1, the hyperbolic tangent is a quotient
/// p / q: p = 1 + 2 n and q = p + 2 n^2 if x > 0, otherwise p = n^2 + 2 n and q = p + 2. Above the
/// threshold, p = 1 - n^2; from 20 on, the difference is below the rounding of double. Fluid: mish.
struct mish : pointwise {
  static constexpr const char* type = "mish";
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"threshold", attribute_type::real, 20}}};
  template <class T>
  LAMINA_NUMBER_FN static T f(T given, T threshold) {
    // The result is 0 for every x below -1e4. Limiting x avoids the product of infinity and 0.
    const T x = (math::max)(T(-1e4f), given);
    const T n = math::exp(T(-math::abs(x)));
    const T p = numerator(x, n, threshold);
    return x * (p / (p + T(2) * math::select(x > T(0), n * n, T(1))));
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T given, T dy, T threshold) {
    const T x = (math::max)(T(-1e4f), (math::min)(T(1e4f), given));
    const T n = math::exp(T(-math::abs(x)));
    const T p = numerator(x, n, threshold);
    const T q = p + T(2) * math::select(x > T(0), n * n, T(1));
    const T bend =
        T(4) * math::select(x > threshold, T(1), T(1) + n) * n * math::select(x > T(0), n, T(1));
    return dy * (p / q + x * bend / (q * q));
  }

 private:
  template <class T>
  LAMINA_NUMBER_FN static T numerator(T x, T n, T threshold) {
    return math::select(x > threshold, T(1) - n * n,
                        math::select(x > T(0), T(1), n * n) + T(2) * n);
  }
};

using activation_simple_operators = operator_list<relu, tanh, sigmoid, logsigmoid, softplus,
                                                  softsign, tanh_shrink, gelu, selu, mish>;

}}}  // namespace lamina::operators

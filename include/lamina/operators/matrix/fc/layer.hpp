// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/fc/layer.hpp - the fully connected layer: fc.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/core/messages/check.hpp>
#include <lamina/layers/activation.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/operators/matrix/mul/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of fc.
struct fc_attr {
  activation act = activation::identity;
  param_attr param{};       // attributes of the weights; inputs share a named weight
  bool bias = true;         // false: no bias
  param_attr bias_param{};  // attributes of the bias
  std::string_view name{};
};

namespace detail {

/// The type of fc's result for an input V, and the width of the weight. The first `Flatten - 1`
/// inner dimensions of V are kept; the other dimensions are multiplied by the weight.
template <int Flatten, class V>
struct flattened;
template <int Flatten, class T, class R, int... D>
struct flattened<Flatten, variable<T, R, D...>> {
  static constexpr int count = static_cast<int>(sizeof...(D));
  static constexpr int kept = Flatten - 1 + (has_rows<R> ? 0 : 1);
  static constexpr int width = [] {
    const int extent[] = {D..., 1};
    int w = 1;
    for (int i = kept; i < count; ++i) w *= extent[i];
    return w;
  }();
};

template <class V, int Flatten, int Size>
struct fc_shape;
template <class T, class R, int... D, int Flatten, int Size>
struct fc_shape<variable<T, R, D...>, Flatten, Size> {
  static constexpr int kept = flattened<Flatten, variable<T, R, D...>>::kept;
  static constexpr int rank = kept + 1;
  struct values {
    int v[bound(rank)];
  };
  static constexpr values extents = [] {
    const int from[] = {D..., 1};
    values r{};
    for (int i = 0; i < kept; ++i) r.v[i] = from[i];
    r.v[kept] = Size;
    return r;
  }();
  static constexpr const int (&extent)[bound(rank)] = extents.v;
  using type = variable_of_shape<T, R, fc_shape>;
};

/// Records the weight of one input and the product of both.
template <int Size, int Flatten, class T, class R, int... D>
constexpr int fc_product(layer_helper& layer, const variable<T, R, D...>& x, const fc_attr& attr,
                         int line) {
  using in = flattened<Flatten, variable<T, R, D...>>;
  program_builder& b = layer.builder();
  const int w =
      layer.parameter(attr.param, ".w_", {in::width, Size}, dtype_of<T>, init::xavier(), line);
  using out = typename fc_shape<variable<T, R, D...>, Flatten, Size>::type;
  const out y = layer.output<out>();
  b.add_operator(schema_of<operators::mul>(), {x.id, w}, {y.id},
                 Flatten == 1 ? -1 : b.attribute_list(Flatten, 1));
  return y.id;
}

/// Records the bias and the activation, which follow the sum of the products.
template <int Size, int Flatten, class Out>
constexpr Out fc_result(layer_helper& layer, int y, const fc_attr& attr, int line) {
  program_builder& b = layer.builder();
  if (attr.bias) {
    const int bias = layer.parameter(attr.bias_param, ".b_", {Size},
                                     dtype_of<typename Out::value_type>, init::constant(0), line);
    const int sum = layer.output_like(y);
    b.add_operator(schema_of<operators::elementwise_add>(), {y, bias}, {sum},
                   b.attribute_list(Flatten));
    y = sum;
  }
  return layer.returns(Out{&b, apply_activation(layer, attr.act, y)});
}

/// The value of `Size` if the call omits the width. It is not a valid width, so fc reports the
/// mistake.
inline constexpr int no_width = -2147483647 - 1;

/// Records an fc with several inputs.
template <int Size, int Flatten, class First, class... More>
constexpr auto fc_of_inputs(const std::tuple<First, More...>& inputs, const fc_attr& attr,
                            int line) {
  program_builder& b = *std::get<0>(inputs).builder;
  layer_helper layer(b, "fc", attr.name);
  int products[1 + sizeof...(More)];
  int n = 0;
  std::apply(
      [&](auto... x) {
        (require_one_program(std::get<0>(inputs), x, line), ...);
        ((products[n++] = fc_product<Size, Flatten>(layer, x, attr, line)), ...);
      },
      inputs);
  int y = products[0];
  if (n > 1) {
    operator_desc op = b.begin(schema_of<operators::sum>());
    y = layer.output_like(products[0]);
    op.inputs = b.arguments.count;
    b.list(products, n);
    op.outputs = b.arguments.count;
    b.argument(y);
    op.end = b.arguments.count;
    b.operators.push(op);
  }
  return fc_result<Size, Flatten, typename fc_shape<First, Flatten, Size>::type>(layer, y, attr,
                                                                                 line);
}

/// fc's first input, and whether the products of all inputs have the same type, so that they can be
/// added.
template <int Size, int Flatten, class V>
struct fc_input {
  using first = V;
  static constexpr bool alike = true;
  using more = gets_type<>;
};
template <int Size, int Flatten, class First, class... More>
struct fc_input<Size, Flatten, std::tuple<First, More...>> {
  using first = First;
  using out = typename fc_shape<First, Flatten, Size>::type;
  static constexpr bool alike =
      (__is_same(typename fc_shape<More, Flatten, Size>::type, out) && ...);
  using more = gets_type<More...>;
};

}  // namespace detail

/// Returns act(x * W + b) with `Size` numbers per row: `fc<Size>(x)`. With several inputs,
/// `fc<Size>(std::tuple{x, y})`, each input has its own weight, and the products are added up.
/// `fc<Size, Flatten>` keeps the first `Flatten` dimensions of the input, including the rows, and
/// multiplies the others by W; by default, Flatten is 1. Parameters: one weight [width, Size] per
/// input, initialised by Xavier, and a bias b [Size], initialised with zeros. Fluid: layers.fc.
template <int Size = detail::no_width, int Flatten = 1, class X>
constexpr auto fc(const X& x, const options<fc_attr, X>& attr = {}, int line = __builtin_LINE()) {
  constexpr bool one = is_variable<X>, several = detail::is_tuple<X>;
  static_assert(check<(one || several), gets_type<X>>,
                "lamina: fc: the input is a variable, or several in a tuple or in braces");
  static_assert(Size != detail::no_width,
                "lamina: fc: expected the width as a template argument, fc<128>(x), found none");
  static_assert(Size > 0 || Size == detail::no_width, "lamina: fc: the size is positive");
  constexpr int size = Size > 0 ? Size : 1;
  if constexpr (one || several) {
    using input = detail::fc_input<size, Flatten, X>;
    using first = typename input::first;
    static_assert(__is_same(typename first::value_type, float) ||
                      __is_same(typename first::value_type, double),
                  "lamina: fc: inputs are floating point; cast or embed integers first");
    static_assert(check<input::alike, expects_type<first>, typename input::more>,
                  "lamina: fc: all inputs have the same rows and type");
  }
  if constexpr (one) {
    using out = typename detail::fc_shape<X, Flatten, size>::type;
    layer_helper layer(*x.builder, "fc", attr.name);
    lamina::detail::require_visible(*x.builder, x.id, line);
    const int y = detail::fc_product<size, Flatten>(layer, x, attr, line);
    return detail::fc_result<size, Flatten, out>(layer, y, attr, line);
  } else if constexpr (several) {
    return detail::fc_of_inputs<size, Flatten>(x, attr, line);
  } else {
    return x;
  }
}

/// The fc of several inputs of one type: `fc<Size>({x, h})`.
template <int Size = detail::no_width, int Flatten = 1, class V, std::size_t N>
constexpr auto fc(const V (&inputs)[N], const options<fc_attr, V>& attr = {},
                  int line = __builtin_LINE()) {
  static_assert(Size != detail::no_width,
                "lamina: fc: expected the width as a template argument, fc<128>(x), found none");
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    return fc < Size == detail::no_width ? 1 : Size,
           Flatten > (std::make_tuple(inputs[Index]...), attr, line);
  }
  (std::make_index_sequence<N>{});
}

namespace detail {
/// Accepts the input of a call `fc(x, 128)`, which passes the width as a function argument, so that
/// the error for this call has one line.
struct input_before_width {
  program_builder* builder;
  template <class T, class R, int... D>
  constexpr input_before_width(const variable<T, R, D...>& x)  // NOLINT: it converts
      : builder(x.builder) {
    static_assert(never<T>,
                  "lamina: fc: expected the width as a template argument, fc<128>(x), found none");
  }
  template <class First, class... More>
  constexpr input_before_width(const std::tuple<First, More...>& x)  // NOLINT: it converts
      : input_before_width(std::get<0>(x)) {}
};
}  // namespace detail
/// Reports an error for fc(x, 128): the width must be a template argument, fc<128>(x). This
/// function is not a template, so that clang does not list it as a candidate if a call `fc<n>(x)`
/// fails. Its result causes no further errors.
constexpr variable<float, batch, 1> fc(detail::input_before_width x, int, const fc_attr& = {}) {
  return {x.builder, 0};
}

#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
template <any_value...>
constexpr no_match<fc_attr>
fc(...) = delete;  // call fc<8>(x), fc<8>({x, y}); options: act, param, bias, bias_param, name
// clang-format on
#endif

}}}  // namespace lamina::layer

// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/executor.hpp - computes any pointwise operator, also an operator
// that the user has defined, by the functions of its definition.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/numbers/number_cast.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/elementwise/assign/definition.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/elementwise/clip/definition.hpp>
#include <lamina/operators/elementwise/compare/definition.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/operators/pointwise_evaluation.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

namespace detail {

/// Returns the function by which a schema computes elements of type T.
template <class T>
pointwise_function<T> function_of(const operator_schema& schema) {
  if constexpr (std::is_same_v<T, float>)
    return schema.evaluate_float;
  else
    return schema.evaluate_double;
}

/// Returns the elements of the input in a slot, broadcast to `shape`. If the input already has this
/// shape, the result points to the elements of the input; otherwise they are copied to `storage`,
/// and the result points to `storage`. Returns null if the shape of the input does not fit.
template <class T, class Real>
const T* broadcast(const call_context<Real>& ctx, const char* slot, const tensor_shape& shape,
                   int axis, xt::xarray<T>& storage) {
  const tensor& given = ctx.input(slot);
  const tensor_shape found = given.shape();
  const bool own = given.type() == dtype_of<T>;
  if (own && found == shape) return given.template as<T>().data();
  xt::xarray<T> converted;
  if (!own) converted = given.template cast<T>();
  const T* const from = own ? given.template as<T>().data() : converted.data();
  const std::vector<std::size_t> position = broadcast_positions(shape, found, axis);
  if (position.size() != size_of(shape)) return nullptr;
  storage = xt::xarray<T>::from_shape(shape);
  T* const to = storage.data();
  for (std::size_t i = 0; i < position.size(); ++i) to[i] = from[position[i]];
  return to;
}

/// Computes a pointwise operator in type T. T is Real, or double if an input has integers, because
/// float cannot represent all of them exactly.
template <class T, class Real>
void evaluate(call_context<Real>& ctx) {
  const operator_schema& schema = ctx.schema();
  const std::size_t inputs = static_cast<std::size_t>(schema.input_count);
  const T zero = 0;

  // The result has the shape of the largest input or, if an input has no elements because it has no
  // rows, the shape of that input. The other inputs are broadcast to this shape.
  tensor_shape shape{1};
  std::size_t largest = 0;
  bool first = true;
  for (std::size_t s = 0; s < inputs; ++s) {
    if (!ctx.has(schema.inputs[s].name)) continue;
    const tensor_shape found = ctx.input(schema.inputs[s].name).shape();
    const std::size_t n = size_of(found);
    const bool larger = (n == 0) != (largest == 0)
                            ? n == 0
                            : n > largest || (n == largest && found.size() > shape.size());
    if (!first && !larger) continue;
    first = false;
    shape = found;
    largest = n;
  }
  const std::size_t whole = size_of(shape);
  const int axis = ctx.integer("axis", -1);

  std::vector<xt::xarray<T>> values(inputs);
  std::vector<const T*> argument;
  std::vector<int> stride;
  for (std::size_t s = 0; s < inputs; ++s) {
    const char* slot = schema.inputs[s].name;
    argument.push_back(&zero);
    stride.push_back(0);
    if (!ctx.has(slot)) continue;
    argument.back() = broadcast<T>(ctx, slot, shape, axis, values[s]);
    if (argument.back() == nullptr && whole != 0)
      ctx.fail("expected a shape that can be broadcast to " + to_string(shape) + " in variable '" +
               ctx.input_name(slot) + "', found " + to_string(ctx.input(slot).shape()));
    stride.back() = 1;
  }
  std::vector<T> attributes;
  for (int a = 0; a < schema.attribute_count; ++a)
    attributes.push_back(static_cast<T>(ctx.attribute(schema.attributes[a].name)));
  for (const T& a : attributes) {
    argument.push_back(&a);
    stride.push_back(0);
  }

  std::vector<tensor> results(static_cast<std::size_t>(schema.output_count));
  for (int k = 0; k < schema.output_count; ++k) {
    const char* slot = schema.outputs[k].name;
    if (!ctx.wants(slot)) continue;
    xt::xarray<T> result = xt::xarray<T>::from_shape(shape);
    function_of<T>(schema)(k, static_cast<std::int64_t>(whole), argument.data(), stride.data(),
                           result.data());
    // The gradient of an element of a broadcast input is the sum over all positions that have read
    // this element.
    const bool gradient = ctx.output_desc(slot).kind == variable_kind::gradient;
    const tensor_shape wanted = gradient ? ctx.output_shape(slot) : shape;
    if (size_of(wanted) == whole) {
      results[static_cast<std::size_t>(k)] = reshaped(std::move(result), wanted);
      continue;
    }
    auto sum = zeros<double>(wanted);
    const std::vector<std::size_t> position = broadcast_positions(shape, wanted, axis);
    if (position.empty() && whole != 0)
      ctx.fail("expected an output that can be broadcast to " + to_string(shape) + ", found " +
               to_string(wanted));
    for (std::size_t i = 0; i < whole; ++i)
      sum.flat(position[i]) += static_cast<double>(result.flat(i));
    results[static_cast<std::size_t>(k)] = xt::xarray<T>(xt::cast<T>(sum));
  }
  for (int k = 0; k < schema.output_count; ++k)
    if (ctx.wants(schema.outputs[k].name))
      ctx.give(schema.outputs[k].name, std::move(results[static_cast<std::size_t>(k)]));
}

}  // namespace detail

/// Whether pointwise() can compute an operator.
inline bool is_pointwise(const operator_schema& schema) { return schema.evaluate_float != nullptr; }

namespace detail {

using whole_function = std::int64_t (*)(std::int64_t, std::int64_t);
template <class Op>
std::int64_t whole(std::int64_t x, std::int64_t y) {
  return Op::f(x, y);
}

using counting_function = std::int64_t (*)(std::int64_t, const std::int64_t* attributes);
template <class Op>
std::int64_t counted(std::int64_t x, const std::int64_t* attributes) {
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    return Op::f(x, attributes[Index]...);
  }
  (std::make_index_sequence<static_cast<std::size_t>(scalars_of<Op>)>{});
}

/// Returns the function that computes an operator of X and attributes on integers; null if the
/// operator has none.
inline counting_function counting_function_of(const operator_schema& schema) {
  if (&schema == &schema_of<operators::scale>()) return &counted<operators::scale>;
  if (&schema == &schema_of<operators::clip>()) return &counted<operators::clip>;
  if (&schema == &schema_of<operators::increment>()) return &counted<operators::increment>;
  return nullptr;
}

/// Computes Out = f(X, attributes) in integer arithmetic if X and the attributes are integers;
/// otherwise returns false.
template <class Real>
bool evaluate_counting(call_context<Real>& ctx) {
  const operator_schema& schema = ctx.schema();
  const counting_function f = counting_function_of(schema);
  if (f == nullptr) return false;
  std::vector<std::int64_t> attributes;
  for (int a = 0; a < schema.attribute_count; ++a) {
    const double number = ctx.attribute(schema.attributes[a].name);
    if (std::floor(number) != number) return false;
    attributes.push_back(number_cast<std::int64_t>(number));
  }
  xt::xarray<std::int64_t> out = ctx.integers("X");
  for (std::size_t i = 0; i < out.size(); ++i) out.flat(i) = f(out.flat(i), attributes.data());
  ctx.give("Out", std::move(out));
  return true;
}

/// Returns the function that computes an elementwise operator or a comparison on integers; null for
/// other operators. Integers are not computed in double, because double is exact only up to 2^53.
inline whole_function whole_function_of(const operator_schema& schema) {
  if (&schema == &schema_of<operators::elementwise_add>())
    return &whole<operators::elementwise_add>;
  if (&schema == &schema_of<operators::elementwise_sub>())
    return &whole<operators::elementwise_sub>;
  if (&schema == &schema_of<operators::minus>()) return &whole<operators::minus>;
  if (&schema == &schema_of<operators::elementwise_mul>())
    return &whole<operators::elementwise_mul>;
  if (&schema == &schema_of<operators::elementwise_div>())
    return &whole<operators::elementwise_div>;
  if (&schema == &schema_of<operators::elementwise_max>())
    return &whole<operators::elementwise_max>;
  if (&schema == &schema_of<operators::elementwise_min>())
    return &whole<operators::elementwise_min>;
  if (&schema == &schema_of<operators::elementwise_pow>())
    return &whole<operators::elementwise_pow>;
  if (&schema == &schema_of<operators::elementwise_keep>())
    return &whole<operators::elementwise_keep>;
  if (&schema == &schema_of<operators::elementwise_mod>())
    return &whole<operators::elementwise_mod>;
  if (&schema == &schema_of<operators::elementwise_floordiv>())
    return &whole<operators::elementwise_floordiv>;
  if (&schema == &schema_of<operators::less_than>()) return &whole<operators::less_than>;
  if (&schema == &schema_of<operators::less_equal>()) return &whole<operators::less_equal>;
  if (&schema == &schema_of<operators::greater_than>()) return &whole<operators::greater_than>;
  if (&schema == &schema_of<operators::greater_equal>()) return &whole<operators::greater_equal>;
  if (&schema == &schema_of<operators::equal>()) return &whole<operators::equal>;
  if (&schema == &schema_of<operators::not_equal>()) return &whole<operators::not_equal>;
  return nullptr;
}

/// Computes Out = f(X, Y) in integer arithmetic if X and Y have integers and Y can be broadcast to
/// X; otherwise returns false.
template <class Real>
bool evaluate_whole(call_context<Real>& ctx) {
  const whole_function f = whole_function_of(ctx.schema());
  if (f == nullptr || is_floating(ctx.input("X").type()) || is_floating(ctx.input("Y").type()))
    return false;
  const tensor_shape shape = ctx.input("X").shape();
  xt::xarray<std::int64_t> of_x, of_y;
  const int axis = ctx.integer("axis", -1);
  const std::int64_t *const x = broadcast<std::int64_t>(ctx, "X", shape, axis, of_x),
                            *const y = broadcast<std::int64_t>(ctx, "Y", shape, axis, of_y);
  const std::size_t n = size_of(shape);
  if (n != 0 && (x == nullptr || y == nullptr)) return false;  // the shape of Y does not fit X
  const bool divides = &ctx.schema() == &schema_of<operators::elementwise_div>() ||
                       &ctx.schema() == &schema_of<operators::elementwise_mod>() ||
                       &ctx.schema() == &schema_of<operators::elementwise_floordiv>();
  xt::xarray<std::int64_t> result = xt::xarray<std::int64_t>::from_shape(shape);
  for (std::size_t i = 0; i < n; ++i) {
    if (divides && y[i] == 0)
      ctx.fail("expected divisors that are not 0, found 0 at element " + std::to_string(i));
    result.flat(i) = f(x[i], y[i]);
  }
  ctx.give("Out", std::move(result));
  return true;
}

}  // namespace detail

/// Computes every output of a pointwise operator, element by element. Inputs are broadcast by the
/// attribute `axis` as in Fluid.
template <class Real>
void pointwise(call_context<Real>& ctx) {
  bool exact = false;
  for (int s = 0; s < ctx.schema().input_count; ++s)
    if (ctx.has(ctx.schema().inputs[s].name))
      exact = exact || !is_floating(ctx.input(ctx.schema().inputs[s].name).type());
  if (exact && (detail::evaluate_counting(ctx) || detail::evaluate_whole(ctx))) return;
  if (exact)
    detail::evaluate<double>(ctx);
  else
    detail::evaluate<Real>(ctx);
}

}}}  // namespace lamina::kernel

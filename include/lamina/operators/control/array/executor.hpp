// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/array/executor.hpp - operators on arrays of tensors: write, read,
// length, their gradients, and the conversions between a dimension of a tensor and an array.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns the value of input I, the index of a slot. Fails if the index is negative.
template <class Real>
std::size_t array_index(const call_context<Real>& ctx) {
  const std::int64_t i = ctx.integers("I").flat(0);
  if (i < 0) ctx.fail("expected an index from 0 on, found " + std::to_string(i));
  return static_cast<std::size_t>(i);
}

/// Whether a slot of an array has a value.
inline bool holds(const std::vector<lod_tensor>& array, std::size_t i) {
  return i < array.size() && array[i].has_value();
}

template <class Real>
void write_to_array_forward(call_context<Real>& ctx) {
  std::vector<lod_tensor>& to = ctx.array_output("Out");
  const std::size_t i = array_index(ctx);
  if (i >= to.size()) to.resize(i + 1);
  to[i] = lod_tensor(ctx.input("X"), ctx.lod("X"));
}

template <class Real>
void write_to_array_gradient(call_context<Real>& ctx) {
  std::vector<lod_tensor>& from = ctx.array_of("Out@GRAD");
  const std::size_t i = array_index(ctx);
  if (holds(from, i))
    ctx.give("X@GRAD", std::move(from[i]));
  else
    ctx.give("X@GRAD", zeros<Real>(ctx.input("X").shape()));
  if (i < from.size()) from[i] = {};
}

template <class Real>
void read_from_array_forward(call_context<Real>& ctx) {
  const std::vector<lod_tensor>& from = ctx.array_of("X");
  const std::size_t i = array_index(ctx);
  if (!holds(from, i))
    ctx.fail("expected a value at index " + std::to_string(i) + " of array '" +
             ctx.input_name("X") + "', which has " + std::to_string(from.size()) +
             " values, found none");
  ctx.give("Out", from[i]);
  ctx.set_lod("Out", from[i].lod());
}

template <class Real>
void read_from_array_gradient(call_context<Real>& ctx) {
  std::vector<lod_tensor>& to = ctx.array_output("X@GRAD");
  const std::size_t i = array_index(ctx);
  if (i >= to.size()) to.resize(i + 1);
  if (!to[i].has_value()) {
    to[i] = tensor(ctx.real("Out@GRAD"));
  } else {
    const auto& d = ctx.real("Out@GRAD");
    auto& sum = to[i].template as<Real>();
    for (std::size_t k = 0; k < sum.size(); ++k) sum.flat(k) += d.flat(k);
  }
}

template <class Real>
void lod_array_length_forward(call_context<Real>& ctx) {
  ctx.give("Out",
           tensor::filled<std::int64_t>({1}, static_cast<std::int64_t>(ctx.array_of("X").size())));
}

/// The extent of a dimension (`steps`), and the products of the extents of the dimensions before it
/// (`outer`) and after it (`inner`).
struct axis_extents {
  std::size_t outer = 1, steps, inner = 1;
  axis_extents(const tensor_shape& shape, std::size_t axis) : steps(shape[axis]) {
    for (std::size_t d = 0; d < axis; ++d) outer *= shape[d];
    for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  }
};

template <class Real>
void tensor_to_tensor_array_forward(call_context<Real>& ctx) {
  std::vector<lod_tensor>& to = ctx.array_output("Out");
  tensor_shape shape = ctx.input("X").shape();
  const std::size_t axis = ctx.axis("axis", shape.size());
  const axis_extents e(shape, axis);
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  to.clear();
  ctx.input("X").visit([&]<class T>(const xt::xarray<T>& from) {
    for (std::size_t t = 0; t < e.steps; ++t) {
      xt::xarray<T> part = xt::xarray<T>::from_shape(shape);
      for (std::size_t i = 0; i < part.size(); ++i)
        part.flat(i) = from.flat((i / e.inner * e.steps + t) * e.inner + i % e.inner);
      to.push_back(lod_tensor(tensor(std::move(part)), ctx.lod("X")));
    }
  });
}

/// Returns the recorded shape of the result. In a program from a file, any dimension may be
/// unknown; then it is 0 here.
template <class Real>
tensor_shape stacked_shape(const call_context<Real>& ctx) {
  const std::vector<int> recorded = ctx.recorded_dims("Out");
  tensor_shape shape;
  for (const int d : recorded) shape.push_back(d < 0 ? 0 : static_cast<std::size_t>(d));
  for (std::size_t d = 1; d < recorded.size(); ++d)
    if (recorded[d] < 0) return shape;
  return ctx.output_shape("Out");
}

template <class Real>
void tensor_array_to_tensor_forward(call_context<Real>& ctx) {
  if (!ctx.flag("use_stack"))
    ctx.fail("expected use_stack, found that parts are to be concatenated");
  const std::vector<lod_tensor>& from = ctx.array_of("X");
  const variable_desc& desc = ctx.output_desc("Out");
  tensor_shape shape = stacked_shape(ctx);
  const std::size_t axis = ctx.axis("axis", shape.size());
  const lod_tensor* any = nullptr;
  for (const lod_tensor& part : from)
    if (part.has_value()) any = &part;
  if (any != nullptr && axis > 0) shape[0] = any->shape()[0];
  // In a program from a file, the number of slots and the extents of the values may be unknown.
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!ctx.is_unknown("Out", d)) continue;
    const std::size_t of_part = d > axis ? d - 1 : d;
    if (d == axis)
      shape[d] = from.size();
    else
      shape[d] = any != nullptr && of_part < any->rank() ? any->shape()[of_part] : 0;
  }
  const axis_extents e(shape, axis);
  lod sequences;
  const tensor zero = tensor::zeros(is_floating(desc.type) ? dtype_of<Real> : desc.type, shape);
  zero.visit([&]<class T>(const xt::xarray<T>& begin) {
    xt::xarray<T> out = begin;
    for (std::size_t t = 0; t < e.steps; ++t) {
      if (!holds(from, t)) continue;
      xt::xarray<T> storage;
      const xt::xarray<T>& part = values_as(from[t], storage);
      sequences = from[t].lod();
      if (part.size() != e.outer * e.inner)
        ctx.fail("expected values of " + std::to_string(e.outer * e.inner) +
                 " elements in array '" + ctx.input_name("X") + "', found " +
                 std::to_string(part.size()) + " at index " + std::to_string(t));
      for (std::size_t i = 0; i < part.size(); ++i)
        out.flat((i / e.inner * e.steps + t) * e.inner + i % e.inner) = part.flat(i);
    }
    ctx.give("Out", tensor(std::move(out)));
  });
  if (!sequences.empty()) ctx.set_lod("Out", std::move(sequences));
}

template <class Real>
void add_array_kernels(kernel_table<Real>& table) {
  table["write_to_array"] = write_to_array_forward<Real>;
  table["write_to_array_grad"] = write_to_array_gradient<Real>;
  table["read_from_array"] = read_from_array_forward<Real>;
  table["read_from_array_grad"] = read_from_array_gradient<Real>;
  table["tensor_to_tensor_array"] = tensor_to_tensor_array_forward<Real>;
  table["tensor_array_to_tensor"] = tensor_array_to_tensor_forward<Real>;
  table["lod_array_length"] = lod_array_length_forward<Real>;
}

}}}  // namespace lamina::kernel

// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/query/executor.hpp - shape, is_empty and where_index, which tell what is
// known of a variable only during a run, and range.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/shape/concat/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Out = the extents of the dimensions of Input.
template <class Real>
void shape_forward(call_context<Real>& ctx) {
  std::vector<std::int32_t> dims;
  for (const std::size_t extent : ctx.input("Input").shape())
    dims.push_back(static_cast<std::int32_t>(extent));
  ctx.give("Out", tensor({dims.size()}, dims));
}

template <class Real>
void is_empty_forward(call_context<Real>& ctx) {
  ctx.give("Out", tensor::filled<std::int32_t>({1}, ctx.input("X").size() == 0 ? 1 : 0));
}

/// Out = the coordinates of all elements that are not 0. The elements of each row form a sequence.
template <class Real>
void where_index_forward(call_context<Real>& ctx) {
  const tensor_shape shape = ctx.input("Condition").shape();
  std::vector<std::int64_t> positions;
  lod::level lengths(shape[0], 0);
  std::size_t found = 0;
  ctx.input("Condition").visit([&]<class T>(const xt::xarray<T>& x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x.flat(i) == T(0)) continue;
      ++found;
      const tensor_shape at = coordinates(i, shape);
      ++lengths[at[0]];
      for (const std::size_t d : at) positions.push_back(static_cast<std::int64_t>(d));
    }
  });
  const lod sequences = ctx.lod("Condition").below(lengths);
  ctx.give("Out", tensor({found, shape.size()}, positions));
  ctx.set_lod("Out", sequences);
}

/// Out = the numbers Start, Start + Step, ... up to End, which is not included; none if Step does
/// not lead to End.
template <class Real>
void range_forward(call_context<Real>& ctx) {
  const auto number = [&](const char* slot) {
    const xt::xarray<double> x = ctx.input(slot).template cast<double>();
    if (x.size() != 1)
      ctx.fail("expected one number in variable '" + ctx.input_name(slot) + "', found " +
               std::to_string(x.size()));
    return x.flat(0);
  };
  const double start = number("Start"), end = number("End"), step = number("Step");
  if (step == 0) ctx.fail("expected steps that are not 0, found 0");
  std::vector<double> numbers(
      static_cast<std::size_t>((std::max)(0.0, std::ceil((end - start) / step))));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = start + static_cast<double>(i) * step;
  ctx.give("Out", tensor({numbers.size()}, numbers));
}

template <class Real>
void add_query_kernels(kernel_table<Real>& table) {
  table["shape"] = shape_forward<Real>;
  table["is_empty"] = is_empty_forward<Real>;
  table["where_index"] = where_index_forward<Real>;
  table["range"] = range_forward<Real>;
}

}}}  // namespace lamina::kernel

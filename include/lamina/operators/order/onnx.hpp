// SPDX-License-Identifier: Apache-2.0
// lamina/operators/order/onnx.hpp - operators of the family order, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/shape/onnx.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Sorts a dimension by TopK with all its elements.
inline void lower_argsort(onnx_operator& op) {
  const std::int64_t axis = op.integer("axis", -1);
  const std::vector<std::string> found =
      op.nodes("TopK", {op.in("X"), op.list({op.extent("X", static_cast<int>(axis))})}, 2,
               {{"axis", axis}, {"largest", op.flag("descending") ? 1 : 0}});
  op.out("Out", found[0]);
  op.out("Indices", found[1]);
}

inline onnx_lowering arg_extreme(const char* type) {
  return [type](onnx_operator& op) {
    const bool keeps = op.flag("keepdims") || op.rank("X") == 1;
    op.out("Out", type, {op.in("X")}, {{"axis", op.integer("axis")}, {"keepdims", keeps ? 1 : 0}});
  };
}

/// TopK: the first elements of the sorted dimension, and where they were.
inline void raise_top_k(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 1, 16);
  const std::int64_t axis = n.axis(n.integer("axis", -1), x.rank());
  const std::int64_t k = n.version() < 10 ? n.integer("k") : n.numbers(1, "k").at(0);
  const std::int64_t size = x.dims[static_cast<std::size_t>(axis)];
  if (!is_symbol(k) && (k < 0 || (size >= 0 && k > size)))
    n.fail(text("expected a k from 0 to ") << size << ", found " << k);
  const std::vector<onnx_imported> sorted =
      n.make_all("argsort", {{"X", x}},
                 {{"axis", static_cast<int>(axis)}, {"descending", n.flag("largest", true)}},
                 {{"Out", x.type, x.dims}, {"Indices", dtype::int64, x.dims}});
  for (std::size_t i = 0; i < sorted.size(); ++i)
    n.out(i, is_symbol(k) ? sliced_at_run_time(n, sorted[i], axis, 0, k, 1)
                          : n.slice(sorted[i], axis, 0, k));
}
/// Unique: the different elements of X or, with an axis, the different entries along it.
inline void raise_unique(onnx_import_node& n) {
  onnx_imported x = n.in(0);
  n.require_rank(x, 0, 16);
  const bool has_axis = n.has_attribute("axis");
  const std::int64_t axis = has_axis ? n.axis(n.integer("axis"), x.rank()) : 0;
  if (has_axis) x = n.transpose(x, n.moved(x.rank(), axis, 0));
  std::int64_t count = 1, width = 1;
  for (int d = 0; d < x.rank(); ++d) {
    std::int64_t& side = has_axis && d > 0 ? width : count;
    const std::int64_t extent = x.dims[static_cast<std::size_t>(d)];
    side = side == 1 ? extent : side < 0 || extent < 0 ? unknown_extent : side * extent;
  }
  const dtype whole = dtype::int64;
  const std::vector<onnx_imported> made = n.make_all(
      "unique", {{"X", n.reshape(x, {count, width})}}, {{"sorted", n.flag("sorted", true)}},
      {{"Out", x.type, {unknown_extent, width}},
       {"Indices", whole, {unknown_extent}},
       {"Index", whole, {count}},
       {"Counts", whole, {unknown_extent}}});
  onnx_imported y = made[0];
  if (has_axis) {
    std::vector<std::int64_t> dims = x.dims;
    dims[0] = y.dims[0];
    y = n.transpose(n.reshape(y, dims), n.moved(x.rank(), 0, axis));
  } else {
    y = n.squeeze(y, {1});
  }
  n.out(0, y);
  for (std::size_t i = 1; i < made.size(); ++i) n.out(i, made[i]);
}
/// ArgMax and ArgMin. The last index of equal elements is the first one from the other end.
inline onnx_raising raise_arg_extreme(const char* type) {
  return [type](onnx_import_node& n) {
    onnx_imported x = n.in(0);
    n.require_rank(x, 1, 16);
    const std::int64_t axis = n.axis(n.integer("axis"), x.rank());
    const bool keep = n.flag("keepdims", true), last = n.flag("select_last_index");
    if (last) {
      n.require_size({n.extent(x, axis)});
      std::vector<std::int64_t> back;
      for (std::int64_t k = n.extent(x, axis); k-- > 0;) back.push_back(k);
      x = n.gather(x, n.constant_list(back), axis);
    }
    std::vector<std::int64_t> dims = x.dims;
    dims[static_cast<std::size_t>(axis)] = 1;
    onnx_imported found =
        n.make(type, {{"X", x}}, {{"axis", axis}, {"keepdims", true}}, dtype::int64, dims);
    if (last)
      found = n.sub(
          n.full(n.number(static_cast<double>(n.extent(x, axis) - 1), dtype::int64), found), found);
    n.out(keep ? found : n.squeeze(found, {axis}));
  };
}

inline void add_order_argsort(onnx_operators& to) {
  to.add_node("TopK", raise_top_k);
  to.add_node("Unique", raise_unique);
  to.add_node("ArgMax", raise_arg_extreme("arg_max"));
  to.add_node("ArgMin", raise_arg_extreme("arg_min"));
  to.add("argsort", lower_argsort);
  to.add("arg_max", arg_extreme("ArgMax"));
  to.add("arg_min", arg_extreme("ArgMin"));
}

}}}  // namespace lamina::onnx

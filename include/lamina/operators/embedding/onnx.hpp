// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/onnx.hpp - operators of the family embedding, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/shape/onnx.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

inline void lower_gather(onnx_operator& op) {
  std::string index = op.in("Index");
  if (op.rank("Index") == 2) index = op.node("Squeeze", {index, op.list({1})});
  op.out("Out", "Gather", {op.in("X"), index}, {{"axis", op.integer("axis")}});
}

/// ONNX does not specify which of several updates with equal ids counts. Sums start from zeros
/// instead of X.
inline void lower_scatter(onnx_operator& op) {
  const std::string &ids = op.reshape(op.in("Ids"), {-1, 1}), &updates = op.in("Updates");
  if (op.flag("overwrite", true)) return op.out("Out", "ScatterND", {op.in("X"), ids, updates});
  const std::string& nothing = op.node("ConstantOfShape", {op.node("Shape", {updates})});
  const std::string& zeros = op.cast(nothing, op.type_of("X"));
  op.out("Out", "ScatterND", {op.node("ScatterND", {op.in("X"), ids, zeros}), ids, updates},
         {{"reduction", "add"}});
}

/// Gather along an axis; of a list of dimensions, also of those that are known in part.
inline void raise_gather(onnx_import_node& n) {
  const onnx_imported &x = n.in(0), &index = n.in(1);
  n.require_rank(x, 1, 16);
  const std::int64_t axis = n.axis(n.integer("axis"), x.rank());
  const auto known = extents_of(x);
  if (x.constant == nullptr && known && index.constant != nullptr && index.constant->size() == 1) {
    std::int64_t k = index.constant->cast<std::int64_t>().flat(0);
    k += k < 0 ? static_cast<std::int64_t>(known->size()) : 0;
    if (k >= 0 && k < static_cast<std::int64_t>(known->size()) &&
        (*known)[static_cast<std::size_t>(k)] >= 0) {
      const std::int64_t found = (*known)[static_cast<std::size_t>(k)];
      return n.out(index.rank() == 0 ? n.number(static_cast<double>(found), x.type)
                                     : n.cast(n.constant_list({found}), x.type));
    }
  }
  const std::int64_t size = x.dims[static_cast<std::size_t>(axis)];
  onnx_imported made = n.gather(x, n.from_front(index, size), axis);
  if (x.constant == nullptr && known && index.constant != nullptr) {
    std::vector<std::int64_t> chosen;
    for (std::int64_t k : index.constant->cast<std::int64_t>()) {
      k += k < 0 ? static_cast<std::int64_t>(known->size()) : 0;
      if (k >= 0 && k < static_cast<std::int64_t>(known->size()))
        chosen.push_back((*known)[static_cast<std::size_t>(k)]);
    }
    made.extents = std::make_shared<const std::vector<std::int64_t>>(std::move(chosen));
  }
  n.out(made);
}

/// The product of dimensions, some of which may be known only at run time.
struct run_time_product {
  std::int64_t known = 1;
  onnx_imported rest{};

  /// Returns x times the product.
  onnx_imported times(onnx_import_node& n, const onnx_imported& x) const {
    const onnx_imported y = n.mul(x, n.number(static_cast<double>(known), dtype::int64));
    return rest.has_value() ? n.mul(y, rest) : y;
  }
  void add(onnx_import_node& n, std::int64_t extent) {
    if (extent >= 0)
      known *= extent;
    else
      rest = rest.has_value() ? n.mul(rest, n.scalar_of(extent)) : n.scalar_of(extent);
  }
};

/// Returns the number in X, as one row, of each element that `index` chooses along an axis.
inline onnx_imported flat_positions(onnx_import_node& n, const std::vector<std::int64_t>& dims,
                                    const onnx_imported& index, std::int64_t axis) {
  const int rank = static_cast<int>(dims.size());
  run_time_product stride;
  onnx_imported at;
  for (int d = rank - 1; d >= 0; --d) {
    const std::int64_t size = dims[static_cast<std::size_t>(d)];
    const onnx_imported coordinate =
        d == axis ? n.from_front(index, size)
                  : n.positions(index.dims[static_cast<std::size_t>(d)], rank, d);
    const onnx_imported part = stride.times(n, coordinate);
    at = at.has_value() ? n.add(n.full(at, part), part) : part;
    stride.add(n, size);
  }
  return n.full(at, index);
}
/// Returns the product of dimensions [first, end): unknown_extent if one is not known.
inline std::int64_t size_of_all(const onnx_imported& v, int first, int end) {
  std::int64_t size = 1;
  for (int d = first; d < end; ++d) {
    const std::int64_t extent = v.dims[static_cast<std::size_t>(d)];
    size = size < 0 || extent < 0 ? unknown_extent : size * extent;
  }
  return size;
}
inline void raise_gather_elements(onnx_import_node& n) {
  const onnx_imported &x = n.in(0), &index = n.in(1);
  if (x.rank() != index.rank() || x.rank() == 0)
    n.fail("expected X and indices with the same number of dimensions");
  const onnx_imported at = flat_positions(n, x.dims, index, n.axis(n.integer("axis"), x.rank()));
  const onnx_imported flat = n.reshape(x, {size_of_all(x, 0, x.rank())});
  n.out(n.gather(flat, at, 0));
}
/// The numbers of the rows that the coordinates in the last dimension of `index` choose, where X
/// has been reshaped so that its first dimensions are one.
inline onnx_imported row_numbers(onnx_import_node& n, const std::vector<std::int64_t>& dims,
                                 const onnx_imported& index, int first) {
  const int k = static_cast<int>(n.extent(index, -1));
  const std::int64_t last = index.rank() - 1;
  run_time_product stride;
  onnx_imported at;
  for (int i = k - 1; i >= 0; --i) {
    const std::int64_t size = dims[static_cast<std::size_t>(first + i)];
    const onnx_imported coordinate =
        n.from_front(n.squeeze(n.slice(index, last, i, i + 1), {last}), size);
    const onnx_imported part = stride.times(n, coordinate);
    at = at.has_value() ? n.add(at, part) : part;
    stride.add(n, size);
  }
  // The first `batch` dimensions of the index and of X belong to each other.
  for (int d = first - 1; d >= 0; --d) {
    const std::int64_t extent = index.dims[static_cast<std::size_t>(d)];
    const onnx_imported part = stride.times(n, n.positions(extent, at.rank(), d));
    at = n.add(n.full(at, part), part);
    stride.add(n, dims[static_cast<std::size_t>(d)]);
  }
  return at;
}
inline void raise_gather_nd(onnx_import_node& n) {
  const onnx_imported &x = n.in(0), &index = n.in(1);
  n.require_rank(index, 1, 16);
  const int batch = static_cast<int>(n.integer("batch_dims")),
            k = static_cast<int>(n.extent(index, -1));
  if (batch < 0 || k < 1 || batch + k > x.rank() || batch >= index.rank())
    n.fail("expected coordinates for dimensions of X");
  std::vector<std::int64_t> dims{size_of_all(x, 0, batch + k)};
  dims.insert(dims.end(), x.dims.begin() + batch + k, x.dims.end());
  n.out(n.gather(n.reshape(x, dims), row_numbers(n, x.dims, index, batch), 0));
}
/// Rows of X, each element of which becomes the largest or smallest of itself and its updates. The
/// last update of a position counts, so the updates are sorted first.
inline onnx_imported scattered_extreme(onnx_import_node& n, const onnx_imported& rows,
                                       const onnx_imported& ids, const onnx_imported& updates,
                                       bool largest) {
  const std::int64_t width = rows.dims[1], count = size_of_all(updates, 0, 2);
  onnx_imported at = ids;
  if (width != 1)
    at = n.reshape(n.add(n.full(n.mul(n.unsqueeze(ids, {1}), n.scalar_of(width)), updates),
                         n.positions(width, 2, 1)),
                   {count}, {-1});
  const onnx_imported all = n.reshape(updates, {count}, {-1});
  const std::vector<onnx_imported> sorted =
      n.make_all("argsort", {{"X", all}}, {{"axis", 0}, {"descending", !largest}},
                 {{"Out", all.type, all.dims}, {"Indices", dtype::int64, all.dims}});
  const onnx_imported last = n.make("scatter",
                                    {{"X", n.reshape(rows, {size_of_all(rows, 0, 2), 1}, {-1, 1})},
                                     {"Ids", n.gather(at, sorted[1], 0)},
                                     {"Updates", n.unsqueeze(sorted[0], {1})}},
                                    {{"overwrite", true}}, rows.type, {size_of_all(rows, 0, 2), 1});
  return n.binary(largest ? "elementwise_max" : "elementwise_min", rows,
                  n.reshape(last, rows.dims));
}
/// Rows of X, replaced by updates, or with their sum added, or with extremes of both.
inline onnx_imported scattered(onnx_import_node& n, const onnx_imported& rows,
                               const onnx_imported& ids, const onnx_imported& updates) {
  const std::string reduction = n.string("reduction", "none");
  if (reduction == "none")
    return n.make("scatter", {{"X", rows}, {"Ids", ids}, {"Updates", updates}},
                  {{"overwrite", true}}, rows.type, rows.dims);
  if (reduction == "max" || reduction == "min")
    return scattered_extreme(n, rows, ids, updates, reduction == "max");
  if (reduction != "add") n.fail("expected reduction none, add, max or min, found " + reduction);
  const onnx_imported zeros = n.unary("fill_zeros_like", rows);
  return n.add(rows, n.make("scatter", {{"X", zeros}, {"Ids", ids}, {"Updates", updates}},
                            {{"overwrite", false}}, rows.type, rows.dims));
}
inline void raise_scatter_nd(onnx_import_node& n) {
  const onnx_imported &x = n.in(0), &index = n.in(1), &updates = n.in(2);
  n.require_rank(index, 1, 16);
  const int k = static_cast<int>(n.extent(index, -1));
  if (k < 1 || k > x.rank()) n.fail("expected coordinates for dimensions of X");
  const std::int64_t rows = size_of_all(x, 0, k), width = size_of_all(x, k, x.rank()),
                     count = size_of_all(index, 0, index.rank() - 1);
  const onnx_imported ids = n.reshape(row_numbers(n, x.dims, index, 0), {count});
  n.out(n.reshape(
      scattered(n, n.reshape(x, {rows, width}), ids, n.reshape(updates, {count, width})), x.dims));
}
inline void raise_scatter_elements(onnx_import_node& n) {
  const onnx_imported &x = n.in(0), &index = n.in(1), &updates = n.in(2);
  if (x.rank() != index.rank() || x.rank() == 0)
    n.fail("expected X and indices with the same number of dimensions");
  const onnx_imported at = flat_positions(n, x.dims, index, n.axis(n.integer("axis"), x.rank()));
  const std::int64_t count = size_of_all(index, 0, index.rank());
  const onnx_imported rows = n.reshape(x, {size_of_all(x, 0, x.rank()), 1});
  n.out(n.reshape(scattered(n, rows, n.reshape(at, {count}), n.reshape(updates, {count, 1})),
                  x.dims));
}
/// Compress: the entries along an axis whose condition is true.
inline void raise_compress(onnx_import_node& n) {
  onnx_imported x = n.in(0);
  if (!n.has_attribute("axis")) x = n.reshape(x, {size_of_all(x, 0, x.rank())});
  const std::int64_t axis = n.axis(n.integer("axis"), x.rank());
  if (n.in(1).constant == nullptr) {
    n.require_rank(n.in(1), 1, 1);
    const onnx_imported rows =
        n.make("where_index", {{"Condition", n.in(1)}}, {}, dtype::int64, {unknown_extent, 1});
    return n.out(n.gather(x, n.squeeze(rows, {1}), axis));
  }
  const std::vector<std::int64_t> truths = n.list(1, "a condition");
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < truths.size(); ++i)
    if (truths[i] != 0) chosen.push_back(static_cast<std::int64_t>(i));
  n.out(n.gather(x, n.constant_list(chosen), axis));
}
/// ReverseSequence: the first elements of each row along the time axis, as many as its length says,
/// in the opposite order.
inline void raise_reverse_sequence(onnx_import_node& n) {
  const onnx_imported &x = n.in(0), &lengths = n.in(1);
  n.require_rank(x, 2, 16);
  n.require_rank(lengths, 1, 1);
  const std::int64_t batch = n.integer("batch_axis", 1), time = n.integer("time_axis", 0);
  if (batch + time != 1 || batch * time != 0)
    n.fail(text("expected batch_axis and time_axis 0 and 1, found ") << batch << " and " << time);
  std::vector<std::int64_t> order(x.dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[static_cast<std::size_t>(time)]);
  const onnx_imported front = n.transpose(x, order);
  const dtype whole = dtype::int64;
  const onnx_imported t = n.positions(front.dims[0], 2, 0),
                      length = n.unsqueeze(n.cast(lengths, whole), {0});
  const onnx_imported turns =
      n.cast(n.binary("less_than", n.full(t, length), n.full(length, t), dtype::boolean), whole);
  // t becomes length - 1 - t before the end of its row.
  const onnx_imported change =
      n.sub(n.full(n.sub(length, n.number(1, whole)), t), n.add(n.full(t, length), t));
  const onnx_imported from = n.add(n.full(t, length), n.mul(turns, change));
  const onnx_imported row =
      n.add(n.mul(from, n.scalar_of(front.dims[1])), n.positions(front.dims[1], 2, 1));
  std::vector<std::int64_t> flat{size_of_all(front, 0, 2)};
  flat.insert(flat.end(), front.dims.begin() + 2, front.dims.end());
  n.out(n.transpose(n.gather(n.reshape(front, flat), row, 0), order));
}
/// OneHot: `values` holds the value elsewhere and that at the index.
inline void raise_one_hot(onnx_import_node& n) {
  const onnx_imported &index = n.in(0), &values = n.in(2);
  const std::int64_t depth = n.list(1, "a depth").at(0);
  const std::int64_t axis = n.axis(n.integer("axis", -1), index.rank(), true);
  const onnx_imported at = n.unsqueeze(n.from_front(index, depth), {axis});
  const onnx_imported numbers = n.positions(depth, index.rank() + 1, axis);
  const onnx_imported is_at = n.binary("equal", n.full(at, numbers), numbers, dtype::boolean);
  const onnx_imported off = n.slice(values, 0, 0, 1), on = n.slice(values, 0, 1, 2);
  n.out(n.where(is_at, on, off));
}

/// Stacks all variables along a new dimension and selects one of them for each row.
inline void lower_multiplex(onnx_operator& op) {
  const std::string& all = stacked(op, op.all("X"), 1);
  std::vector<std::int64_t> one{-1};
  while (static_cast<int>(one.size()) < op.rank("Out") + 1) one.push_back(1);
  const std::string& ids = op.reshape(op.cast(op.in("Ids"), dtype::int64), one);
  const std::string& shape =
      op.node("Shape", {op.node("Slice", {all, op.list({0}), op.list({1}), op.list({1})})});
  const std::string& chosen =
      op.node("GatherElements", {all, op.node("Expand", {ids, shape})}, {{"axis", 1}});
  op.out("Out", "Squeeze", {chosen, op.list({1})});
}

inline void add_embedding_gather(onnx_operators& to) {
  to.add_node("Gather", raise_gather);
  to.add_node("GatherElements", raise_gather_elements);
  to.add_node("GatherND", raise_gather_nd);
  to.add_node("ScatterND", raise_scatter_nd);
  to.add_node("ScatterElements", raise_scatter_elements);
  to.add_node("Scatter", raise_scatter_elements);
  to.add_node("Compress", raise_compress);
  to.add_node("OneHot", raise_one_hot);
  to.add_node("ReverseSequence", raise_reverse_sequence);
  to.add("gather", lower_gather);
  to.add("scatter", lower_scatter);
  to.add("multiplex", lower_multiplex);
}

inline void lower_lookup_table(onnx_operator& op) {
  const bool has_column = op.type() == "lookup_table";  // lookup_table_v2 has none
  const std::string& ids = has_column ? without_last(op, "Ids") : op.in("Ids");
  const std::int64_t padding = op.integer("padding_idx", -1);
  if (padding < 0) return op.out("Out", "Gather", {op.in("W"), ids}, {{"axis", 0}});
  const std::string& rows = op.node("Gather", {op.in("W"), ids}, {{"axis", 0}});
  const std::string& id =
      has_column ? op.in("Ids") : op.node("Unsqueeze", {op.in("Ids"), op.list({-1})});
  const std::string& is_padding =
      op.node("Equal", {id, op.number(double(padding), op.type_of("Ids"))});
  op.out("Out", "Where", {is_padding, op.number(0, op.type_of("Out")), rows});
}

inline void add_embedding_lookup_table(onnx_operators& to) {
  to.add("lookup_table", lower_lookup_table);
  to.add("lookup_table_v2", lower_lookup_table);
}

}}}  // namespace lamina::onnx

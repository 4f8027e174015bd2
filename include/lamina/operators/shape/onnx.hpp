// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/onnx.hpp - operators of the family shape, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// The elements of a list of dimensions: a constant, or dimensions that are known in part.
inline std::optional<std::vector<std::int64_t>> extents_of(const onnx_imported& v) {
  if (v.rank() > 1) return std::nullopt;
  if (v.extents != nullptr) return *v.extents;
  if (v.constant == nullptr || is_floating(v.type)) return std::nullopt;
  const auto all = v.constant->cast<std::int64_t>();
  return std::vector<std::int64_t>(all.begin(), all.end());
}

/// Stacks the values along a new dimension.
inline std::string stacked(onnx_operator& op, const std::vector<std::string>& values,
                           std::int64_t axis) {
  std::vector<std::string> each;
  for (const std::string& v : values) each.push_back(op.node("Unsqueeze", {v, op.list({axis})}));
  return each.size() == 1 ? each[0] : op.node("Concat", each, {{"axis", axis}});
}

inline void lower_split(onnx_operator& op) {
  const std::vector<std::string>& names = op.message().output("Out");
  const std::vector<std::int64_t> sections = op.integers("sections");
  std::vector<std::string> inputs{op.in("X")};
  std::vector<onnx_attribute> attributes{{"axis", op.integer("axis")}};
  if (sections.empty())
    attributes.emplace_back("num_outputs", static_cast<std::int64_t>(names.size()));
  else
    inputs.push_back(op.list(sections));
  std::vector<std::string> made;
  for (const std::string& name : names) made.push_back(op.program().write(name));
  op.program().graph.node("Split", inputs, made, attributes);
}

/// ONNX lists the leading padding of every dimension, then the trailing padding of every dimension.
inline void lower_pad(onnx_operator& op) {
  const std::vector<std::int64_t> paddings = op.integers("paddings");
  std::vector<std::int64_t> pads;
  for (const std::size_t first : {0U, 1U})
    for (std::size_t i = first; i < paddings.size(); i += 2) pads.push_back(paddings[i]);
  op.out("Out", "Pad",
         {op.in("X"), op.list(pads), op.number(op.real("pad_value"), op.type_of("X"))});
}

inline void lower_crop(onnx_operator& op) {
  if (op.has("Offsets")) op.fail("expected offsets that are known, found a variable");
  std::vector<std::int64_t> axes, starts, ends;
  const std::vector<std::int64_t> offsets = op.integers("offsets");
  for (int d = 0; d < op.rank("Out"); ++d) {
    const std::int64_t extent = op.dims("Out")[static_cast<std::size_t>(d)];
    if (extent < 0) continue;
    axes.push_back(d);
    starts.push_back(offsets.at(static_cast<std::size_t>(d)));
    ends.push_back(starts.back() + extent);
  }
  op.out("Out", "Slice", {op.in("X"), op.list(starts), op.list(ends), op.list(axes)});
}

/// Splits a dimension into slices at single indices, without this dimension.
inline void lower_unstack(onnx_operator& op) {
  const std::int64_t axis = op.integer("axis");
  const std::vector<std::string>& names = op.message().output("Y");
  const std::vector<std::string> parts =
      op.nodes("Split", {op.in("X")}, static_cast<int>(names.size()),
               {{"axis", axis}, {"num_outputs", static_cast<std::int64_t>(names.size())}});
  for (std::size_t i = 0; i < names.size(); ++i)
    op.assign(names[i], "Squeeze", {parts[i], op.list({axis})});
}

/// Concat, also of lists of dimensions that are known in part.
inline void raise_concat(onnx_import_node& n) {
  const std::int64_t axis = n.axis(n.integer("axis", 1), n.in(0).rank());
  std::vector<onnx_imported> parts;
  std::vector<std::int64_t> known;
  bool all_known = true;
  for (std::size_t i = 0; i < n.count(); ++i) {
    const onnx_imported& v = n.in(i);
    if (v.rank() != n.in(0).rank())
      n.fail(text("expected inputs with the same number of dimensions, found ")
             << text().list(n.in(0).dims) << " and " << text().list(v.dims));
    if (v.dims != std::vector<std::int64_t>{0}) parts.push_back(v);
    const auto found = extents_of(v);
    all_known = all_known && found.has_value();
    if (found) known.insert(known.end(), found->begin(), found->end());
  }
  if (parts.empty()) return n.out(n.in(0));
  onnx_imported made = n.concat(parts, axis);
  if (made.constant == nullptr && all_known)
    made.extents = std::make_shared<const std::vector<std::int64_t>>(std::move(known));
  n.out(made);
}
inline void raise_split(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const std::int64_t axis = n.axis(n.integer("axis"), x.rank());
  const std::size_t parts = n.message().outputs.size();
  std::vector<std::int64_t> sizes = n.list_or("split", 1).value_or(std::vector<std::int64_t>());
  if (sizes.empty()) {
    const auto count = n.integer("num_outputs", static_cast<std::int64_t>(parts));
    const std::int64_t whole = n.extent(x, axis),
                       each = (whole + count - 1) / std::max<std::int64_t>(1, count);
    for (std::int64_t i = 0; i < count; ++i)
      sizes.push_back(std::max<std::int64_t>(0, (std::min)(each, whole - i * each)));
  }
  if (sizes.size() != parts)
    n.fail(text("expected sizes of ") << parts << " parts, found " << text().list(sizes));
  std::int64_t first = 0;
  std::vector<onnx_result> results;
  for (const std::int64_t size : sizes) {
    if (size < 0) n.fail(text("expected sizes that are not negative, found ").list(sizes));
    results.push_back({"Out", x.type, x.dims});
    results.back().dims[static_cast<std::size_t>(axis)] = size;
    first += size;
  }
  if (x.dims[static_cast<std::size_t>(axis)] >= 0 && first != n.extent(x, axis))
    n.fail(text("expected sizes that add up to ")
           << n.extent(x, axis) << ", found " << text().list(sizes));
  std::vector<onnx_imported> made;
  if (std::find(sizes.begin(), sizes.end(), 0) == sizes.end()) {
    made = n.make_all("split", {{"X", x}}, {{"sections", sizes}, {"axis", static_cast<int>(axis)}},
                      results);
  } else {
    first = 0;
    for (const std::int64_t size : sizes) {
      made.push_back(n.slice(x, axis, first, first + size));
      first += size;
    }
  }
  for (std::size_t i = 0; i < parts; ++i) n.out(i, made[i]);
}
/// Slice: starts, ends, axes and steps. A step other than 1 chooses elements by their numbers.
inline void raise_slice(onnx_import_node& n) {
  onnx_imported x = n.in(0);
  const bool old = n.version() < 10;
  std::vector<std::int64_t> starts = old ? n.integers("starts") : n.list(1, "starts"),
                            ends = old ? n.integers("ends") : n.list(2, "ends"), axes, steps;
  if (old)
    axes = n.integers("axes");
  else if (n.has(3))
    axes = n.list(3, "axes");
  if (axes.empty())
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (!old && n.has(4)) steps = n.list(4, "steps");
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size())
    n.fail("expected starts, ends, axes and steps of one length");
  const auto known = extents_of(x);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = n.axis(axes[i], x.rank()),
                       step = std::clamp<std::int64_t>(steps[i], -0x7fffffff, 0x7fffffff);
    if (step == 0) n.fail("expected steps that are not 0, found 0");
    const std::int64_t extent = x.dims[static_cast<std::size_t>(axis)];
    std::int64_t first = starts[i], end = ends[i];
    if (extent < 0) {
      // Without the extent, only elements from the front or a last part have known numbers.
      if (step != 1 || first < 0 || end < 0x7fffffff)
        n.fail(text("expected dimension ") << axis << " to be known before a run for a slice");
      x = n.slice(x, axis, first, -1);
      continue;
    }
    first = first < 0 ? (std::max)(first, -extent - 1) + extent : (std::min)(first, extent);
    end = end < 0 ? (std::max)(end, -extent - 1) + extent : (std::min)(end, extent);
    if (step == 1) {
      x = n.slice(x, axis, std::max<std::int64_t>(0, first), std::max<std::int64_t>(0, end));
      continue;
    }
    first = step > 0 ? std::max<std::int64_t>(0, first) : (std::min)(first, extent - 1);
    n.require_size({extent});
    std::vector<std::int64_t> chosen;
    if (first >= 0)
      for (std::int64_t k = first; step > 0 ? k < end : k > end; k += step) {
        chosen.push_back(k);
        if ((step > 0 && k > extent - step) || (step < 0 && k < -step)) break;
      }
    x = n.gather(x, n.constant_list(chosen), axis);
  }
  if (known && x.rank() == 1 && starts.size() == 1 && x.constant == nullptr) {
    const auto size = static_cast<std::int64_t>(known->size());
    std::int64_t first = starts[0] < 0 ? starts[0] + size : starts[0],
                 end = ends[0] < 0 ? ends[0] + size : ends[0];
    first = std::clamp<std::int64_t>(first, 0, size);
    end = std::clamp<std::int64_t>(end, first, size);
    if (steps[0] == 1)
      x.extents = std::make_shared<const std::vector<std::int64_t>>(known->begin() + first,
                                                                    known->begin() + end);
  }
  n.out(x);
}
/// Pad: paddings of all dimensions, or of `axes`. Modes other than constant copy elements of X.
inline void raise_pad(onnx_import_node& n) {
  onnx_imported x = n.in(0);
  const std::size_t rank = x.dims.size();
  const std::vector<std::int64_t> pads =
      n.version() < 11 ? n.integers("pads") : n.list(1, "paddings");
  double value = static_cast<double>(n.real("value"));
  if (n.version() >= 11 && n.has(2))
    value = n.constant(2, "a padding value").cast<double>().flat(0);
  std::vector<std::int64_t> axes, before(rank, 0), after(rank, 0);
  if (n.has(3)) axes = n.list(3, "axes");
  if (axes.empty())
    for (std::size_t d = 0; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
  if (pads.size() != 2 * axes.size())
    n.fail(text("expected ") << 2 * axes.size() << " paddings, found " << text().list(pads));
  for (const std::int64_t p : pads)
    if (p < -0x7fffffff || p > 0x7fffffff)
      n.fail(text("expected paddings of at most 2147483647, found ") << p);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<std::size_t>(n.axis(axes[i], x.rank()));
    before[d] = pads[i];
    after[d] = pads[axes.size() + i];
  }
  const std::string mode = n.string("mode", "constant");
  if (mode == "constant") return n.out(n.pad(x, before, after, value));
  for (std::size_t d = 0; d < rank; ++d) {
    if (before[d] == 0 && after[d] == 0) continue;
    const std::int64_t axis = static_cast<std::int64_t>(d), size = n.extent(x, axis);
    if (size == 0) n.fail("expected elements to copy, found none");
    n.require_size({(std::max<std::int64_t>)(0, size + before[d] + after[d])});
    std::vector<std::int64_t> from;
    for (std::int64_t k = -before[d]; k < size + after[d]; ++k) {
      const std::int64_t period = std::max<std::int64_t>(1, 2 * (size - 1));
      std::int64_t at = ((k % period) + period) % period;
      if (mode == "reflect")
        from.push_back(at < size ? at : period - at);
      else if (mode == "edge")
        from.push_back(std::clamp<std::int64_t>(k, 0, size - 1));
      else if (mode == "wrap")
        from.push_back(((k % size) + size) % size);
      else
        n.fail("expected mode constant, reflect, edge or wrap, found " + mode);
    }
    x = n.gather(x, n.constant_list(from), axis);
  }
  n.out(x);
}
inline void raise_expand(onnx_import_node& n) {
  const std::vector<std::int64_t> dims = n.broadcast_dims(n.in(0).dims, n.list(1, "dimensions"));
  n.out(std::find(dims.begin(), dims.end(), 0) == dims.end() ? n.broadcast_to(n.in(0), dims)
                                                             : n.filled(0, n.in(0).type, dims));
}
inline void raise_tile(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const std::vector<std::int64_t> times = n.list(1, "repeats");
  if (times.size() != x.dims.size())
    n.fail(text("expected ") << x.rank() << " repeats, found " << text().list(times));
  std::vector<std::int64_t> dims = x.dims;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (times[d] < 0 || times[d] > 0x7fffffff)
      n.fail(text("expected repeats from 0 to 2147483647, found ").list(times));
    if (dims[d] >= 0) dims[d] *= times[d];
  }
  n.out(times == std::vector<std::int64_t>(times.size(), 1)
            ? x
            : n.make("expand", {{"X", x}}, {{"expand_times", times}}, x.type, dims));
}
/// The lower or upper triangle of the matrices in the last two dimensions.
inline void raise_trilu(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 2, 16);
  const std::int64_t rows = n.extent(x, -2), columns = n.extent(x, -1);
  const std::int64_t k = n.has(1) ? n.list(1, "a diagonal").at(0) : 0;
  const bool upper = n.flag("upper", true);
  if (rows * columns == 0) return n.out(x);
  n.require_size({rows, columns});
  std::vector<std::int64_t> inside;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) inside.push_back(upper ? j - i >= k : j - i <= k);
  const onnx_imported mask = n.reshape(n.constant_list(inside), {rows, columns});
  if (x.type == dtype::boolean)
    return n.out(n.cast(n.kept(n.cast(x, dtype::int32), n.cast(mask, dtype::boolean)), x.type));
  n.out(n.kept(x, n.cast(mask, dtype::boolean)));
}
/// Cuts or pads dimensions, half before and half after.
inline void raise_center_crop_pad(onnx_import_node& n) {
  onnx_imported x = n.in(0);
  std::vector<std::int64_t> axes = n.integers("axes"), wanted = n.list(1, "dimensions");
  if (axes.empty())
    for (int d = 0; d < x.rank(); ++d) axes.push_back(d);
  if (wanted.size() != axes.size())
    n.fail(text("expected ") << axes.size() << " dimensions, found " << text().list(wanted));
  std::vector<std::int64_t> before(x.dims.size(), 0), after = before;
  for (const std::int64_t w : wanted)
    if (w < 0 || w > 0x7fffffff)
      n.fail(text("expected dimensions from 0 to 2147483647, found ") << w);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = n.axis(axes[i], x.rank()), more = wanted[i] - n.extent(x, axis);
    const auto d = static_cast<std::size_t>(axis);
    before[d] = more >= 0 ? more / 2 : -((-more) / 2);
    after[d] = more - before[d];
  }
  n.out(n.pad(x, before, after, 0));
}

inline void add_shape_join(onnx_operators& to) {
  to.add_node("Concat", raise_concat);
  to.add_node("Split", raise_split);
  to.add_node("Slice", raise_slice);
  to.add_node("Pad", raise_pad);
  to.add_node("Expand", raise_expand);
  to.add_node("Tile", raise_tile);
  to.add_node("Trilu", raise_trilu);
  to.add_node("CenterCropPad", raise_center_crop_pad);
  to.add("concat", [](onnx_operator& op) {
    op.out("Out", "Concat", op.all("X"), {{"axis", op.integer("axis")}});
  });
  to.add("split", lower_split);
  to.add("stack",
         [](onnx_operator& op) { op.out("Y", stacked(op, op.all("X"), op.integer("axis"))); });
  to.add("slice", [](onnx_operator& op) {
    op.out("Out", "Slice",
           {op.in("Input"), op.list(op.integers("starts")), op.list(op.integers("ends")),
            op.list(op.integers("axes"))});
  });
  to.add("pad", lower_pad);
  to.add("expand", [](onnx_operator& op) {
    op.out("Out", "Tile", {op.in("X"), op.list(op.integers("expand_times"))});
  });
  to.add("crop", lower_crop);
  to.add("unstack", lower_unstack);
}

/// The dimensions of X, or a part of them. If all are known, they are a constant.
inline void raise_shape(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const std::int64_t rank = x.rank();
  const auto place = [&](std::int64_t given) {
    return std::clamp<std::int64_t>(given < 0 ? given + rank : given, 0, rank);
  };
  const std::int64_t first = place(n.integer("start")), end = place(n.integer("end", rank));
  std::vector<std::int64_t> part;
  for (std::int64_t d = first; d < end; ++d) part.push_back(x.dims[static_cast<std::size_t>(d)]);
  if (std::find(part.begin(), part.end(), -1) == part.end()) return n.out(n.constant_list(part));
  onnx_imported made =
      n.slice(n.make("shape", {{"Input", x}}, {}, dtype::int32, {rank}), 0, first, end);
  made = n.cast(made, dtype::int64);
  made.extents = std::make_shared<const std::vector<std::int64_t>>(std::move(part));
  n.out(made);
}
inline void raise_size(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  if (!x.is_static()) {
    const onnx_imported dims =
        n.cast(n.make("shape", {{"Input", x}}, {}, dtype::int32, {x.rank()}), dtype::int64);
    return n.out(n.reduce("reduce_prod", dims, {0}, false));
  }
  std::int64_t size = 1;
  for (const std::int64_t d : x.dims) size *= d;
  n.out(n.number(static_cast<double>(size), dtype::int64));
}
/// start, start + delta, ... before limit. Without such numbers the range is empty.
inline void raise_range(onnx_import_node& n) {
  const dtype type = n.in(0).type;
  if (n.in(0).constant == nullptr || n.in(1).constant == nullptr || n.in(2).constant == nullptr)
    return n.out(n.make("range", {{"Start", n.in(0)}, {"End", n.in(1)}, {"Step", n.in(2)}}, {},
                        type, {unknown_extent}));
  const auto number = [&](std::size_t i) { return n.constant(i, "limits").cast<double>().flat(0); };
  const double start = number(0), limit = number(1), delta = number(2);
  if (delta == 0) n.fail("expected a delta that is not 0, found 0");
  const double count = std::ceil((limit - start) / delta);
  if (!(count < 1e9)) n.fail("expected less than 10^9 numbers, found more");
  n.require_size({count < 0 ? 0 : static_cast<std::int64_t>(count)});
  std::vector<double> all;
  for (double i = 0; i < count; ++i) all.push_back(start + i * delta);
  n.out(onnx_import::constant(tensor({all.size()}, all).cast(type)));
}
/// The coordinates of the elements that are not 0, one row for each dimension.
inline void raise_non_zero(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const onnx_imported rows = n.make("where_index", {{"Condition", x}}, {}, dtype::int64,
                                    {unknown_extent, (std::max)(1, x.rank())});
  n.out(n.transpose(rows, {1, 0}));
}

inline void lower_is_empty(onnx_operator& op) {
  const std::string& size = op.node("Size", {op.in("X")});
  op.out("Out", "Equal", {op.reshape(size, {1}), op.list({0})});
}

/// Arranges the coordinates as columns; the elements of each row form a sequence.
inline void lower_where(onnx_operator& op) {
  const std::string& truth = op.cast(op.in("Condition"), dtype::boolean);
  op.out("Out", "Transpose", {op.node("NonZero", {truth})});
  std::vector<std::int64_t> inner;
  for (int d = 1; d < op.rank("Condition"); ++d) inner.push_back(d);
  const std::string& count = op.cast(truth, dtype::int64);
  op.program().set_lengths(
      op.name_of_output("Out"),
      inner.empty() ? count : op.node("ReduceSum", {count, op.list(inner)}, {{"keepdims", 0}}));
}

inline void lower_range(onnx_operator& op) {
  const auto number = [&](const char* slot) {
    return op.node("Squeeze", {op.in(slot), op.list({0})});
  };
  op.out("Out", "Range", {number("Start"), number("End"), number("Step")});
}

inline void add_shape_query(onnx_operators& to) {
  to.add_node("Shape", raise_shape);
  to.add_node("Size", raise_size);
  to.add_node("Range", raise_range);
  to.add_node("NonZero", raise_non_zero);
  to.add("shape", [](onnx_operator& op) {
    op.out("Out", op.cast(op.node("Shape", {op.in("Input")}), op.type_of("Out")));
  });
  to.add("is_empty", lower_is_empty);
  to.add("where_index", lower_where);
  to.add("range", lower_range);
}

inline void lower_reshape(onnx_operator& op) {
  if (op.has("Shape") || op.has("ShapeTensor"))
    op.fail("expected a shape as attribute, found one in a variable");
  op.out("Out", "Reshape", {op.in("X"), op.list(op.integers("shape"))});
}

/// Removes `axes` or, if it is empty, all dimensions of extent 1.
inline void lower_squeeze(onnx_operator& op) {
  std::vector<std::int64_t> axes = op.integers("axes");
  const std::vector<std::int64_t>& dims = op.dims("X");
  for (std::size_t d = 0; d < dims.size() && op.integers("axes").empty(); ++d)
    if (dims[d] == 1) axes.push_back(static_cast<std::int64_t>(d));
  op.out("Out", "Squeeze", {op.in("X"), op.list(axes)});
}

/// Reshape to dimensions that are constant or known in part.
inline void raise_reshape(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  std::vector<std::int64_t> shape;
  if (n.version() < 5) {
    shape = n.integers("shape");
  } else if (n.in(1).constant == nullptr && n.in(1).extents != nullptr) {
    // An unknown dimension is copied from X if X has an unknown one at the same position, and if it
    // is the first one or another dimension is already inferred (-1); otherwise it is inferred.
    shape = *n.in(1).extents;
    bool inferred = false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] >= 0) continue;
      const bool copied = d < x.dims.size() && x.dims[d] < 0 && (d == 0 || inferred);
      shape[d] = copied ? 0 : -1;
      inferred = inferred || !copied;
    }
  } else {
    shape = n.list(1, "dimensions");
  }
  const bool literal = n.flag("allowzero");
  std::vector<std::int64_t> dims = shape;
  std::int64_t known = 1, size = 1;
  int inferred = -1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0 && !literal) {
      if (d >= x.dims.size())
        n.fail(text("expected dimension ")
               << d << " of X to copy, found dimensions " << text().list(x.dims));
      dims[d] = x.dims[d];
    }
    if (shape[d] < -1 || shape[d] > 0x7fffffff || (shape[d] == -1 && inferred >= 0))
      n.fail(text("expected dimensions, one of which may be -1, found ").list(shape));
    if (shape[d] == -1)
      inferred = static_cast<int>(d);
    else
      known *= dims[d] < 0 ? 1 : dims[d];
  }
  for (const std::int64_t d : x.dims) size *= d < 0 ? 1 : d;
  const auto unknowns = [](const std::vector<std::int64_t>& of) {
    return std::count_if(of.begin(), of.end(), [](std::int64_t d) { return d < 0; });
  };
  if (inferred >= 0) {
    // The unknown dimensions that are copied cancel out.
    const auto copied = unknowns(dims) - 1;
    if (copied == unknowns(x.dims)) {
      if (known == 0 ? size != 0 : size % known != 0)
        n.fail(text("expected dimensions of ")
               << size << " elements, found " << text().list(shape));
      dims[static_cast<std::size_t>(inferred)] = known == 0 ? 0 : size / known;
    }
  } else if (x.is_static() && unknowns(dims) == 0 && size != known) {
    n.fail(text("expected dimensions of ") << size << " elements, found " << text().list(shape));
  }
  n.out(n.reshape(x, dims, x.is_static() ? std::vector<std::int64_t>() : shape));
}
inline void raise_flatten(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  std::int64_t axis = n.integer("axis", 1);
  if (axis < -x.rank() || axis > x.rank())
    n.fail(text("expected an axis from ") << -x.rank() << " to " << x.rank() << ", found " << axis);
  if (axis < 0) axis += x.rank();
  std::vector<std::int64_t> dims{1, 1};
  for (std::int64_t d = 0; d < x.rank(); ++d) {
    std::int64_t& side = dims[d < axis ? 0 : 1];
    const std::int64_t extent = x.dims[static_cast<std::size_t>(d)];
    side = side < 0 || extent < 0 ? -1 : side * extent;
  }
  n.out(n.reshape(x, dims));
}
inline void raise_transpose(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  std::vector<std::int64_t> order = n.integers("perm");
  if (order.empty())
    for (int d = x.rank() - 1; d >= 0; --d) order.push_back(d);
  if (n.axes_of(order, x.rank()).size() != x.dims.size())
    n.fail(text("expected ") << x.rank() << " axes, found " << text().list(order));
  n.out(n.transpose(x, order));
}
inline void raise_squeeze(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  std::vector<std::int64_t> axes = n.list_or("axes", 1).value_or(std::vector<std::int64_t>());
  for (int d = 0; d < x.rank() && !n.has_attribute("axes") && !n.has(1); ++d)
    if (n.extent(x, d) == 1) axes.push_back(d);
  n.out(n.squeeze(x, axes));
}
inline void raise_unsqueeze(onnx_import_node& n) {
  n.out(n.unsqueeze(n.in(0), n.list_or("axes", 1).value_or(std::vector<std::int64_t>())));
}
/// DepthToSpace and SpaceToDepth: blocks of pixels become channels, and channels blocks.
inline void raise_blocks(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 4, 4);
  const std::int64_t b = n.integer("blocksize"), batch = x.dims[0], c = n.extent(x, 1),
                     h = n.extent(x, 2), w = n.extent(x, 3);
  if (b < 1 || b > 0x7fff) n.fail(text("expected a blocksize from 1 to 32767, found ") << b);
  if (n.type() == "SpaceToDepth") {
    const onnx_imported y = n.reshape(x, {batch, c, h / b, b, w / b, b});
    const bool blocks_first = n.string("mode", "DCR") == "DCR";
    const std::vector<std::int64_t> order = blocks_first
                                                ? std::vector<std::int64_t>{0, 3, 5, 1, 2, 4}
                                                : std::vector<std::int64_t>{0, 1, 3, 5, 2, 4};
    return n.out(n.reshape(n.transpose(y, order), {batch, c * b * b, h / b, w / b}));
  }
  const bool depth_first = n.string("mode", "DCR") == "DCR";
  const onnx_imported y =
      depth_first ? n.transpose(n.reshape(x, {batch, b, b, c / (b * b), h, w}), {0, 3, 4, 1, 5, 2})
                  : n.transpose(n.reshape(x, {batch, c / (b * b), b, b, h, w}), {0, 1, 4, 2, 5, 3});
  n.out(n.reshape(y, {batch, c / (b * b), h * b, w * b}));
}

inline void add_shape_reshape(onnx_operators& to) {
  to.add_node("Reshape", raise_reshape);
  to.add_node("Flatten", raise_flatten);
  to.add_node("Transpose", raise_transpose);
  to.add_node("Squeeze", raise_squeeze);
  to.add_node("Unsqueeze", raise_unsqueeze);
  to.add_node("DepthToSpace", raise_blocks);
  to.add_node("SpaceToDepth", raise_blocks);
  to.add("reshape2", lower_reshape);
  to.add("transpose2", [](onnx_operator& op) {
    op.out("Out", "Transpose", {op.in("X")}, {{"perm", op.integers("axis")}});
  });
  to.add("squeeze2", lower_squeeze);
  to.add("unsqueeze2", [](onnx_operator& op) {
    op.out("Out", "Unsqueeze", {op.in("X"), op.list(op.integers("axes"))});
  });
  to.add("flatten2", [](onnx_operator& op) {
    op.out("Out", "Flatten", {op.in("X")}, {{"axis", op.integer("axis", 1)}});
  });
}

}}}  // namespace lamina::onnx

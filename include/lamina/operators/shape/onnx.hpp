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
  const bool is_list = n.in(0).rank() == 1 && !is_floating(n.in(0).type);
  bool any_known = false, all_counted = is_list;
  for (std::size_t i = 0; i < n.count(); ++i) {
    const onnx_imported& v = n.in(i);
    if (v.rank() != n.in(0).rank())
      n.fail(text("expected inputs with the same number of dimensions, found ")
             << text().list(without_symbols(n.in(0).dims)) << " and " << v.dims_text());
    if (v.dims != std::vector<std::int64_t>{0}) parts.push_back(v);
    any_known = any_known || extents_of(v).has_value();
    all_counted = all_counted && v.rank() == 1 && v.is_static() && v.dims[0] <= 64;
  }
  if (parts.empty()) return n.out(n.in(0));
  onnx_imported made = n.concat(parts, axis);
  if (made.constant == nullptr && any_known && all_counted) {
    std::vector<std::int64_t> known;
    for (const onnx_imported& v : parts) {
      const std::vector<std::int64_t> each = n.numbers(v, "elements");
      known.insert(known.end(), each.begin(), each.end());
    }
    made.extents = std::make_shared<const std::vector<std::int64_t>>(std::move(known));
  }
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
/// A slice along one axis whose limits, steps or extent are known only at run time.
inline onnx_imported sliced_at_run_time(onnx_import_node& n, const onnx_imported& x,
                                        std::int64_t axis, std::int64_t first, std::int64_t end,
                                        std::int64_t step) {
  static constexpr std::int64_t most = 0x7fffffff;
  const std::int64_t extent = x.dims[static_cast<std::size_t>(axis)];
  const auto attribute = [](std::int64_t v) {
    return std::vector<std::int64_t>{is_symbol(v) ? 0 : std::clamp<std::int64_t>(v, -most, most)};
  };
  const bool from_front = first == 0 && step == 1;
  if (from_front && (end == extent || (!is_symbol(end) && end >= most))) return x;
  std::vector<std::int64_t> dims = x.dims;
  // As a table of positions is cut to the positions that there are.
  dims[static_cast<std::size_t>(axis)] =
      from_front && is_symbol(end) && is_not_negative(end) && extent >= 0 ? end : unknown_extent;
  if (step == 1 && !is_symbol(first) && !is_symbol(end))
    return n.make("slice", {{"Input", x}},
                  {{"axes", std::vector<std::int64_t>{axis}},
                   {"starts", attribute(first)},
                   {"ends", attribute(end)}},
                  x.type, dims);
  std::vector<onnx_slot> inputs{{"Input", x}};
  if (is_symbol(first)) inputs.emplace_back("StartsTensor", n.list_of({first}));
  if (is_symbol(end)) inputs.emplace_back("EndsTensor", n.list_of({end}));
  if (is_symbol(step)) inputs.emplace_back("StridesTensor", n.list_of({step}));
  return n.make("strided_slice", inputs,
                {{"axes", std::vector<std::int64_t>{axis}},
                 {"starts", attribute(first)},
                 {"ends", attribute(end)},
                 {"strides", attribute(step)}},
                x.type, dims);
}
/// Slice: starts, ends, axes and steps. A step other than 1 chooses elements by their numbers.
inline void raise_slice(onnx_import_node& n) {
  onnx_imported x = n.in(0);
  const bool old = n.version() < 10;
  std::vector<std::int64_t> starts = old ? n.integers("starts") : n.numbers(1, "starts"),
                            ends = old ? n.integers("ends") : n.numbers(2, "ends"), axes, steps;
  if (old)
    axes = n.integers("axes");
  else if (n.has(3))
    axes = n.list(3, "axes");
  if (axes.empty())
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (!old && n.has(4)) steps = n.numbers(4, "steps");
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size())
    n.fail("expected starts, ends, axes and steps of one length");
  const auto known = extents_of(x);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = n.axis(axes[i], x.rank());
    if (steps[i] == 0) n.fail("expected steps that are not 0, found 0");
    const std::int64_t extent = x.dims[static_cast<std::size_t>(axis)];
    std::int64_t first = starts[i], end = ends[i];
    if (extent < 0 || is_symbol(first) || is_symbol(end) || is_symbol(steps[i])) {
      x = sliced_at_run_time(n, x, axis, first, end, steps[i]);
      continue;
    }
    const std::int64_t step = std::clamp<std::int64_t>(steps[i], -0x7fffffff, 0x7fffffff);
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
  if (known && x.rank() == 1 && starts.size() == 1 && x.constant == nullptr &&
      !is_symbol(starts[0]) && !is_symbol(ends[0])) {
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
  const onnx_imported& x = n.in(0);
  std::vector<std::int64_t> wanted = n.numbers(1, "dimensions");
  for (std::int64_t& d : wanted)  // a number that may be -1 is no dimension
    if (!is_not_negative(d)) d = unknown_extent;
  const std::vector<std::int64_t> dims = n.broadcast_dims(x.dims, wanted);
  if (std::find(dims.begin(), dims.end(), unknown_extent) != dims.end())
    return n.out(n.make("expand_v2", {{"X", x}, {"Shape", n.in(1)}}, {}, x.type, dims));
  n.out(std::find(dims.begin(), dims.end(), 0) == dims.end() ? n.broadcast_to(x, dims)
                                                             : n.filled(0, x.type, dims));
}
inline void raise_tile(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const std::vector<std::int64_t> given = n.numbers(1, "repeats");
  if (given.size() != x.dims.size())
    n.fail(text("expected ") << x.rank() << " repeats, found "
                             << text().list(without_symbols(given)));
  std::vector<std::int64_t> dims = x.dims, times = given;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (is_symbol(times[d])) times[d] = 1;
    if (times[d] < 0 || times[d] > 0x7fffffff)
      n.fail(text("expected repeats from 0 to 2147483647, found ").list(times));
    if (times[d] != 1) dims[d] = dims[d] < 0 ? unknown_extent : dims[d] * times[d];
  }
  onnx_imported y = x;
  if (times != std::vector<std::int64_t>(times.size(), 1))
    y = n.make("expand", {{"X", x}}, {{"expand_times", times}}, x.type, dims);
  for (std::size_t d = 0; d < dims.size(); ++d) {  // repeats that are known at run time only
    if (!is_symbol(given[d])) continue;
    std::vector<std::int64_t> wide = y.dims;
    const bool is_one = wide[d] == 1;
    if (!is_one) {
      y = n.unsqueeze(y, {static_cast<std::int64_t>(d)});
      wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(d), 0);
    }
    wide[d] = given[d];
    dims = y.dims;
    y = n.broadcast_to(y, wide);
    if (is_one) continue;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(d));
    dims[d] = unknown_extent;
    y = n.reshape(y, dims);
  }
  n.out(y);
}
/// The lower or upper triangle of the matrices in the last two dimensions.
inline void raise_trilu(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 2, 16);
  const std::int64_t rows = x.dims.end()[-2], columns = x.dims.end()[-1];
  const std::int64_t k = n.has(1) ? n.numbers(1, "diagonals").at(0) : 0;
  const bool upper = n.flag("upper", true);
  const auto give = [&](const onnx_imported& mask) {
    if (x.type == dtype::boolean)
      return n.out(n.cast(n.kept(n.cast(x, dtype::int32), mask), x.type));
    n.out(n.kept(x, mask));
  };
  if (rows < 0 || columns < 0 || is_symbol(k)) {
    const onnx_imported row = n.positions(rows, 2, 0), column = n.positions(columns, 2, 1);
    const onnx_imported limit =
        is_symbol(k) ? n.scalar_of(k) : n.number(static_cast<double>(k), dtype::int64);
    const onnx_imported diagonal = n.add(row, limit);
    return give(n.binary(upper ? "greater_equal" : "less_equal", n.full(column, diagonal),
                         n.full(diagonal, column), dtype::boolean));
  }
  if (rows * columns == 0) return n.out(x);
  n.require_size({rows, columns});
  std::vector<std::int64_t> inside;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) inside.push_back(upper ? j - i >= k : j - i <= k);
  give(n.cast(n.reshape(n.constant_list(inside), {rows, columns}), dtype::boolean));
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

inline void add_shape_concat(onnx_operators& to) {
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
  if (n.is_known(part)) return n.out(n.constant_list(part));
  onnx_imported made = n.slice(n.shape_of(x), 0, first, end);
  for (std::size_t d = 0; d < part.size(); ++d)
    if (part[d] == unknown_extent) part[d] = n.symbol_of(made, static_cast<int>(d), true);
  made.extents = std::make_shared<const std::vector<std::int64_t>>(std::move(part));
  n.out(made);
}
inline void raise_size(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  if (!x.is_static()) {
    return n.out(n.reduce("reduce_prod", n.shape_of(x), {0}, false));
  }
  std::int64_t size = 1;
  for (const std::int64_t d : x.dims) size *= d;
  n.out(n.number(static_cast<double>(size), dtype::int64));
}
/// start, start + delta, ... before limit. Without such numbers the range is empty.
inline void raise_range(onnx_import_node& n) {
  const dtype type = n.in(0).type;
  if (n.in(0).constant == nullptr || n.in(1).constant == nullptr || n.in(2).constant == nullptr) {
    std::int64_t count = unknown_extent;
    if (const auto first = extents_of(n.in(0)), end = extents_of(n.in(1)),
        step = extents_of(n.in(2));
        first && end && step && first->at(0) == 0 && step->at(0) == 1 && is_symbol(end->at(0)) &&
        is_not_negative(end->at(0)))
      count = end->at(0);
    return n.out(n.make("range", {{"Start", n.in(0)}, {"End", n.in(1)}, {"Step", n.in(2)}}, {},
                        type, {count}));
  }
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

/// Reshape to dimensions that are constant, known in part, or known only at run time.
inline void raise_reshape(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const std::vector<std::int64_t> wanted =
      n.version() < 5 ? n.integers("shape") : n.numbers(1, "dimensions");
  const bool literal = n.flag("allowzero");
  // `shape` has 0 for dimensions that are copied and -1 for one that is inferred.
  std::vector<std::int64_t> dims = wanted, shape = wanted;
  std::int64_t known = 1, size = 1;
  int inferred = -1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (wanted[d] == 0 && !literal) {
      if (d >= x.dims.size())
        n.fail(text("expected dimension ")
               << d << " of X to copy, found dimensions " << x.dims_text());
      dims[d] = x.dims[d];
    } else if (is_symbol(wanted[d])) {
      if (!is_not_negative(wanted[d])) dims[d] = unknown_extent;  // a number that may be -1
    } else if (wanted[d] < -1 || wanted[d] > 0x7fffffff || (wanted[d] == -1 && inferred >= 0)) {
      n.fail(text("expected dimensions, one of which may be -1, found ")
                 .list(without_symbols(wanted)));
    }
    if (wanted[d] == -1)
      inferred = static_cast<int>(d);
    else
      known *= dims[d] < 0 ? 1 : dims[d];
  }
  std::vector<std::int64_t> of_x, of_dims;  // unknown dimensions
  for (const std::int64_t d : x.dims) {
    size *= d < 0 ? 1 : d;
    if (d < 0) of_x.push_back(d);
  }
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] < 0 && static_cast<int>(d) != inferred) of_dims.push_back(dims[d]);
  std::sort(of_x.begin(), of_x.end());
  std::sort(of_dims.begin(), of_dims.end());
  if (inferred >= 0) {
    // Unknown dimensions on both sides cancel out.
    if (of_x == of_dims && std::find(of_x.begin(), of_x.end(), unknown_extent) == of_x.end()) {
      if (known == 0 ? size != 0 : size % known != 0)
        n.fail(text("expected dimensions of ")
               << size << " elements, found " << text().list(without_symbols(wanted)));
      dims[static_cast<std::size_t>(inferred)] = known == 0 ? 0 : size / known;
      shape = dims;  // another one may be inferred then
    }
  } else if (x.is_static() && of_dims.empty() && size != known) {
    n.fail(text("expected dimensions of ")
           << size << " elements, found " << text().list(without_symbols(wanted)));
  }
  if (x.is_static() && of_dims.empty()) return n.out(n.reshape(x, dims));
  std::int64_t left = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] >= 0) continue;
    if (d < x.dims.size() && x.dims[d] == shape[d] && is_symbol(shape[d]))
      shape[d] = 0;
    else
      ++left;
  }
  // A 0 in a list of a run copies a dimension, also with allowzero, where it means no elements.
  if (literal && n.in(1).constant == nullptr && size == 0) (void)n.list(1, "dimensions");
  if (left > 1)
    return n.out(n.make("reshape2", {{"X", x}, {"Shape", n.in(1)}},
                        {{"shape", without_symbols(dims)}}, x.type, dims));
  n.out(n.reshape(x, dims, without_symbols(shape)));
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
    side = side == 1 ? extent : extent == 1 ? side : side < 0 || extent < 0 ? -1 : side * extent;
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

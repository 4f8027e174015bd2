// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/onnx_tensor_lists.hpp - imports ONNX's sequences of tensors.
//
// A sequence is a list of values of the import, so its nodes leave no operators in the program. The
// number of tensors and their positions must be known before a run.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

using tensor_list = std::vector<onnx_imported>;

inline void give_list(onnx_import_node& n, tensor_list all) {
  onnx_imported made;
  made.sequence = std::make_shared<const tensor_list>(std::move(all));
  n.out(std::move(made));
}
inline const tensor_list& list_in(const onnx_import_node& n, std::size_t i) {
  if (i >= n.count() || n.all()[i].sequence == nullptr)
    n.fail(text("expected a sequence of tensors as input ") << i << ", found none");
  return *n.all()[i].sequence;
}
/// Returns the position in input i, from 0 to `count` - 1 or, if `ends`, to `count`; without this
/// input, `otherwise`.
inline std::ptrdiff_t position_in(const onnx_import_node& n, std::size_t i, std::size_t count,
                                  std::size_t otherwise, bool ends = false) {
  if (!n.has(i)) return static_cast<std::ptrdiff_t>(otherwise);
  const std::vector<std::int64_t> given = n.list(i, "a position");
  if (given.size() != 1) n.fail(text("expected one position, found ") << given.size());
  const auto size = static_cast<std::int64_t>(count), last = size - (ends ? 0 : 1);
  if (given[0] < -size || given[0] > last)
    n.fail(text("expected a position from ") << -size << " to " << last << ", found " << given[0]);
  return static_cast<std::ptrdiff_t>(given[0] < 0 ? given[0] + size : given[0]);
}

/// SplitToSequence: parts of the sizes in input 1, of one size, or of extent 1.
inline void raise_split_to_sequence(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  const std::int64_t axis = n.axis(n.integer("axis"), x.rank());
  std::vector<std::int64_t> sizes;
  if (n.has(1) && n.in(1).rank() > 0) {
    sizes = n.list(1, "sizes");
  } else {
    const std::int64_t each = n.has(1) ? n.list(1, "a size").at(0) : 1;
    if (each < 1) n.fail(text("expected a size above 0, found ") << each);
    std::int64_t left = n.extent(x, axis);
    n.require_size({left / each});
    for (; left > 0; left -= each) sizes.push_back((std::min)(each, left));
  }
  tensor_list parts;
  std::int64_t first = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > 0x7fffffff)
      n.fail(text("expected sizes from 0 to 2147483647, found ").list(sizes));
    parts.push_back(n.slice(x, axis, first, first + size));
    if (!n.has(1) && !n.flag("keepdims", true)) parts.back() = n.squeeze(parts.back(), {axis});
    first += size;
  }
  const std::int64_t extent = x.dims[static_cast<std::size_t>(axis)];
  if (extent >= 0 && first != extent)
    n.fail(text("expected sizes that add up to ") << extent << ", found " << text().list(sizes));
  give_list(n, std::move(parts));
}
/// ConcatFromSequence: all tensors one after the other, or stacked along a new dimension.
inline void raise_concat_from_sequence(onnx_import_node& n) {
  tensor_list all = list_in(n, 0);
  if (all.empty()) n.fail("expected a sequence with tensors, found an empty one");
  const bool is_new = n.flag("new_axis");
  const int rank = all[0].rank() + (is_new ? 1 : 0);
  const std::int64_t axis = n.axis(n.integer("axis"), rank);
  for (onnx_imported& v : all) {
    if (v.rank() != all[0].rank() && &v != &all[0])
      if (!is_new || v.rank() + 1 != all[0].rank())
        n.fail("expected tensors with the same number of dimensions, found others");
    if (is_new) v = n.unsqueeze(v, {axis});
  }
  n.out(n.concat(all, axis));
}
inline void raise_sequence_at(onnx_import_node& n) {
  const tensor_list& all = list_in(n, 0);
  if (!n.has(1)) n.fail("expected a position, found none");
  n.out(all[static_cast<std::size_t>(position_in(n, 1, all.size(), 0))]);
}
inline void raise_sequence_insert(onnx_import_node& n) {
  tensor_list all = list_in(n, 0);
  const std::ptrdiff_t at = position_in(n, 2, all.size(), all.size(), true);
  all.insert(all.begin() + at, n.in(1));
  give_list(n, std::move(all));
}
inline void raise_sequence_erase(onnx_import_node& n) {
  tensor_list all = list_in(n, 0);
  if (all.empty()) n.fail("expected a sequence with tensors, found an empty one");
  all.erase(all.begin() + position_in(n, 1, all.size(), all.size() - 1));
  give_list(n, std::move(all));
}

inline void add_shape_tensor_lists(onnx_operators& to) {
  to.add_node("SplitToSequence", raise_split_to_sequence);
  to.add_node("ConcatFromSequence", raise_concat_from_sequence);
  to.add_node("SequenceAt", raise_sequence_at);
  to.add_node("SequenceInsert", raise_sequence_insert);
  to.add_node("SequenceErase", raise_sequence_erase);
  to.add_node("SequenceEmpty", [](onnx_import_node& n) { give_list(n, {}); });
  to.add_node("SequenceConstruct", [](onnx_import_node& n) {
    tensor_list all;
    for (std::size_t i = 0; i < n.count(); ++i) all.push_back(n.in(i));
    give_list(n, std::move(all));
  });
  to.add_node("SequenceLength", [](onnx_import_node& n) {
    n.out(n.number(static_cast<double>(list_in(n, 0).size()), dtype::int64));
  });
}

}}}  // namespace lamina::onnx

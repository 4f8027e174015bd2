// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/split_merge/executor.hpp - operators that split and merge rows or whole
// sequences by a mask, or select one of several variables by an index.
#pragma once

#include <lamina/core/config.hpp>

#include <vector>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// The parts of a tensor that a mask selects from, one part per entry of the mask. Each part is a
/// row or a sequence.
struct masked_parts {
  lod below;         // the LoD below the mask's entries; empty if parts are rows
  lod::level begin;  // the first row of each part, then the number of rows

  masked_parts() = default;
  masked_parts(std::size_t rows, const lod& sequences, std::size_t level) {
    if (sequences.levels() <= level) {
      for (std::size_t i = 0; i <= rows; ++i) begin.push_back(i);
      return;
    }
    std::vector<lod::level> offsets;
    for (std::size_t l = level; l < sequences.levels(); ++l)
      offsets.push_back(sequences.offsets(l));
    below = lod(std::move(offsets));
    begin = below.absolute(0);
  }
  std::size_t count() const { return begin.size() - 1; }
};

/// Returns the parts of x with the indices `which`, with their rows and sequences.
inline lod_tensor chosen_parts(const tensor& x, const masked_parts& parts,
                               const std::vector<std::size_t>& which) {
  return x.visit([&]<class T>(const xt::xarray<T>& from) {
    tensor_shape shape(from.shape().begin(), from.shape().end());
    std::size_t width = 1;
    for (std::size_t d = 1; d < shape.size(); ++d) width *= shape[d];
    shape[0] = 0;
    for (const std::size_t i : which) shape[0] += parts.begin[i + 1] - parts.begin[i];
    xt::xarray<T> to = xt::xarray<T>::from_shape(shape);
    std::size_t at = 0;
    for (const std::size_t i : which)
      for (std::size_t k = parts.begin[i] * width; k < parts.begin[i + 1] * width; ++k)
        to.flat(at++) = from.flat(k);
    lod sequences;
    if (!parts.below.empty()) {
      sequences = parts.below.slice(0, 0);
      for (const std::size_t i : which) sequences = sequences.concat(parts.below.slice(i, i + 1));
    }
    return lod_tensor(tensor(std::move(to)), std::move(sequences));
  });
}

template <class Real>
void split_lod_tensor_forward(call_context<Real>& ctx) {
  const tensor& x = ctx.input("X");
  const auto mask = ctx.input("Mask").template cast<bool>();
  const masked_parts parts(x.shape()[0], ctx.lod("X"),
                           static_cast<std::size_t>(ctx.integer("level")));
  if (parts.count() != mask.size())
    ctx.fail("expected as many rows or sequences in '" + ctx.input_name("X") + "' as in '" +
             ctx.input_name("Mask") + "', " + std::to_string(mask.size()) + ", found " +
             std::to_string(parts.count()));
  std::vector<std::size_t> side[2];
  for (std::size_t i = 0; i < mask.size(); ++i) side[mask.flat(i) ? 1 : 0].push_back(i);
  for (const bool truth : {true, false}) {
    const char* slot = truth ? "OutTrue" : "OutFalse";
    if (!ctx.wants(slot)) continue;
    lod_tensor out = chosen_parts(x, parts, side[truth ? 1 : 0]);
    ctx.set_lod(slot, out.lod());
    ctx.give(slot, std::move(out));
  }
}

template <class Real>
void merge_lod_tensor_forward(call_context<Real>& ctx) {
  const auto mask = ctx.input("Mask").template cast<bool>();
  const std::size_t level = static_cast<std::size_t>(ctx.integer("level"));
  const char* slot_list[] = {"InFalse", "InTrue"};
  masked_parts parts[2];
  std::size_t below = 0;
  std::size_t width = 1;
  tensor_shape shape = ctx.output_shape("Out");
  for (std::size_t d = 1; d < shape.size(); ++d) width *= shape[d];
  for (int s = 0; s < 2; ++s) {
    if (!ctx.has(slot_list[s])) continue;
    parts[s] = masked_parts(ctx.input(slot_list[s]).shape()[0], ctx.lod(slot_list[s]), 0);
    below = ctx.lod(slot_list[s]).levels();
  }
  lod sequences = ctx.lod("X");
  if (sequences.levels() != level + below) {
    std::size_t next[2] = {0, 0};
    lod tail;
    for (std::size_t i = 0; i < mask.size(); ++i) {
      const int s = mask.flat(i) ? 1 : 0;
      const lod one = parts[s].below.slice(next[s], next[s] + 1);
      tail = i == 0 ? one : tail.concat(one);
      ++next[s];
    }
    std::vector<lod::level> offsets;
    for (std::size_t l = 0; l < level; ++l) offsets.push_back(sequences.offsets(l));
    for (std::size_t l = 0; l < below; ++l)
      offsets.push_back(mask.size() > 0 ? tail.offsets(l) : lod::level{0});
    sequences = lod(std::move(offsets));
  }
  const masked_parts whole(mask.size(), sequences, level);
  shape[0] = whole.begin.back();
  tensor out = tensor::zeros(
      ctx.has("InTrue") ? ctx.input("InTrue").type() : ctx.input("InFalse").type(), shape);
  std::size_t next[2] = {0, 0};
  std::vector<std::pair<std::size_t, std::size_t>> from[2];  // pairs (row of Out, row of input)
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const int s = mask.flat(i) ? 1 : 0;
    if (!ctx.has(slot_list[s])) continue;
    const std::size_t n = next[s]++;
    if (n + 1 >= parts[s].begin.size() ||
        parts[s].begin[n + 1] - parts[s].begin[n] != whole.begin[i + 1] - whole.begin[i])
      ctx.fail(std::string("expected rows of '") + ctx.input_name(slot_list[s]) +
               "' for each entry of '" + ctx.input_name("Mask") + "', found " +
               std::to_string(parts[s].begin.back()) + " rows");
    for (std::size_t r = 0; r < whole.begin[i + 1] - whole.begin[i]; ++r)
      from[s].emplace_back(whole.begin[i] + r, parts[s].begin[n] + r);
  }
  out.visit([&]<class T>(const xt::xarray<T>& zero) {
    xt::xarray<T> to = zero;
    for (int s = 0; s < 2; ++s) {
      if (from[s].empty()) continue;
      xt::xarray<T> storage;
      const xt::xarray<T>& in = values_as(ctx.input(slot_list[s]), storage);
      for (const auto& [row, source] : from[s])
        for (std::size_t c = 0; c < width; ++c)
          to.flat(row * width + c) = in.flat(source * width + c);
    }
    ctx.give("Out", tensor(std::move(to)));
  });
  ctx.set_lod("Out", std::move(sequences));
}

template <class Real>
void select_input_forward(call_context<Real>& ctx) {
  const std::int64_t i = ctx.integers("Mask").flat(0);
  ctx.require_range("Mask", i, 0, ctx.count("X"));
  ctx.set_lod("Out", ctx.lod("X", static_cast<int>(i)));
  ctx.give("Out", ctx.input("X", static_cast<int>(i)));
}

template <class Real>
void select_output_forward(call_context<Real>& ctx) {
  const std::int64_t i = ctx.integers("Mask").flat(0);
  ctx.require_range("Mask", i, 0, ctx.output_count("Out"));
  ctx.set_lod("Out", ctx.lod("X"), static_cast<int>(i));
  ctx.give("Out", ctx.input("X"), static_cast<int>(i));
}

template <class Real>
void add_split_merge_kernels(kernel_table<Real>& table) {
  table["split_lod_tensor"] = split_lod_tensor_forward<Real>;
  table["merge_lod_tensor"] = merge_lod_tensor_forward<Real>;
  table["select_input"] = select_input_forward<Real>;
  table["select_output"] = select_output_forward<Real>;
}

}}}  // namespace lamina::kernel

// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_lists.hpp - lists of integers that are known in part during an import, such
// as the dimensions of a batch of images.
//
// Exporters compute with dimensions: they compare them with -1, choose, multiply. Where the result
// does not depend on the unknown ones, it becomes a constant, and later nodes know their
// dimensions.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <lamina/io/onnx/onnx_import_node.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

using list_numbers = std::vector<std::int64_t>;
/// A number, a symbol, or nothing for a number of which nothing is known.
using list_number = std::optional<std::int64_t>;

/// x + y, x - y, x * y, x / y, the larger or smaller of both, or a comparison.
inline list_number number_of_two(std::string_view type, std::int64_t x, std::int64_t y) {
  const bool both = !is_symbol(x) && !is_symbol(y);
  constexpr std::int64_t most = std::int64_t{1} << 31;
  const bool fits = both && x > -most && x < most && y > -most && y < most;
  if (type == "Add" && (fits || x == 0 || y == 0)) return x == 0 ? y : y == 0 ? x : x + y;
  if (type == "Sub" && (fits || x == y || y == 0)) return x == y ? 0 : y == 0 ? x : x - y;
  if (type == "Mul" && (fits || x == 1 || y == 1)) return x == 1 ? y : y == 1 ? x : x * y;
  if (type == "Div" && y != 0 && (fits || y == 1)) return y == 1 ? x : x / y;
  if (type == "Max" && (both || x == y)) return (std::max)(x, y);
  if (type == "Min" && (both || x == y)) return (std::min)(x, y);
  // A number of a list that is not negative is larger than each negative one.
  const bool above = is_symbol(x) && is_not_negative(x) && !is_symbol(y) && y < 0,
             below = is_symbol(y) && is_not_negative(y) && !is_symbol(x) && x < 0;
  if (!both && x != y && !above && !below) return std::nullopt;
  const int order = above ? 1 : below ? -1 : x < y ? -1 : x > y ? 1 : 0;
  if (type == "Equal") return order == 0;
  if (type == "Less") return order < 0;
  if (type == "LessOrEqual") return order <= 0;
  if (type == "Greater") return order > 0;
  if (type == "GreaterOrEqual") return order >= 0;
  if (type == "And" && both) return x != 0 && y != 0;
  if (type == "Or" && both) return x != 0 || y != 0;
  return std::nullopt;
}
/// Whether a number that is computed from others, all of which are not negative, is not either.
inline bool keeps_sign(std::string_view type) {
  for (const std::string_view t : {"Add", "Mul", "Div", "Max", "Min", "Mod"})
    if (t == type) return true;
  return false;
}

}}}  // namespace lamina::detail

namespace lamina { inline namespace LAMINA_ABI {

/// Adds what is known of the elements to the result of a node on lists of integers. A result of
/// which all elements are known becomes a constant.
inline void complete_list(onnx_import_node& n) {
  using detail::list_number;
  using detail::list_numbers;
  if (n.results().empty()) return;
  onnx_imported& result = n.results()[0];
  if (result.variable < 0 || result.extents != nullptr || is_floating(result.type) ||
      result.rank() > 1 || !result.is_static())
    return;
  const std::string_view type = n.type();
  const std::size_t count = result.rank() == 0 ? 1 : static_cast<std::size_t>(result.dims[0]);
  // The operands; those without known elements are empty.
  std::vector<list_numbers> operands;
  bool any = false;
  for (const onnx_imported& v : n.all()) {
    list_numbers& to = operands.emplace_back();
    if (!v.has_value() || is_floating(v.type) || v.rank() > 1) continue;
    if (v.extents != nullptr) {
      any = true;
      to = *v.extents;
    } else if (v.constant != nullptr && v.constant->size() <= 64) {
      const auto all = v.constant->cast<std::int64_t>();
      to.assign(all.begin(), all.end());
    }
    if (to.size() != count && to.size() != 1) to.clear();
  }
  if (!any || count == 0 || count > 64) return;
  const auto element = [&](std::size_t operand, std::size_t k) -> list_number {
    if (operand >= operands.size() || operands[operand].empty()) return std::nullopt;
    return operands[operand][operands[operand].size() == 1 ? 0 : k];
  };
  std::vector<list_number> found;
  std::vector<bool> signs;  // whether an element that is not known is not negative
  bool some = false;
  for (std::size_t k = 0; k < count; ++k) {
    const list_number x = element(0, k), y = element(1, k), z = element(2, k);
    list_number& to = found.emplace_back();
    bool sign = x && y && is_not_negative(*x) && is_not_negative(*y) && detail::keeps_sign(type);
    if (type == "Where") {
      if (x && !is_symbol(*x))
        to = *x != 0 ? y : z;
      else if (y && z && *y == *z)
        to = y;
      sign = y && z && is_not_negative(*y) && is_not_negative(*z);
    } else if (type == "Not") {
      if (x && !is_symbol(*x)) to = *x == 0;
    } else if (type == "Reshape" || type == "Identity" || type == "Cast" || type == "Expand") {
      if (!is_symbol(x.value_or(0)) || result.type == dtype::int64 || result.type == dtype::int32)
        to = x;
    } else if (n.all().size() == 2 && x && y) {
      to = detail::number_of_two(type, *x, *y);
    }
    signs.push_back(sign);
    some = some || to.has_value() || sign;
  }
  if (!some) return;
  list_numbers all;
  for (std::size_t k = 0; k < count; ++k)
    all.push_back(found[k] ? *found[k] : n.symbol_of(result, static_cast<int>(k), signs[k]));
  if (std::none_of(all.begin(), all.end(), is_symbol)) {
    onnx_imported known = n.cast(n.constant_list(all), result.type);
    if (result.rank() == 0) known = n.reshape(known, {});
    result = known;
  } else {
    result.extents = std::make_shared<const list_numbers>(std::move(all));
  }
}

}}  // namespace lamina

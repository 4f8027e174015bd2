// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/row/common.hpp - the attribute `reduction` of kldiv_loss.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string_view>

#include <lamina/engine/common/array_layout.hpp>
#include <lamina/engine/common/call_error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

enum class kldiv_reduction : std::uint8_t { none, sum, mean, rows };

inline kldiv_reduction kldiv_reduction_of(const operator_call& c) {
  const std::string_view name = text_of(c, 0);
  if (name == "none") return kldiv_reduction::none;
  if (name == "sum") return kldiv_reduction::sum;
  if (name == "mean") return kldiv_reduction::mean;
  if (name == "batchmean") return kldiv_reduction::rows;
  fail(c, {"expected the reduction 'none', 'sum', 'mean' or 'batchmean', found '", name, "'"});
}
/// Returns the factor by which the sum of all costs is multiplied: 1 / the number of elements or
/// rows for a mean, else 1.
inline double kldiv_factor(kldiv_reduction how, const operand& x) {
  const double count = how == kldiv_reduction::mean   ? static_cast<double>(x.rows) * x.columns
                       : how == kldiv_reduction::rows ? static_cast<double>(layout_of(x).extent[0])
                                                      : 1;
  return count > 0 ? 1 / count : 0;
}

}}}  // namespace lamina::engine

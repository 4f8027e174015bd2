// SPDX-License-Identifier: Apache-2.0
// lamina/layers/row_ids.hpp - tells whether a variable holds one integer per row.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Whether V is the type of a variable with one id per row, that is, of shape [-1, 1] and type
/// int64 or int32.
template <class V>
inline constexpr bool one_id_a_row = false;
template <class R>
inline constexpr bool one_id_a_row<variable<std::int64_t, R, 1>> = true;
template <class R>
inline constexpr bool one_id_a_row<variable<std::int32_t, R, 1>> = true;

}}}  // namespace lamina::layer

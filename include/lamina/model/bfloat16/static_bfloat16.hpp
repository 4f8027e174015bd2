// SPDX-License-Identifier: Apache-2.0
// lamina/model/bfloat16/static_bfloat16.hpp - static evaluators with weights in bfloat16, which are
// half as large.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/static/static_bfloat16.hpp>
#include <lamina/model/bfloat16/bfloat16_storage.hpp>
#include <lamina/model/static_evaluator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// `static_evaluator<decltype(net), 1, storage::bfloat16>` rounds the weights of fc and lstm_unit
/// to bfloat16 when it loads them. All other parameters stay float, and all sums are computed in
/// float.
template <>
struct static_storage<storage::bfloat16_type> {
  using weights = engine::cpu::bfloat16_weights;
};

}}}  // namespace lamina::detail

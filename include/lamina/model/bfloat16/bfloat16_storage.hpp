// SPDX-License-Identifier: Apache-2.0
// lamina/model/bfloat16/bfloat16_storage.hpp - the option that stores weights in bfloat16.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/model/storage.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace storage {

/// The option for weights rounded to bfloat16: `evaluator e{model, storage::bfloat16}` and
/// `static_evaluator<decltype(net), 1, storage::bfloat16>`.
inline constexpr bfloat16_type bfloat16{};

}}}  // namespace lamina::storage

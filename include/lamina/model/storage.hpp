// SPDX-License-Identifier: Apache-2.0
// lamina/model/storage.hpp - the types in which an evaluator can store the weights of a model.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace storage {

/// Stores weights in the type of the model.
struct float32_type {};
inline constexpr float32_type float32{};

/// Stores weights as bfloat16 (model/bfloat16/bfloat16_machine.hpp,
/// model/bfloat16/static_bfloat16.hpp).
struct bfloat16_type {};

}}}  // namespace lamina::storage

// SPDX-License-Identifier: Apache-2.0
// lamina/model/storage.hpp - the types in which an evaluator can store the weights of a model.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina::inline LAMINA_ABI::storage {

/// The type that the model has.
struct float32_type {};
inline constexpr float32_type float32{};

/// As bfloat16. (model/bfloat16_machine.hpp, model/static_bfloat16.hpp)
struct bfloat16_type {};

}  // namespace lamina::inline LAMINA_ABI::storage

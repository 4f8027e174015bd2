// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/tensor_array.hpp - arrays of tensors in the memory of the CPU.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/common/tensor_array.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Allocates the memory of tensor arrays: each chunk is one aligned buffer.
struct buffer_chunks {
  using chunk = aligned_buffer;
  static chunk* make(std::size_t floats) { return new chunk(floats); }
};
using tensor_array = engine::tensor_array<buffer_chunks>;

}}}  // namespace lamina::engine::cpu

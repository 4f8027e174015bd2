// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/process_calls.hpp - what an operator asks of the other processes of a run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/core/dtype.hpp>

namespace lamina::inline LAMINA_ABI::engine {

/// How the arrays of several processes become one.
enum class process_reduction : std::uint8_t { sum, max };

/// A reduction over all processes of a run.
struct reduction_call {
  process_reduction kind;
  bool of_samples;    // a process without samples in the mini-batch adds nothing
  int place;          // which operator of the program asks; -1: not known
  dtype type;         // float32, float64, int32 or int64
  std::size_t count;  // elements
};

/// The other processes of a run, as kernels see them; train/world_calls.hpp implements it. All
/// processes make the same calls in the same order.
class process_calls {
 public:
  virtual ~process_calls() = default;
  /// Memory for an array of this size, aligned for all types. A kernel writes its array there in
  /// row-major order, calls reduce(), and reads the result there.
  virtual void* array(std::size_t bytes) = 0;
  /// Replaces the array by the reduced one, which has the same bits in all processes. Throws
  /// lamina::error in all processes if they do not make the same call.
  virtual void reduce(const reduction_call& call) = 0;

 protected:
  process_calls() = default;
  process_calls(const process_calls&) = default;
  process_calls& operator=(const process_calls&) = default;
};

}  // namespace lamina::inline LAMINA_ABI::engine

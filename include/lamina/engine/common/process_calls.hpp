// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/process_calls.hpp - the interface for collective calls from kernels to the
// other processes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/core/dtype.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The function that combines the arrays of several processes, element by element.
enum class process_reduction : std::uint8_t { sum, max };

/// A reduction over all processes of a run.
struct reduction_call {
  process_reduction kind;
  bool of_samples;    // leaves out processes that have no samples in the mini-batch
  int place;          // identifies the operator that calls; -1: not known
  dtype type;         // float32, float64, int32 or int64
  std::size_t count;  // number of elements
};

/// The interface by which kernels reduce an array over all processes of a run;
/// train/world_calls.hpp implements it. All processes must make the same calls in the same order;
/// otherwise reduce() throws in all of them.
class process_calls {
 public:
  virtual ~process_calls() = default;
  /// Returns memory for an array of this size, aligned for all types. A kernel writes its array
  /// there in row-major order, calls reduce(), and reads the result there.
  virtual void* array(std::size_t bytes) = 0;
  /// Replaces the array by the reduced array, which has the same bits in all processes. Throws
  /// lamina::error in all processes if their calls differ.
  virtual void reduce(const reduction_call& call) = 0;

 protected:
  process_calls() = default;
  process_calls(const process_calls&) = default;
  process_calls& operator=(const process_calls&) = default;
};

}}}  // namespace lamina::engine

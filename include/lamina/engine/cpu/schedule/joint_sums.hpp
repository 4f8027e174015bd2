// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/joint_sums.hpp - sums over the rows of a mini-batch that several
// threads and processes compute in parts.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Lets the kernels of one part of a mini-batch compute sums over all parts. A kernel writes the
/// sums over its own rows to `numbers` and calls join(), which replaces them by the sums over all
/// parts. The kernels of all parts must call join() equally often, with the same count.
struct joint_sums {
  /// Adds the numbers of another part to `to`. All numbers of a part without rows are 0.
  using add_function = void (*)(double* to, const double* more, std::size_t count);

  double* numbers = nullptr;  // has room for the largest sums of the program
  double weight = 1;          // weight of this part in the cost, relative to the other parts
  int part = 0;               // number of this part among the parts of this process
  void* all = nullptr;
  void (*join_parts)(void* all, int part, std::size_t count, add_function add) = nullptr;

  /// Waits for all other parts. Throws the error of a part that fails.
  void join(std::size_t count, add_function add) const { join_parts(all, part, count, add); }
};

}}}  // namespace lamina::engine::cpu

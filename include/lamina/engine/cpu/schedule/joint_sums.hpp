// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/joint_sums.hpp - sums over the rows of a mini-batch that several
// threads and processes compute in parts.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

namespace lamina::inline LAMINA_ABI::engine::cpu {

/// The access of one part of a mini-batch to sums over all parts. A kernel writes the numbers of
/// its own rows to `numbers` and calls join(), which replaces them by those of all parts. The
/// kernels of all parts must join equally often, with as many numbers.
struct joint_sums {
  /// Adds the numbers of another part to those of one. Numbers that are all zero are those of a
  /// part without rows.
  using add_function = void (*)(double* to, const double* more, std::size_t count);

  double* numbers = nullptr;  // has room for the largest sums of the program
  double weight = 1;          // of the part in the cost, relative to other parts
  int part = 0;               // its number among those of this process
  void* all = nullptr;
  void (*join_parts)(void* all, int part, std::size_t count, add_function add) = nullptr;

  /// Waits for all other parts. Throws the error of a part that fails.
  void join(std::size_t count, add_function add) const { join_parts(all, part, count, add); }
};

}  // namespace lamina::inline LAMINA_ABI::engine::cpu

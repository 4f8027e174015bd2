// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/batch_sums.hpp - sums over all samples of a mini-batch whose parts are
// computed by several threads and processes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Lets the kernels of one part of a mini-batch compute sums over all parts. A kernel writes the
/// sums over the samples of its part to `numbers` and calls all_reduce(), which replaces them by
/// the sums over all parts. The kernels of all parts must call all_reduce() equally often, with the
/// same count, because each call waits for the other parts.
struct batch_sums {
  /// Adds the numbers `more` of another part to `to`. All numbers of a part without samples are 0.
  using add_function = void (*)(double* to, const double* more, std::size_t count);

  double* numbers = nullptr;  // holds as many numbers as the largest call of all_reduce() needs
  double weight = 1;          // weight of this part in the cost, relative to the other parts
  int part = 0;               // number of this part among the parts of this process
  void* all = nullptr;
  void (*all_reduce_parts)(void* all, int part, std::size_t count, add_function add) = nullptr;

  /// Replaces `count` numbers by the sums over all parts. Waits for all other parts. If another
  /// part fails, throws its error.
  void all_reduce(std::size_t count, add_function add) const {
    all_reduce_parts(all, part, count, add);
  }
};

}}}  // namespace lamina::engine::cpu

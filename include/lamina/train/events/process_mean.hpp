// SPDX-License-Identifier: Apache-2.0
// lamina/train/events/process_mean.hpp - combines a value of each process into one for all.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Returns the mean of a value over the training processes, weighted by `weight` (samples). A value
/// that is equal in all of them is returned unchanged; the mean is NaN if the value is NaN in any
/// process. All of them must call it, and all get the same bits. If `all` is null or has one
/// process, returns the value itself.
LAMINA_API_COLD double process_mean(world* all, double value, double weight);

#if LAMINA_DEFINES

double process_mean(world* all, double value, double weight) {
  if (all == nullptr || all->trainers() == 1 || all->rank() >= all->trainers()) return value;
  struct measured {
    double value, weight;
  };
  const measured mine{value, weight};
  std::vector<measured> found(static_cast<std::size_t>(all->trainers()));
  all->gather_trainers(&mine, sizeof mine, found.data());
  bool same = true;
  double sum = 0, weights = 0;
  for (const measured& m : found) {
    same = same && std::memcmp(&m.value, &found[0].value, sizeof m.value) == 0;
    if (m.weight == 0) continue;  // a process without samples has no value
    sum += m.weight * m.value;
    weights += m.weight;
  }
  return same || weights == 0 ? found[0].value : sum / weights;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail

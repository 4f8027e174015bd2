// SPDX-License-Identifier: Apache-2.0
// lamina/train/passes/same_options.hpp - compares the options that determine when processes
// communicate.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Compares the options of a training that determine when the processes exchange what; if they
/// differed, each process would wait for another exchange. All processes must call it. Throws
/// lamina::error that names the option and the first rank that differs. Parameter servers do not
/// train, so their options may differ.
LAMINA_API_COLD void require_same_options(world& all, const train_options& mine);

#if LAMINA_DEFINES

void require_same_options(world& all, const train_options& mine) {
  const checkpoint_options& saving = mine.checkpoint;
  const bool saves = !saving.directory.empty();
  static constexpr const char* names[] = {"accumulate",
                                          "reads_shard",
                                          "check_nan or check_infinity",
                                          "tasks (0: none, 1: a queue)",
                                          "passes",
                                          "place (0: the CPU)",
                                          "checkpoint.directory (0: none, 1: one)",
                                          "checkpoint.resume",
                                          "checkpoint.every_passes",
                                          "checkpoint.every_batches"};
  constexpr std::size_t count = std::size(names);
  const std::int64_t numbers[count] = {mine.accumulate,
                                       mine.reads_shard,
                                       mine.check_nan || mine.check_infinity,
                                       mine.tasks != nullptr,
                                       mine.passes,
                                       static_cast<std::int64_t>(mine.place.kind),
                                       saves,
                                       saves && saving.resume,
                                       saves ? saving.every_passes : 0,
                                       saves ? saving.every_batches : 0};
  std::vector<std::int64_t> found(count * static_cast<std::size_t>(all.size()));
  all.gather(numbers, sizeof numbers, found.data());
  for (std::size_t r = 1; r < static_cast<std::size_t>(all.trainers()); ++r)
    for (std::size_t k = 0; k < count; ++k)
      if (found[r * count + k] != found[k])
        LAMINA_THROW error(text() << "lamina: train: expected the same option " << names[k]
                                  << " in each process, found " << found[k] << " in rank 0 and "
                                  << found[r * count + k] << " in rank " << r);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail

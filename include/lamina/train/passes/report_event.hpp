// SPDX-License-Identifier: Apache-2.0
// lamina/train/passes/report_event.hpp - reports an event of a training run to its handler.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <optional>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/optimizer/event.hpp>
#include <lamina/optimizer/event_handler.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The parts of a training run that its events refer to, and the optimizer whose options a handler
/// may change.
struct reported_run {
  const optimizer::event_handler& handler;
  bool& stopping;
  const std::optional<std::int64_t>& batches;
  const void* optimizer;
  void (*require_options)(const void* optimizer);  // throws for options outside of their range
};

/// Calls the handler of a run, if there is one.
LAMINA_COLD inline void report_event(const reported_run& run, optimizer::event& e) {
  if (!run.handler) return;
  e.stopping = &run.stopping;
  e.batches = run.batches;
  run.handler(e);
  run.require_options(run.optimizer);
}

/// Throws lamina::error: a handler has changed options that must stay the same during a run.
[[noreturn]] LAMINA_COLD inline void fail_changed_options(int threads, std::uint64_t seed,
                                                          int found_threads,
                                                          std::uint64_t found_seed) {
  LAMINA_THROW error(text() << "lamina: train: expected threads and seed of the options to stay "
                            << threads << " and " << seed << " until training is over, found "
                            << found_threads << " and " << found_seed);
}

}}}  // namespace lamina::detail

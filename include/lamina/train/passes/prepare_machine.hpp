// SPDX-License-Identifier: Apache-2.0
// lamina/train/passes/prepare_machine.hpp - passes options of checks and processes to a training
// machine.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/train/number_check.hpp>
#include <lamina/train/trainer_errors.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Passes the options of a training, other than threads, to its machine. `accumulates`: the machine
/// accumulates the gradients of several mini-batches. Throws lamina::error for options that the
/// machine does not support.
template <class Machine>
LAMINA_COLD void prepare_machine(Machine& machine, bool accumulates, const train_options& options) {
  if (options.accumulate < 1 || (!accumulates && options.accumulate > 1))
    fail_accumulate(accumulates, options.accumulate);
  if constexpr (requires { machine.require_accumulation(1); })
    machine.require_accumulation(options.accumulate);
  if (const number_check stop(options.check_nan, options.check_infinity); stop.nan) {
    if constexpr (requires { machine.stop_at_nan(stop); })
      machine.stop_at_nan(stop);
    else
      LAMINA_THROW error("lamina: check_nan: expected the CPU as place, found a device");
  }
  if (options.world != nullptr) {
    if constexpr (requires { machine.join_world(*options.world, true); })
      machine.join_world(*options.world, options.reads_shard);
    else
      LAMINA_THROW error(
          "lamina: train: expected the CPU as place with several processes, found a "
          "device");
  }
  if (options.sync_batch_norm) machine.sync_batch_norm(options.world);
}

}}}  // namespace lamina::detail

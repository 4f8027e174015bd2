// SPDX-License-Identifier: Apache-2.0
// lamina/cli/trained_at_device.hpp - the trainer and the evaluator that a program uses on a device,
// for --use_gpu.
#pragma once

#include <lamina/core/config.hpp>

#include <optional>

#include <lamina/engine/cuda/place.hpp>
#include <lamina/model/device/device_machine.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/train/device/device_trainer.hpp>
#include <lamina/train/trainer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Makes the trainer and the evaluator on device `number`; trained_at_host does the same for the
/// CPU.
template <class Backend>
struct trained_at_device {
  int number;

  template <class P, class Opt>
  using trainer_type = trainer<P, Opt, placed_trainer<P, Opt, Backend>>;
  template <class P>
  using evaluator_type = evaluator<P, device_machine<P, Backend>>;

  template <class Trainer, class P, class Opt>
  void make_trainer(std::optional<Trainer>& to, model<P>& m, Opt& opt,
                    const train_options& options) const {
    to.emplace(m, opt, options, cuda::place{number});
  }
  /// Makes the evaluator if it does not exist; otherwise copies the current parameters to it.
  template <class Evaluator, class P>
  void make_evaluator(std::optional<Evaluator>& to, const model<P>& m,
                      const evaluator_options& options) const {
    if (to)
      to->refresh();
    else
      to.emplace(m, cuda::place{number}, options.seed);
  }
};

}}}  // namespace lamina::detail

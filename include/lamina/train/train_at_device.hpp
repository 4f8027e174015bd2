// SPDX-License-Identifier: Apache-2.0
// lamina/train/train_at_device.hpp - training, and programs that are training loops, on the CPU or
// on a CUDA device, as the options say.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/engine/cuda/device/place_backend.hpp>
#include <lamina/engine/cuda/place.hpp>
#include <lamina/train/device/device_run.hpp>
#include <lamina/train/device/device_trainer.hpp>
#include <lamina/train/train.hpp>
#include <lamina/train/trainer.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

LAMINA_COLD inline void check_threads(const train_options& options) {
  if (options.threads != 1)
    throw error("lamina: train: expected 1 thread with a device as place, found " +
                std::to_string(options.threads));
}

}  // namespace detail

/// Runs the same loop as on the CPU, on a device. The model on the host is updated at the end of
/// each pass and at each checkpoint. Throws lamina::error if there is no device or driver.
template <class Arithmetic, class Opt, class P, class Reader>
train_result train_at(const cuda::place<Arithmetic>& at, const Opt& opt, model<P>& m,
                      Reader& batches, const train_options& options) {
  using backend = engine::cuda::place_backend<Arithmetic>;
  detail::check_threads(options);
  backend device(at.number);
  return detail::train_loop<P, device_trainer<P, Opt, backend>>(opt, m, batches, options, device,
                                                                opt, m, options.seed);
}

/// `lamina::trainer t{model, adam, {}, lamina::cuda::place{0}}` trains on a device.
template <program_type P, class Opt, class Arithmetic>
trainer(model<P>&, Opt&, const train_options&, const cuda::place<Arithmetic>&)
    -> trainer<P, Opt, placed_trainer<P, Opt, engine::cuda::place_backend<Arithmetic>>>;

/// Trains on the CPU or on a device, as selected by the options.
template <class Opt, class P, class Reader>
train_result train_at(all_places, const Opt& opt, model<P>& m, Reader& batches,
                      const train_options& options) {
  if (options.place.kind == place_kind::cpu)
    return train_at(host_places{}, opt, m, batches, options);
  return train_at(cuda::place{options.place.number}, opt, m, batches, options);
}
template <class Opt, class P, class Reader>
train_result train_at(all_places, const Opt& opt, model<P>& m, Reader& batches,
                      const serial_options& options) {
  if (options.place.kind == place_kind::cpu)
    return train_at(host_places{}, opt, m, batches, options);
  return train_at(cuda::place{options.place.number}, opt, m, batches, options.with_defaults());
}

/// Runs on a device. Throws lamina::error if there is no device or driver.
template <class Arithmetic, program_type P, class Reader>
run_summary run_at(const cuda::place<Arithmetic>& at, model<P>& trained, Reader& batches,
                   const run_program_options& options) {
  engine::cuda::place_backend<Arithmetic> device(at.number);
  return run_by(device, trained, batches, options);
}

/// Runs on the CPU or on a device, as selected by the options.
template <program_type P, class Reader>
run_summary run_at(all_places, model<P>& trained, Reader& batches,
                   const run_program_options& options) {
  if (options.place.kind == place_kind::cpu)
    return run_at(host_places{}, trained, batches, options);
  return run_at(cuda::place{options.place.number}, trained, batches, options);
}

}}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/train/run_at_device.hpp - programs that are training loops, on the CPU or on a CUDA
// device.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/device/place_backend.hpp>
#include <lamina/engine/cuda/place.hpp>
#include <lamina/train/device/device_run.hpp>

namespace lamina { inline namespace LAMINA_ABI {

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

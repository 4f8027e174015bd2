// SPDX-License-Identifier: Apache-2.0
// lamina/train/device/device_run.hpp - runs a program that is a training loop itself on a device.
// Parameters and accumulators stay on the device until the run is over.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cuda/schedule/machine.hpp>
#include <lamina/model/device/device_arrays.hpp>
#include <lamina/train/run.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The accumulators of program P in the memory of a backend, with their initial values.
template <program_type P, class Backend>
class device_accumulators {
 public:
  LAMINA_COLD explicit device_accumulators(Backend& b) : memory_(b) {
    std::size_t floats = 0;
    for (const int i : owners.parameter) floats += size_of(i);
    memory_.reserve((floats + 1) * sizeof(float));
    float* at = reinterpret_cast<float*>(memory_.data());
    for (int a = 0; a < count; ++a) {
      pointers_[a] = at;
      const int n = static_cast<int>(size_of(owners.parameter[a]));
      if (n > 0)
        b.template elements<engine::cuda::detail::fill_body>(
            {at, 0, engine::cuda::divider(n), dtype::float32, static_cast<double>(owners.first[a]),
             n});
      at += n;
    }
  }
  float* const* pointers() const { return pointers_; }

 private:
  static constexpr auto& owners = detail::accumulator_owners<P>;
  static constexpr int count = at_least_one(detail::count_accumulators<P>());

  static std::size_t size_of(int parameter) {
    if (parameter < 0) return 0;
    const parameter_layout& p = parameter_table<P>::table.of[parameter];
    return static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(padded(p.columns));
  }

  engine::cuda::device_buffer<Backend> memory_;
  float* pointers_[bound(count)] = {};
};

/// Runs the program as on the CPU, on a backend. The model on the host does not change before the
/// run is over.
template <program_type P, class Reader, class Backend>
LAMINA_COLD run_summary run_by(Backend& b, model<P>& trained, Reader& batches,
                               const run_program_options& options) {
  device_arrays<Backend> parameters(b, parameters_in<P>(), 1);
  parameters.upload(trained.memory());
  const device_accumulators<P, Backend> accumulators(b);
  engine::cuda::machine<P, Backend> machine(
      b, {parameters.pointers(), nullptr, accumulators.pointers()});
  const run_summary summary = detail::run_machine<P>(machine, trained, batches, options);
  parameters.download(trained.memory());
  return summary;
}

}}  // namespace lamina

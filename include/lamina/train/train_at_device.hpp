// SPDX-License-Identifier: Apache-2.0
// lamina/train/train_at_device.hpp - training on the CPU or on a CUDA device, as options say.
#pragma once

#include <memory>
#include <string>
#include <vector>

#if defined(LAMINA_HAS_NCCL)
#include <lamina/engine/cuda/nccl_sum.hpp>
#endif
#include <lamina/engine/cuda/peer_sum.hpp>
#include <lamina/engine/cuda/place.hpp>
#include <lamina/engine/cuda/place_backend.hpp>
#include <lamina/train/device_trainer.hpp>
#include <lamina/train/places_trainer.hpp>
#include <lamina/train/train.hpp>

namespace lamina {

namespace detail {

/// What adds up gradients. A part of the names of functions that differ by it.
template <class Backend>
#if defined(LAMINA_HAS_NCCL)
using sum_over_places = engine::cuda::nccl_sum<Backend>;
#else
using sum_over_places = engine::cuda::peer_sum<Backend>;
#endif

LAMINA_COLD inline void check_threads(const train_options& options) {
  if (options.threads != 1)
    throw error("lamina: train: expected 1 thread with a device as place, found " +
                std::to_string(options.threads));
}

}  // namespace detail

/// The same loop as on the CPU, at a device. The model on the host follows at the end of each pass
/// and at each checkpoint. Throws lamina::error where there is no device or driver.
template <class Arithmetic, class Opt, class P, class Reader>
train_result train_at(const cuda::place<Arithmetic>& at, const Opt& opt, model<P>& m,
                      Reader& batches, const train_options& options) {
  using backend = engine::cuda::place_backend<Arithmetic>;
  detail::check_threads(options);
  backend device(at.number);
  device_trainer<P, Opt, backend> t(device, opt, m, options.seed);
  return detail::train_loop<P>(t, batches, options);
}

/// The same at several devices of one machine, each with a part of every mini-batch.
template <class Arithmetic, class Opt, class P, class Reader,
          class Backend = engine::cuda::place_backend<Arithmetic>,
          class Sum = detail::sum_over_places<Backend>>
train_result train_at(const cuda::places<Arithmetic>& at, const Opt& opt, model<P>& m,
                      Reader& batches, const train_options& options) {
  detail::check_threads(options);
  std::vector<std::unique_ptr<Backend>> devices;
  std::vector<Backend*> places;
  for (const int n : at.numbers)
    places.push_back(devices.emplace_back(std::make_unique<Backend>(n)).get());
  places_trainer<P, Opt, Backend, Sum> t(places, opt, m, options.seed);
  return detail::train_loop<P>(t, batches, options);
}

/// On the CPU or at a device, as the options say.
template <class Opt, class P, class Reader>
train_result train_at(all_places, const Opt& opt, model<P>& m, Reader& batches,
                      const train_options& options) {
  if (options.place.kind == place_kind::cpu)
    return train_at(host_places{}, opt, m, batches, options);
  return train_at(cuda::place{options.place.number}, opt, m, batches, options);
}

}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/model/device/evaluator_at_device.hpp - evaluators and gradient machines on a CUDA device.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/device/place_backend.hpp>
#include <lamina/engine/cuda/place.hpp>
#include <lamina/model/device/device_machine.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Deduces the type of `lamina::evaluator e{model, lamina::cuda::place{0}}`.
template <program_type P, class A>
evaluator(const model<P>&, cuda::place<A>, std::uint64_t = 0)
    -> evaluator<P, device_machine<P, engine::cuda::place_backend<A>>>;

/// Deduces the type of `lamina::gradient_machine g{model, lamina::cuda::place{0}}`.
template <program_type P, class A>
gradient_machine(const model<P>&, cuda::place<A>, std::uint64_t = 0)
    -> gradient_machine<P, device_machine<P, engine::cuda::place_backend<A>, gradient_program<P>>>;

}}  // namespace lamina

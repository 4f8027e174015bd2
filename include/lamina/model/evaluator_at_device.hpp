// SPDX-License-Identifier: Apache-2.0
// lamina/model/evaluator_at_device.hpp - evaluators and gradient machines on a CUDA device.
#pragma once

#include <lamina/engine/cuda/device_backend.hpp>
#include <lamina/engine/cuda/place.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/model/place_machine.hpp>

namespace lamina {

/// `lamina::evaluator e{model, lamina::cuda::place{0}}`.
template <program_type P>
evaluator(const model<P>&, cuda::place, std::uint64_t = 0)
    -> evaluator<P, place_machine<P, engine::cuda::device_backend>>;

/// `lamina::gradient_machine g{model, lamina::cuda::place{0}}`.
template <program_type P>
gradient_machine(const model<P>&, cuda::place, std::uint64_t = 0)
    -> gradient_machine<P, place_machine<P, engine::cuda::device_backend, gradient_program<P>>>;

}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru_unit/cuda.cuh - gru_unit: one step of a gru.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/operators/recurrent/gru/cuda.cuh>
#include <lamina/operators/recurrent/gru_unit/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

template <>
struct call_kernel<operators::gru_unit> : detail::gru_kernel<true> {};
template <>
struct call_kernel<gradient_of<operators::gru_unit>> : detail::gru_gradient_kernel<true> {};

}}}  // namespace lamina::engine::cuda

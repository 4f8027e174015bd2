// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/group_norm/cuda.cuh - normalisation of the channels of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/channel_sums.cuh>
#include <lamina/operators/norm/group_norm/definition.hpp>
#include <lamina/operators/norm/layer_norm/cuda.cuh>

namespace lamina::inline LAMINA_ABI::engine::cuda {

template <>
struct call_kernel<group_norm> : detail::normalise_kernel<group_norm> {};
template <>
struct call_kernel<instance_norm> : detail::normalise_kernel<instance_norm> {};
template <>
struct call_kernel<gradient_of<group_norm>> : detail::normalise_gradient_kernel<group_norm> {};
template <>
struct call_kernel<gradient_of<instance_norm>> : detail::normalise_gradient_kernel<instance_norm> {
};

}  // namespace lamina::inline LAMINA_ABI::engine::cuda

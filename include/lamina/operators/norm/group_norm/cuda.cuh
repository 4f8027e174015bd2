// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/group_norm/cuda.cuh - normalisation of the channels of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/channel_sums.cuh>
#include <lamina/operators/norm/group_norm/definition.hpp>
#include <lamina/operators/norm/layer_norm/cuda.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

template <>
struct call_kernel<operators::group_norm> : detail::normalise_kernel<operators::group_norm> {};
template <>
struct call_kernel<operators::instance_norm> : detail::normalise_kernel<operators::instance_norm> {
};
template <>
struct call_kernel<gradient_of<operators::group_norm>>
    : detail::normalise_gradient_kernel<operators::group_norm> {};
template <>
struct call_kernel<gradient_of<operators::instance_norm>>
    : detail::normalise_gradient_kernel<operators::instance_norm> {};

}}}  // namespace lamina::engine::cuda

// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/place_backend.hpp - the backend for a place that is a CUDA device.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/device/cublaslt.hpp>
#include <lamina/engine/cuda/device/device_backend.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// A CUDA device that multiplies matrices in the arithmetic of a place.
template <class Arithmetic>
using place_backend = cublaslt_backend<device_backend, Arithmetic>;

}}}  // namespace lamina::engine::cuda

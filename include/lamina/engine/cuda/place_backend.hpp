// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/place_backend.hpp - the backend of a CUDA device as a place.
#pragma once

#include <lamina/engine/cuda/device_backend.hpp>
#if defined(LAMINA_HAS_CUBLASLT)
#include <lamina/engine/cuda/library_backend.hpp>
#endif
#include <lamina/engine/cuda/tensor_backend.hpp>

namespace lamina::engine::cuda {

/// A device that multiplies as a place says; large products by cuBLASLt where it is compiled with
/// LAMINA_HAS_CUBLASLT. A part of the names of functions that differ by it.
template <class Arithmetic>
#if defined(LAMINA_HAS_CUBLASLT)
using place_backend = library_backend<backend_of<device_backend, Arithmetic>>;
#else
using place_backend = backend_of<device_backend, Arithmetic>;
#endif

}  // namespace lamina::engine::cuda

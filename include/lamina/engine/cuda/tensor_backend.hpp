// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/tensor_backend.hpp - a backend whose products are those of tensor cores.
#pragma once

#include <lamina/engine/cuda/place.hpp>
#include <lamina/engine/cuda/tensor_product.hpp>

namespace lamina::engine::cuda {

/// A backend with other tiles: what else it launches is what it launched before.
template <class Backend, class Format>
struct tensor_backend : Backend {
  using product_tile = tensor_shape<Format, 64, 64, 32, 2, 2>;
  using Backend::Backend;
};

namespace detail {
template <class Backend, class Arithmetic>
struct backend_of;
template <class Backend>
struct backend_of<Backend, lamina::cuda::float32_type> {
  using type = Backend;
};
template <class Backend>
struct backend_of<Backend, lamina::cuda::tf32_type> {
  using type = tensor_backend<Backend, tf32_format>;
};
template <class Backend>
struct backend_of<Backend, lamina::cuda::bfloat16_type> {
  using type = tensor_backend<Backend, bfloat16_format>;
};
template <class Backend>
struct backend_of<Backend, lamina::cuda::float16_type> {
  using type = tensor_backend<Backend, float16_format>;
};
}  // namespace detail

/// The backend that multiplies as a place says.
template <class Backend, class Arithmetic>
using backend_of = typename detail::backend_of<Backend, Arithmetic>::type;

}  // namespace lamina::engine::cuda

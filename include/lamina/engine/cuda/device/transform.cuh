// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/transform.cuh - runs the algorithms fill, sequence and tabulate of
// algorithms.hpp on the device by Thrust.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <new>

#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/sequence.h>
#include <thrust/system/system_error.h>
#include <thrust/tabulate.h>

#include <lamina/engine/cuda/device/device_algorithms.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda::algorithm {

/// An allocator for Thrust that always fails. The algorithms below need no temporary storage; if
/// one did, it would fail here instead of asking the driver for memory.
struct no_memory {
  using value_type = char;
  char* allocate(std::ptrdiff_t) { throw std::bad_alloc(); }
  void deallocate(char*, std::size_t) {}
};

/// Calls f(policy) with a Thrust execution policy on the stream. `par_nosync` omits the final wait
/// of algorithms that return no value from the device, as all of these do. So a CUDA graph may
/// capture them.
template <class F>
cudaError_t by_thrust(cudaStream_t stream, const F& f) {
  no_memory memory;
  try {
    f(thrust::cuda::par_nosync(memory).on(stream));
  } catch (const thrust::system_error& e) {
    return static_cast<cudaError_t>(e.code().value());
  }
  return cudaSuccess;
}

template <class Number>
cudaError_t call(const fill<Number>& a, cudaStream_t stream) {
  return by_thrust(stream,
                   [&](const auto& policy) { thrust::fill_n(policy, a.to, a.count, a.value); });
}
template <class Number>
cudaError_t call(const sequence<Number>& a, cudaStream_t stream) {
  return by_thrust(stream,
                   [&](const auto& policy) { thrust::sequence(policy, a.to, a.to + a.count); });
}

template <class Body>
struct element_of {
  typename Body::arguments of;
  __device__ typename Body::value operator()(int i) const { return Body::at(of, i); }
};
template <class Body>
cudaError_t call(const tabulate<Body>& a, cudaStream_t stream) {
  return by_thrust(stream, [&](const auto& policy) {
    thrust::tabulate(policy, a.to, a.to + a.count, element_of<Body>{a.of});
  });
}

}}}  // namespace lamina::engine::cuda::algorithm

// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/simulated/device.hpp - device_backend over simulated devices: its calls are
// those of a device, the bodies of its kernels run in loops.
#pragma once

#include <cstddef>
#include <utility>

// clang-format off
#include "engine/cuda/simulated/cublasLt.hpp"  // before who includes the real headers
#include "engine/cuda/simulated/cuda_runtime_api.hpp"
// clang-format on

#include "engine/cuda/host_bodies.hpp"

#include <lamina/engine/cuda/device/cublaslt.hpp>
#include <lamina/engine/cuda/device/device_backend.hpp>

namespace test::simulated {

/// Launches a kernel: as <<<>>>, it tells by cudaGetLastError() if it fails.
template <class Arguments, class Run>
void launch(stream* s, const char* kernel, const Arguments& a, const Run& run) {
  const std::lock_guard guard(now.lock);
  if (fails("launch")) {
    fail(cudaErrorUnknown);
  } else if (!is_current(*s)) {
    fail(cudaErrorInvalidResourceHandle);
  } else {
    add(*s, [=, told = addresses_in(a)] {
      check_addresses(told, kernel);
      run();
    });
  }
}

/// Kernels in place of those of kernels.cuh, in tiles that a loop computes.
struct kernels_on_host : lamina::engine::cuda::device_backend {
  using bodies = lamina::engine::cuda::host_bodies<1>;
  using product_tile = bodies::product_tile;
  using sum_tile = bodies::sum_tile;
  static constexpr int row_threads = bodies::row_threads;
  using device_backend::device_backend;

  template <class Body>
  void cells(const typename Body::arguments& a) {
    launch(stream(), __PRETTY_FUNCTION__, a, [=] { bodies::cells<Body>(a); });
    check_launch();
  }
  template <class Body>
  void teams(const typename Body::arguments& a) {
    launch(stream(), __PRETTY_FUNCTION__, a, [=] { bodies::teams<Body>(a); });
    check_launch();
  }
  template <class Body>
  void lines(const typename Body::arguments& a) {
    launch(stream(), __PRETTY_FUNCTION__, a, [=] { bodies::lines<Body>(a); });
    check_launch();
  }
  template <class Body>
  void elements(const typename Body::arguments& a) {
    launch(stream(), __PRETTY_FUNCTION__, a, [=] { bodies::elements<Body>(a); });
    check_launch();
  }
  template <class Algorithm>
  void run_algorithm(const Algorithm& a, void* scratch = nullptr) {
    const struct { const void* of[1]; } arguments{{scratch}};
    launch(stream(), __PRETTY_FUNCTION__, arguments, [=] { bodies::run(a); });
    check_launch();
  }
  template <class Algorithm>
  static void algorithm_scratch(const Algorithm&, std::size_t* bytes) {
    *bytes = 1000;
  }
};

template <class Arithmetic>
using device_of = lamina::engine::cuda::cublaslt_backend<kernels_on_host, Arithmetic, 1024>;
using device = device_of<lamina::cuda::float32_type>;

}  // namespace test::simulated

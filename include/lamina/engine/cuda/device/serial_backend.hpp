// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/serial_backend.hpp - runs bodies on the host in plain loops; it
// computes the numbers that control loops and branches.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/team.cuh>

namespace lamina::inline LAMINA_ABI::engine::cuda {

/// The part of a backend that kernels of single numbers need, over host memory.
struct serial_backend {
  template <class Body>
  void lines(const typename Body::arguments& a) {
    if (a.lines > 0) Body::run(a, serial_team{});
  }
  template <class Body>
  void elements(const typename Body::arguments& a) {
    for (int i = 0; i < a.count; ++i) Body::run(a, i);
  }
};

}  // namespace lamina::inline LAMINA_ABI::engine::cuda

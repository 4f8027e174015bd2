// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/serial_backend.hpp - runs the bodies of kernels on the host in plain
// loops, for the numbers that control loops and branches.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/team.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// A backend over host memory with only the functions that kernels of single numbers need.
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

}}}  // namespace lamina::engine::cuda

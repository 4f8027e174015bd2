// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/kernels.cuh - the CUDA kernels that run the bodies of engine/cuda/body,
// and their launches.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/engine/cuda/device/device_backend.hpp>

// clang before version 20 does not know __grid_constant__ and warns; kernels are correct without
// it.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-attributes"
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

template <class Body>
__global__ void __launch_bounds__(device_backend::block_threads)
    cell_kernel(const __grid_constant__ typename Body::arguments g) {
  Body::run(g, {static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
                static_cast<int>(gridDim.x * blockDim.x),
                static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y),
                static_cast<int>(gridDim.y * blockDim.y)});
}
template <class Body>
__global__ void __launch_bounds__(Body::threads)
    team_kernel(const __grid_constant__ typename Body::arguments g) {
  if constexpr ((device_backend::launch_memory<Body>) > 0) {
    extern __shared__ pack memory_of_launch[];
    Body::run(g, block_team<Body::threads>::mine(),
              *reinterpret_cast<typename Body::shared*>(memory_of_launch));
  } else {
    __shared__ typename Body::shared memory;
    Body::run(g, block_team<Body::threads>::mine(), memory);
  }
}
template <class Body, class Team>
__global__ void __launch_bounds__(device_backend::block_threads)
    line_kernel(const __grid_constant__ typename Body::arguments a) {
  Body::run(a, Team::mine());
}

template <class Body>
__global__ void __launch_bounds__(device_backend::block_threads)
    element_kernel(const __grid_constant__ typename Body::arguments a) {
  const int all = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < a.count; i += all)
    Body::run(a, i);
}

/// Returns how many blocks of a kernel one multiprocessor can run at the same time.
template <class Kernel>
int resident_blocks(Kernel* kernel, int threads, std::size_t launch_memory = 0) {
  int blocks = 0;
  check_call(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, launch_memory),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return (std::max)(1, blocks);
}
inline unsigned blocks_for(std::int64_t work, int each, std::int64_t most) {
  const std::int64_t wanted = (work + each - 1) / each;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, most)));
}

}  // namespace detail

/// Runs a body for all packs of a matrix. The grid is as wide as a row, and as high as needed or as
/// the device can run at the same time, whichever is less.
template <class Body>
void device_backend::cells(const typename Body::arguments& g) {
  static const int resident = detail::resident_blocks(&detail::cell_kernel<Body>, block_threads);
  const int packs = g.width / pack_width;
  if (packs == 0 || g.rows == 0) return;
  int wide = 1;
  while (wide < packs && wide < block_threads) wide *= 2;
  const std::int64_t most = std::int64_t{resident} * processors_;
  const dim3 block(static_cast<unsigned>(wide), static_cast<unsigned>(block_threads / wide));
  dim3 grid;
  grid.x = detail::blocks_for(packs, wide, most);
  grid.y = detail::blocks_for(g.rows, block_threads / wide,
                              std::min<std::int64_t>(65535, most / grid.x));
  detail::cell_kernel<Body><<<grid, block, 0, stream_>>>(g);
  check_launch();
}

template <class Body>
void device_backend::teams(const typename Body::arguments& g) {
  const int teams = Body::teams(g);
  if (teams == 0) return;
  constexpr std::size_t bytes = launch_memory<Body>;
  const auto kernel = &detail::team_kernel<Body>;
  // The attribute applies to the current device only, so it is set before each launch.
  if constexpr (bytes > 0)
    check_call(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)),
               "cudaFuncSetAttribute");
  static const int resident = detail::resident_blocks(kernel, Body::threads, bytes);
  const unsigned grid = detail::blocks_for(teams, 1, std::int64_t{resident} * processors_);
  detail::team_kernel<Body><<<grid, Body::threads, bytes, stream_>>>(g);
  check_launch();
}

/// Runs a body with one warp per line, or with one block per line if lines are longer than 1024.
template <class Body>
void device_backend::lines(const typename Body::arguments& a) {
  const auto blocks = [&](int each) {
    return detail::blocks_for(a.lines, each, std::int64_t{processors_} * 8);
  };
  if (a.width > 1024) {
    detail::line_kernel<Body, block_team<block_threads>>
        <<<blocks(1), block_threads, 0, stream_>>>(a);
  } else {
    detail::line_kernel<Body, warp_team>
        <<<blocks(block_threads / 32), block_threads, 0, stream_>>>(a);
  }
  check_launch();
}

/// Runs a body with one thread per element.
template <class Body>
void device_backend::elements(const typename Body::arguments& a) {
  static const int resident = detail::resident_blocks(&detail::element_kernel<Body>, block_threads);
  if (a.count <= 0) return;
  const unsigned grid =
      detail::blocks_for(a.count, block_threads, std::int64_t{resident} * processors_);
  detail::element_kernel<Body><<<grid, block_threads, 0, stream_>>>(a);
  check_launch();
}

}}}  // namespace lamina::engine::cuda

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

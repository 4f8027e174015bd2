// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/team.cuh - the threads that run the body of a kernel: one thread at a
// position, or a team of threads that reduces values together.
//
// A body is a LAMINA_FN that takes a position or a team; the same code runs on device and host. On
// the device a team is a warp or a block. On the host, where tests run the same bodies, it is one
// thread, or several threads that wait for each other. Sums are taken in a fixed order, so equal
// inputs give equal bits.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cuda/body/pack.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The part of one thread in a grid over the packs of a matrix. It takes every `columns`-th pack
/// of a row, starting at pack `column`, and it takes every `rows`-th row, starting at row `row`.
struct position {
  int column, columns;
  int row, rows;
};

/// A team of one thread.
struct serial_team {
  static constexpr int threads = 1;
  int index = 0, count = 1;  // index of the team, number of teams

  LAMINA_FN int rank() const { return 0; }
  LAMINA_FN int size() const { return 1; }
  /// Combines the numbers of all threads of a team by f in a fixed order. Every thread gets the
  /// same result.
  template <class T, class F>
  LAMINA_FN T reduce(T x, F) const {
    return x;
  }
  LAMINA_FN void barrier() const {}
};

#if defined(__CUDACC__)

// The members of device teams are declared for host and device, because the bodies that call them
// are declared so. The host never calls these members.

/// A team that is a warp: 32 threads that exchange values through registers.
struct warp_team {
  int index, count;

  static __device__ warp_team mine() {
    const int in_block = static_cast<int>(blockDim.x) / 32;
    return {static_cast<int>(blockIdx.x) * in_block + static_cast<int>(threadIdx.x) / 32,
            static_cast<int>(gridDim.x) * in_block};
  }
  LAMINA_FN int rank() const {
#if defined(__CUDA_ARCH__)
    return static_cast<int>(threadIdx.x) % 32;
#else
    return 0;
#endif
  }
  LAMINA_FN int size() const { return 32; }
  template <class T, class F>
  LAMINA_FN T reduce(T x, F f) const {
#if defined(__CUDA_ARCH__)
    for (int step = 16; step > 0; step /= 2) x = f(x, __shfl_xor_sync(~0u, x, step));
#endif
    return x;
  }
  LAMINA_FN void barrier() const {
#if defined(__CUDA_ARCH__)
    __syncwarp();
#endif
  }
};

/// A team that is a block of `Threads` threads.
template <int Threads>
struct block_team {
  static constexpr int threads = Threads;
  int index, count;

  static __device__ block_team mine() {
    return {static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x)};
  }
  LAMINA_FN int rank() const {
#if defined(__CUDA_ARCH__)
    return static_cast<int>(threadIdx.x);
#else
    return 0;
#endif
  }
  LAMINA_FN int size() const { return Threads; }
  template <class T, class F>
  LAMINA_FN T reduce(T x, F f) const {
#if defined(__CUDA_ARCH__)
    __shared__ T part[Threads / 32];
    const warp_team warp{0, 1};
    x = warp.reduce(x, f);
    if (warp.rank() == 0) part[rank() / 32] = x;
    __syncthreads();
    x = part[0];
    for (int i = 1; i < Threads / 32; ++i) x = f(x, part[i]);
    __syncthreads();
#endif
    return x;
  }
  LAMINA_FN void barrier() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
};

#endif

struct add_numbers {
  template <class T>
  LAMINA_FN T operator()(T a, T b) const {
    return a + b;
  }
};
struct take_larger {
  template <class T>
  LAMINA_FN T operator()(T a, T b) const {
    return math::maximum(a, b);
  }
};
struct take_smaller {
  template <class T>
  LAMINA_FN T operator()(T a, T b) const {
    return math::minimum(a, b);
  }
};

/// The sum, the maximum and the minimum of one number per thread of a team. The maximum and the
/// minimum are NaN if any number is NaN.
template <class Team, class T>
LAMINA_INLINE LAMINA_FN T sum_of(const Team& team, T x) {
  return team.reduce(x, add_numbers{});
}
template <class Team, class T>
LAMINA_INLINE LAMINA_FN T largest_of(const Team& team, T x) {
  return team.reduce(x, take_larger{});
}
template <class Team, class T>
LAMINA_INLINE LAMINA_FN T smallest_of(const Team& team, T x) {
  return team.reduce(x, take_smaller{});
}

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

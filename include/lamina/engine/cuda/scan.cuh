// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/scan.cuh - sums along lines, a block each, by cub::BlockScan.
//
// cub::DeviceScan adds floats in an order that changes from run to run (its look-back takes what
// other blocks have finished); a block a line always adds in the same order.
#pragma once

#include <cub/block/block_scan.cuh>

#include <lamina/engine/cuda/device_algorithm.cuh>

namespace lamina::engine::cuda::algorithm {

inline constexpr int scan_threads = 256, scan_items = 4;

template <class Body>
__global__ void __launch_bounds__(scan_threads)
    scan_kernel(const __grid_constant__ scan_lines<Body> a) {
  using value = typename Body::value;
  using block_scan = cub::BlockScan<value, scan_threads>;
  __shared__ typename block_scan::TempStorage storage;
  for (int line = static_cast<int>(blockIdx.x); line < a.lines;
       line += static_cast<int>(gridDim.x)) {
    value before = 0;  // the sum of the tiles so far
    for (int tile = 0; tile < a.n; tile += scan_threads * scan_items) {
      const int first = tile + static_cast<int>(threadIdx.x) * scan_items;
      value x[scan_items], sum;
      for (int i = 0; i < scan_items; ++i)
        x[i] = first + i < a.n ? Body::load(a.of, line, first + i) : value{0};
      if (a.exclusive)
        block_scan(storage).ExclusiveSum(x, x, sum);
      else
        block_scan(storage).InclusiveSum(x, x, sum);
      for (int i = 0; i < scan_items; ++i)
        if (first + i < a.n) Body::store(a.of, line, first + i, before + x[i]);
      before += sum;
      __syncthreads();
    }
  }
}

template <class Body>
cudaError_t call(const scan_lines<Body>& a, cudaStream_t stream) {
  constexpr int most_blocks = 1 << 16;
  if (a.lines == 0) return cudaSuccess;
  const int grid = a.lines < most_blocks ? a.lines : most_blocks;
  scan_kernel<Body><<<grid, scan_threads, 0, stream>>>(a);
  return cudaSuccess;
}

}  // namespace lamina::engine::cuda::algorithm

// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/device_algorithms.cuh - runs the algorithms of algorithms.hpp on the
// device by CUB. Thrust runs the others (transform.cuh).
//
// An algorithm is implemented by a function in namespace algorithm:
//   cudaError_t call(const Algorithm&, void* storage, std::size_t& bytes, cudaStream_t)
// With a null `storage` it only sets `bytes` to the size that it needs. An algorithm that needs no
// storage has
//   cudaError_t call(const Algorithm&, cudaStream_t)
// Only programs that use one of these algorithms include this header (cmake/cuda_kernels), because
// CUB costs seconds of compile time.
#pragma once

#include <lamina/core/config.hpp>

#include <cub/block/block_scan.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <lamina/engine/cuda/device/algorithms.hpp>
#include <lamina/engine/cuda/device/device_backend.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace algorithm {

template <class Key>
cudaError_t call(const sort_pairs<Key>& a, void* storage, std::size_t& bytes, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(storage, bytes, a.keys, a.sorted_keys, a.numbers,
                                         a.sorted_numbers, a.count, 0, a.bits, stream);
}

/// Returns the offset at which line i begins.
struct line_begin {
  int n;
  __host__ __device__ int operator()(int i) const { return i * n; }
};

/// The kernel in which one block sorts one line.
template <class Key>
cudaError_t call(const sort_lines<Key>& a, void* storage, std::size_t& bytes, cudaStream_t stream) {
  const auto begin =
      thrust::make_transform_iterator(thrust::make_counting_iterator(0), line_begin{a.n});
  return cub::DeviceSegmentedRadixSort::SortPairs(
      storage, bytes, a.keys, a.sorted_keys, a.numbers, a.sorted_numbers, a.lines * a.n, a.lines,
      begin, begin + 1, 0, static_cast<int>(8 * sizeof(Key)), stream);
}

template <class Holds>
struct condition {
  typename Holds::arguments of;
  __device__ bool operator()(int i) const { return Holds::run(of, i); }
};

template <class Holds>
cudaError_t call(const select<Holds>& a, void* storage, std::size_t& bytes, cudaStream_t stream) {
  return cub::DeviceSelect::If(storage, bytes, thrust::make_counting_iterator(0), a.chosen, a.found,
                               a.count, condition<Holds>{a.of}, stream);
}

/// The function that receives the sum when CUB writes to its output iterator.
template <class Result>
struct sum_result {
  Result result;
  LAMINA_FN void operator()(int, double sum) const { result(sum); }
};

/// The order of the additions depends on the number of terms and on the device.
template <class Terms, class Result>
cudaError_t call(const sum<Terms, Result>& a, void* storage, std::size_t& bytes,
                 cudaStream_t stream) {
  return cub::DeviceReduce::TransformReduce(
      storage, bytes, thrust::make_counting_iterator(0),
      thrust::make_tabulate_output_iterator(sum_result<Result>{a.result}), a.count,
      ::cuda::std::plus<>{}, a.terms, 0.0, stream);
}

template <class Number>
cudaError_t call(const histogram<Number>& a, void* storage, std::size_t& bytes,
                 cudaStream_t stream) {
  return cub::DeviceHistogram::HistogramEven(storage, bytes, a.numbers, a.counts, a.bins + 1, 0,
                                             a.bins, a.count, stream);
}

inline constexpr int scan_threads = 256, scan_items = 4;

/// Computes prefix sums along lines, with one block per line. A single block always adds in the
/// same order. cub::DeviceScan does not: its look-back uses the blocks that happen to have
/// finished, so the order of float additions varies between runs.
template <class Body>
__global__ void __launch_bounds__(scan_threads)
    scan_kernel(const __grid_constant__ scan_lines<Body> a) {
  using value = typename Body::value;
  using block_scan = cub::BlockScan<value, scan_threads>;
  __shared__ typename block_scan::TempStorage storage;
  for (int line = static_cast<int>(blockIdx.x); line < a.lines;
       line += static_cast<int>(gridDim.x)) {
    value before = 0;  // the sum of all previous tiles
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
  const int blocks = a.lines < 1 << 16 ? a.lines : 1 << 16;
  if (blocks > 0) scan_kernel<Body><<<blocks, scan_threads, 0, stream>>>(a);
  return cudaSuccess;
}

}  // namespace algorithm

template <class Algorithm>
void device_backend::run_algorithm(const Algorithm& a, void* scratch) {
  if constexpr (requires { call(a, stream_); }) {
    check_group(call(a, stream_), Algorithm::name);
  } else {
    std::size_t bytes = 0;
    algorithm_scratch(a, &bytes);
    check_group(call(a, scratch, bytes, stream_), Algorithm::name);
  }
  check_launch();
}

template <class Algorithm>
void device_backend::algorithm_scratch(const Algorithm& a, std::size_t* bytes) {
  *bytes = 0;
  check_call(call(a, nullptr, *bytes, nullptr), Algorithm::name);
}

}}}  // namespace lamina::engine::cuda

// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/device_backend.hpp - a CUDA device: its memory, captured graphs and
// kernel launches. This header needs the headers and the runtime library of the CUDA Toolkit, but
// not its compiler: functions that launch kernels are only declared here, and defined in
// kernels.cuh.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdlib>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/cuda/body/column_sums.cuh>
#include <lamina/engine/cuda/body/pointwise.cuh>
#include <lamina/engine/cuda/body/tile_product.cuh>
#include <lamina/engine/cuda/device/device_graph.hpp>
#include <lamina/engine/cuda/schedule/call_context.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// CUDA device `number` of this computer. All work runs on one stream in the order of the calls.
/// Only one host thread at a time may use an object.
class device_backend : public device_graph {
 public:
  using product_tile = tile_shape<64, 64, 16, 4>;  // tile of convolutions
  using sum_tile = sum_shape<32, 32>;
  /// block_threads is the number of threads per block in cells(), lines() and elements();
  /// row_threads is the number of threads in a team that computes several rows.
  static constexpr int block_threads = 256, row_threads = block_threads;
  /// Bytes of dynamic shared memory for the launch of a body; 0 if its shared memory fits in the 48
  /// KB that the compiler can allocate statically.
  template <class Body>
  static constexpr std::size_t launch_memory = sizeof(typename Body::shared) > 48 * 1024
                                                   ? sizeof(typename Body::shared)
                                                   : 0;

  /// Throws lamina::error if there is no driver, or no device with this number.
  LAMINA_COLD explicit device_backend(int number = 0) : device_graph(number) {
    int devices = 0;
    const cudaError_t found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0)
      throw error(text() << "lamina: cuda: expected a CUDA device and its driver, found none ("
                         << failure_text(found == cudaSuccess ? cudaErrorNoDevice : found) << ")");
    if (number < 0 || number >= devices)
      throw error(text() << "lamina: cuda: place: expected a device from 0 to " << devices - 1
                         << ", found " << number);
    use();
    check_call(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, number),
               "cudaDeviceGetAttribute");
    check_call(
        cudaDeviceGetAttribute(&block_memory_, cudaDevAttrMaxSharedMemoryPerBlockOptin, number),
        "cudaDeviceGetAttribute");
    create();
    const auto begins_with = [](const char* name, char first) {
      const char* const value = std::getenv(name);
      return value != nullptr && value[0] == first;
    };
    // With LAMINA_CUDA_CHECK=1 the host waits for each launch, so that a failure names its
    // operator.
    careful_ = begins_with("LAMINA_CUDA_CHECK", '1');
    // Repeated runs with the same rows are replayed as one graph, unless LAMINA_CUDA_GRAPHS=0.
    captures_ = !begins_with("LAMINA_CUDA_GRAPHS", '0') && !careful_;
  }
  device_backend(const device_backend&) = delete;
  device_backend& operator=(const device_backend&) = delete;

  /// Records the operator that is launched next, for error messages. The machine adds the name of
  /// the layer.
  void begin_group(const call_context& site) { operator_ = site.schema().type; }
  void end_group() {
    if (careful_) check_group(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    operator_ = nullptr;
  }

  /// Whether the device has enough shared memory per block for a body.
  template <class Body>
  bool fits() const {
    return sizeof(typename Body::shared) <= static_cast<std::size_t>(block_memory_);
  }

  // Defined in kernels.cuh.
  template <class Body>
  void cells(const typename Body::arguments& g);
  template <class Body>
  void teams(const typename Body::arguments& g);
  template <class Body>
  void lines(const typename Body::arguments& a);
  template <class Body>
  void elements(const typename Body::arguments& a);
  // Defined in device_algorithms.cuh.
  template <class Algorithm>
  void run_algorithm(const Algorithm& a, void* scratch = nullptr);
  template <class Algorithm>
  static void algorithm_scratch(const Algorithm& a, std::size_t* bytes);

 protected:
  /// Throws lamina::error with the operator that is being launched and the CUDA call that failed.
  [[noreturn]] LAMINA_COLD void fail_in_group(const char* call, const char* what) const {
    throw error(text() << "lamina: cuda: " << (operator_ != nullptr ? operator_ : "")
                       << (operator_ != nullptr ? ": " : "") << call << ": " << what);
  }
  void check_launch() { check_group(cudaGetLastError(), "launch"); }

 private:
  void check_group(cudaError_t found, const char* call) {
    if (found != cudaSuccess) fail_in_group(call, failure_text(found));
  }

  bool careful_ = false;
  int processors_ = 1, block_memory_ = 0;
  const char* operator_ = nullptr;  // the operator being launched; null between groups
};

}}}  // namespace lamina::engine::cuda

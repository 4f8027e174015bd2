// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device_backend.hpp - a CUDA device: memory, one stream, recorded graphs. Needs
// the CUDA Toolkit's headers and runtime library, but not its compiler: what launches kernels is
// declared here and defined in device_kernels.cuh.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/engine/cuda/device_buffer.hpp>
#include <lamina/engine/cuda/product_body.hpp>

namespace lamina::engine::cuda {

/// Throws lamina::error naming the call when it failed.
LAMINA_COLD inline void fail_call(cudaError_t found, const char* call) {
  throw error(text() << "lamina: cuda: " << call << ": " << cudaGetErrorString(found));
}
inline void check_call(cudaError_t found, const char* call) {
  if (found != cudaSuccess) fail_call(found, call);
}

/// Device `number` of this machine. Work is done in the order of the calls, on one stream. Not for
/// two threads at once.
class device_backend {
 public:
  using product_tile = tile_shape<64, 64, 16, 4>;
  using sum_tile = sum_shape<8, 32>;
  /// Threads of the blocks that run positions and lines.
  static constexpr int block_threads = 256;

  /// Throws lamina::error where there is no driver, or no such device.
  LAMINA_COLD explicit device_backend(int number = 0) : number_(number) {
    int devices = 0;
    const cudaError_t found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0)
      throw error(text() << "lamina: cuda: expected a CUDA device and its driver, found none ("
                         << cudaGetErrorString(found == cudaSuccess ? cudaErrorNoDevice : found)
                         << ")");
    if (number < 0 || number >= devices)
      throw error(text() << "lamina: cuda: place: expected a device from 0 to " << devices - 1
                         << ", found " << number);
    use();
    check_call(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, number),
               "cudaDeviceGetAttribute");
    check_call(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
    // One launch after the other, each waited for: a failure then names its operator.
    const char* const careful = std::getenv("LAMINA_CUDA_CHECK");
    careful_ = careful != nullptr && careful[0] == '1';
  }
  device_backend(const device_backend&) = delete;
  device_backend& operator=(const device_backend&) = delete;
  ~device_backend() {
    forget();
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  void* allocate(std::size_t bytes) {
    use();
    void* p = nullptr;
    const cudaError_t found = cudaMalloc(&p, bytes);
    if (found == cudaErrorMemoryAllocation) fail_allocation(bytes);
    check_call(found, "cudaMalloc");
    in_use_ += bytes;
    check_call(cudaMemsetAsync(p, 0, bytes, stream_), "cudaMemsetAsync");
    return p;
  }
  void release(void* p, std::size_t bytes) noexcept {
    // Waits for whatever still uses it.
    cudaFree(p);
    in_use_ -= bytes;
  }
  /// Memory of the host that does not move, so that copies do not wait.
  void* allocate_staging(std::size_t bytes) {
    use();
    void* p = nullptr;
    check_call(cudaMallocHost(&p, bytes), "cudaMallocHost");
    std::memset(p, 0, bytes);
    return p;
  }
  void release_staging(void* p) noexcept {
    if (p != nullptr) cudaFreeHost(p);
  }
  void upload(void* to, const void* from, std::size_t bytes) {
    if (bytes != 0)
      check_call(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_),
                 "cudaMemcpyAsync to the device");
  }
  void download(void* to, const void* from, std::size_t bytes) {
    if (bytes != 0)
      check_call(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_),
                 "cudaMemcpyAsync from the device");
  }
  void wait() { check_call(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  /// Notes which group is launched next, for messages; the machine says which layer's it is.
  void begin_group(const call_site& site) { operator_ = site.schema().type; }
  void end_group() {
    if (careful_) check_group(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  /// Does the work. The second time with an equal key it is recorded as a graph, and from then on
  /// the graph is launched: the work must depend on the key alone, and on memory.
  template <class Key, class Work>
  void replay(const Key& key, Work&& work) {
    use();
    recorded* const known = careful_ ? nullptr : find(&key, sizeof(key));
    if (known == nullptr || !known->seen) {
      work();
      if (known != nullptr) known->seen = true;
      return;
    }
    if (known->graph == nullptr) {
      begin_recording();
      try {
        work();
      } catch (...) {
        stop_recording();
        throw;
      }
      known->graph = end_recording();
    }
    check_call(cudaGraphLaunch(known->graph, stream_), "cudaGraphLaunch");
  }
  /// Does work that is never repeated as it is.
  template <class Work>
  void once(Work&& work) {
    use();
    work();
  }
  /// What was recorded does not hold any more.
  void forget() noexcept {
    for (recorded& r : recorded_)
      if (r.graph != nullptr) cudaGraphExecDestroy(r.graph);
    recorded_.clear();
  }

  // Defined in device_kernels.cuh.
  template <class Body>
  void cells(const typename Body::arguments& g);
  template <class Body>
  void teams(const typename Body::arguments& g);
  template <class Body>
  void lines(const typename Body::arguments& a);
  template <class Body>
  void elements(const typename Body::arguments& a);
  // Defined in device_sort.cuh.
  /// Sorts `count` keys from 0 to below 2^bits with a number each; equal keys stay in their order.
  template <class Key>
  void sort_pairs(int count, int bits, const Key* keys, Key* sorted_keys, const int* numbers,
                  int* sorted_numbers, void* scratch);
  template <class Key>
  static void sort_scratch(int count, std::size_t* bytes);

 private:
  struct recorded {
    std::vector<char> key;
    cudaGraphExec_t graph = nullptr;
    bool seen = false;
  };
  static constexpr std::size_t most_recorded = 32;

  void use() { check_call(cudaSetDevice(number_), "cudaSetDevice"); }
  [[noreturn]] LAMINA_COLD void fail_allocation(std::size_t bytes) {
    std::size_t free = 0, total = 0;
    cudaGetLastError();
    check_call(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    fail_memory(bytes, in_use_, free, total);
  }
  void check_launch() { check_group(cudaGetLastError(), "launch"); }
  void check_group(cudaError_t found, const char* call) {
    if (found != cudaSuccess)
      throw error(text() << "lamina: cuda: " << operator_ << ": " << call << ": "
                         << cudaGetErrorString(found));
  }
  LAMINA_COLD recorded* find(const void* key, std::size_t bytes) {
    for (recorded& r : recorded_)
      if (r.key.size() == bytes && std::memcmp(r.key.data(), key, bytes) == 0) return &r;
    if (recorded_.size() >= most_recorded) forget();
    recorded& r = recorded_.emplace_back();
    r.key.resize(bytes);
    std::memcpy(r.key.data(), key, bytes);
    return &r;
  }
  LAMINA_COLD void begin_recording() {
    check_call(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed),
               "cudaStreamBeginCapture");
  }
  LAMINA_COLD void stop_recording() noexcept {
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
  }
  LAMINA_COLD cudaGraphExec_t end_recording() {
    cudaGraph_t graph = nullptr;
    check_call(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    cudaGraphExec_t made = nullptr;
    const cudaError_t found = cudaGraphInstantiate(&made, graph, 0);
    cudaGraphDestroy(graph);
    check_call(found, "cudaGraphInstantiate");
    return made;
  }

  int number_;
  int processors_ = 1;
  bool careful_ = false;
  const char* operator_ = "";
  std::size_t in_use_ = 0;
  cudaStream_t stream_ = nullptr;
  std::vector<recorded> recorded_;
};

}  // namespace lamina::engine::cuda

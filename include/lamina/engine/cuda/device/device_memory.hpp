// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/device_memory.hpp - the stream of a CUDA device, allocation of device
// and host memory, and copies between them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>

// A test may have included a substitute for this header before.
#if !defined(CUDART_VERSION)
#include <cuda_runtime_api.h>
#endif

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/cuda/device/device_buffer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Returns the CUDA runtime's message for a failed call. Also clears the error, because a later
/// launch would report it again.
LAMINA_COLD inline const char* failure_text(cudaError_t found) {
  cudaGetLastError();
  return cudaGetErrorString(found);
}
/// Throws lamina::error with the name of the failed call.
LAMINA_COLD inline void fail_call(cudaError_t found, const char* call) {
  throw error(text() << "lamina: cuda: " << call << ": " << failure_text(found));
}
inline void check_call(cudaError_t found, const char* call) {
  if (found != cudaSuccess) fail_call(found, call);
}

/// One stream of a device; allocates device and host memory and copies between them in the order of
/// the stream.
class device_memory {
 public:
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  int number() const { return number_; }
  cudaStream_t stream() const { return stream_; }
  /// Makes this device the current device of the calling thread.
  void use() { check_call(cudaSetDevice(number_), "cudaSetDevice"); }
  void* allocate(std::size_t bytes) {
    use();
    void* p = nullptr;
    const cudaError_t found = cudaMalloc(&p, bytes);
    if (found == cudaErrorMemoryAllocation) fail_allocation(bytes);
    check_call(found, "cudaMalloc");
    const cudaError_t cleared = cudaMemsetAsync(p, 0, bytes, stream_);
    if (cleared != cudaSuccess) cudaFree(p);
    check_call(cleared, "cudaMemsetAsync");
    in_use_ += bytes;
    return p;
  }
  void set_planned(std::size_t bytes) noexcept { planned_ = bytes; }
  void release(void* p, std::size_t bytes) noexcept {
    cudaFree(p);  // waits for the kernels that still use it
    in_use_ -= bytes;
  }
  /// Allocates page-locked host memory, so that copies are asynchronous.
  void* allocate_staging(std::size_t bytes) {
    use();
    void* p = nullptr;
    const cudaError_t found = cudaMallocHost(&p, bytes);
    if (found != cudaSuccess)
      throw error(text() << "lamina: cuda: cudaMallocHost of " << bytes
                         << " bytes: " << failure_text(found));
    std::memset(p, 0, bytes);
    return p;
  }
  void release_staging(void* p) noexcept {
    if (p == nullptr) return;
    cudaFreeHost(p);
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

 protected:
  explicit device_memory(int number) : number_(number) {}
  ~device_memory() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  void create() {
    check_call(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
  }

  int number_;
  cudaStream_t stream_ = nullptr;

 private:
  [[noreturn]] LAMINA_COLD void fail_allocation(std::size_t bytes) {
    std::size_t free = 0, total = 0;
    cudaGetLastError();
    check_call(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    fail_memory(bytes, planned_, in_use_, free, total);
  }

  std::size_t in_use_ = 0, planned_ = 0;
};

}}}  // namespace lamina::engine::cuda

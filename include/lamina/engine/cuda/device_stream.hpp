// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device_stream.hpp - the stream of a CUDA device, and what it has to do with
// those of other devices.
#pragma once

#include <cstddef>

// A header that has been included in its place stands for it.
#if !defined(CUDART_VERSION)
#include <cuda_runtime_api.h>
#endif

#include <lamina/core/config.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>

namespace lamina::engine::cuda {

/// What the runtime says of a failed call. It forgets the failure then, which a later launch would
/// be told of otherwise.
LAMINA_COLD inline const char* failure_text(cudaError_t found) {
  cudaGetLastError();
  return cudaGetErrorString(found);
}
/// Throws lamina::error naming the call when it failed.
LAMINA_COLD inline void fail_call(cudaError_t found, const char* call) {
  throw error(text() << "lamina: cuda: " << call << ": " << failure_text(found));
}
inline void check_call(cudaError_t found, const char* call) {
  if (found != cudaSuccess) fail_call(found, call);
}

/// One stream of a device. Of several devices each has a thread of the host, which works with it.
class device_stream {
 public:
  device_stream(const device_stream&) = delete;
  device_stream& operator=(const device_stream&) = delete;

  int number() const { return number_; }
  cudaStream_t stream() const { return stream_; }
  /// The calling thread works with this device from now on.
  void use() { check_call(cudaSetDevice(number_), "cudaSetDevice"); }
  /// Lets this device read the memory of another one itself, where the machine can; elsewhere
  /// copies go through the memory of the host.
  LAMINA_COLD void reach(const device_stream& other) {
    use();
    int can = 0;
    check_peer(cudaDeviceCanAccessPeer(&can, number_, other.number_), "cudaDeviceCanAccessPeer",
               other);
    if (can == 0) return;
    const cudaError_t found = cudaDeviceEnablePeerAccess(other.number_, 0);
    if (found == cudaErrorPeerAccessAlreadyEnabled)
      cudaGetLastError();
    else
      check_peer(found, "cudaDeviceEnablePeerAccess", other);
  }
  /// Marks what has been asked for so far, for others to wait for.
  void mark() {
    if (marked_ == nullptr)
      check_call(cudaEventCreateWithFlags(&marked_, cudaEventDisableTiming),
                 "cudaEventCreateWithFlags");
    check_call(cudaEventRecord(marked_, stream_), "cudaEventRecord");
  }
  /// What is asked for from now on follows what another device was asked for before its mark.
  void wait_for(const device_stream& other) {
    check_peer(cudaStreamWaitEvent(stream_, other.marked_, 0), "cudaStreamWaitEvent", other);
  }
  /// Copies from the memory of another device.
  void copy_from(const device_stream& other, void* to, const void* from, std::size_t bytes) {
    if (bytes != 0)
      check_peer(cudaMemcpyPeerAsync(to, number_, from, other.number_, bytes, stream_),
                 "cudaMemcpyPeerAsync", other);
  }

 protected:
  explicit device_stream(int number) : number_(number) {}
  ~device_stream() {
    if (marked_ != nullptr) cudaEventDestroy(marked_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  void create() {
    check_call(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
  }

  int number_;
  cudaStream_t stream_ = nullptr;

 private:
  void check_peer(cudaError_t found, const char* call, const device_stream& other) const {
    if (found != cudaSuccess)
      throw error(text() << "lamina: cuda: " << call << " between devices " << number_ << " and "
                         << other.number_ << ": " << failure_text(found));
  }

  cudaEvent_t marked_ = nullptr;
};

}  // namespace lamina::engine::cuda

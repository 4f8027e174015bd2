// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device_memory.hpp - memory of a CUDA device and of the host beside it, and
// copies between them, in the order of a stream or ahead of it.
#pragma once

#include <cstddef>
#include <cstring>

#include <lamina/engine/cuda/device_buffer.hpp>
#include <lamina/engine/cuda/device_stream.hpp>

namespace lamina::engine::cuda {

/// The memory of a device: what it has given, and copies on its stream or on another one beside.
class device_memory : public device_stream {
 public:
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
    // Waits for whatever still uses it.
    finish_copies();
    cudaFree(p);
    in_use_ -= bytes;
  }
  /// Memory of the host that does not move, so that copies do not wait.
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
    finish_copies();
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
  /// Copies beside the work of the stream; when take_ahead() has taken the copy before.
  void upload_ahead(void* to, const void* from, std::size_t bytes) {
    use();
    if (copies_ == nullptr) create_copies();
    check_call(cudaStreamWaitEvent(copies_, taken_, 0), "cudaStreamWaitEvent");
    if (bytes != 0)
      check_call(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, copies_),
                 "cudaMemcpyAsync to the device");
    check_call(cudaEventRecord(arrived_, copies_), "cudaEventRecord");
  }
  /// What follows may read what upload_ahead() has brought there.
  void take_ahead() {
    use();
    check_call(cudaStreamWaitEvent(stream_, arrived_, 0), "cudaStreamWaitEvent");
    check_call(cudaEventRecord(taken_, stream_), "cudaEventRecord");
  }
  void wait() { check_call(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 protected:
  using device_stream::device_stream;
  ~device_memory() {
    for (const cudaEvent_t e : {arrived_, taken_})
      if (e != nullptr) cudaEventDestroy(e);
    if (copies_ != nullptr) cudaStreamDestroy(copies_);
  }

 private:
  /// A copy ahead that no run has taken may still be on its way.
  void finish_copies() noexcept {
    // Of a failure that stays the next call is told, too.
    if (copies_ != nullptr && cudaStreamSynchronize(copies_) != cudaSuccess) cudaGetLastError();
  }
  LAMINA_COLD void create_copies() {
    for (cudaEvent_t* const e : {&arrived_, &taken_})
      if (*e == nullptr)
        check_call(cudaEventCreateWithFlags(e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check_call(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
  }
  [[noreturn]] LAMINA_COLD void fail_allocation(std::size_t bytes) {
    std::size_t free = 0, total = 0;
    cudaGetLastError();
    check_call(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    fail_memory(bytes, planned_, in_use_, free, total);
  }

  std::size_t in_use_ = 0, planned_ = 0;
  cudaStream_t copies_ = nullptr;
  cudaEvent_t arrived_ = nullptr, taken_ = nullptr;  // of what is copied ahead
};

}  // namespace lamina::engine::cuda

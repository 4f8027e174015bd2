// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/simulated/cuda_runtime_api.hpp - as much of <cuda_runtime_api.h> as
// device_backend calls, over simulated devices. A call that fails does nothing, and is what
// cudaGetLastError() tells until somebody asks.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/simulated/runtime.hpp"

#define CUDART_VERSION 13000

using cudaStream_t = test::simulated::stream*;
using cudaGraph_t = test::simulated::graph*;
using cudaGraphExec_t = test::simulated::executable*;

// Numbers and structs are those of CUDA's headers: what was compiled with them may call these.
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalState = 401,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorUnknown = 999
};
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed = 2 };
inline constexpr unsigned cudaStreamNonBlocking = 1;

namespace test::simulated {

inline thread_local cudaError_t last_error = cudaSuccess;
inline cudaError_t fail(cudaError_t e) { return last_error = e; }
/// A call begins; whether it is the one that a test lets fail.
inline bool fails(const char* call) {
  now.names.push_back(call);
  if (now.calls++ != now.failing) return false;
  now.failed = call;
  return true;
}
/// What is asked of a stream belongs to the device that the thread works with.
inline bool is_current(const stream& s) { return s.device == current_device; }

}  // namespace test::simulated

// A call that may fail on request, with this error.
#define LAMINA_TEST_CALL_FAILING(error)                   \
  const std::lock_guard guard(test::simulated::now.lock); \
  if (test::simulated::fails(__func__)) return test::simulated::fail(error)
#define LAMINA_TEST_CALL LAMINA_TEST_CALL_FAILING(cudaErrorUnknown)

inline const char* cudaGetErrorString(cudaError_t e) {
  switch (e) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorIllegalState:
      return "the operation cannot be performed in the present state";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    case cudaErrorUnknown:
      break;
  }
  return "unknown error";
}
inline cudaError_t cudaGetLastError() {
  return std::exchange(test::simulated::last_error, cudaSuccess);
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  LAMINA_TEST_CALL;
  *count = test::simulated::now.devices;
  return *count == 0 ? test::simulated::fail(cudaErrorNoDevice) : cudaSuccess;
}
inline cudaError_t cudaSetDevice(int number) {
  LAMINA_TEST_CALL;
  test::simulated::current_device = number;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* to, cudaDeviceAttr what, int) {
  LAMINA_TEST_CALL;
  *to = what == cudaDevAttrMultiProcessorCount ? test::simulated::now.processors : 227 * 1024;
  return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** to, std::size_t bytes) {
  LAMINA_TEST_CALL_FAILING(cudaErrorMemoryAllocation);
  *to = test::simulated::allocate(bytes, test::simulated::current_device);
  return *to == nullptr ? test::simulated::fail(cudaErrorMemoryAllocation) : cudaSuccess;
}
/// Waits for everything that the device was asked for, as a driver's does.
inline cudaError_t cudaFree(void* p) {
  const std::lock_guard guard(test::simulated::now.lock);
  if (p == nullptr) return cudaSuccess;
  if (const auto* a = test::simulated::find_memory(p, 0)) test::simulated::finish_device(a->device);
  test::simulated::release(p);
  return cudaSuccess;
}
inline cudaError_t cudaMallocHost(void** to, std::size_t bytes) {
  LAMINA_TEST_CALL_FAILING(cudaErrorMemoryAllocation);
  *to = std::malloc(bytes);
  std::memset(*to, 0xff, bytes);
  test::simulated::now.pinned[static_cast<char*>(*to)] = bytes;
  return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* p) {
  const std::lock_guard guard(test::simulated::now.lock);
  for (int d = 0; d < test::simulated::now.devices; ++d) test::simulated::finish_device(d);
  test::simulated::now.pinned.erase(static_cast<char*>(p));
  std::free(p);
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  LAMINA_TEST_CALL;
  *total = test::simulated::now.memory, *free = *total - test::simulated::now.in_use;
  return cudaSuccess;
}

inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t s) {
  LAMINA_TEST_CALL;
  if (test::simulated::find_memory(to, bytes) == nullptr)
    return test::simulated::fail(cudaErrorInvalidValue);
  test::simulated::add(*s, [=] { std::memset(to, value, bytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t s) {
  namespace simulated = test::simulated;
  LAMINA_TEST_CALL;
  const bool to_device = simulated::find_memory(to, bytes) != nullptr;
  const bool from_device = simulated::find_memory(from, bytes) != nullptr;
  if (to_device != (kind != cudaMemcpyDeviceToHost) ||
      from_device != (kind != cudaMemcpyHostToDevice))
    return simulated::fail(cudaErrorInvalidValue);
  const void* const on_host = kind == cudaMemcpyHostToDevice ? from : to;
  if (kind == cudaMemcpyDeviceToDevice || simulated::is_pinned(on_host, bytes)) {
    simulated::add(*s, [=] { std::memcpy(to, from, bytes); });
    return cudaSuccess;
  }
  if (s->captured != nullptr) {
    simulated::now.tell("memory of the host that may move is recorded");
    return simulated::fail(cudaErrorStreamCaptureUnsupported);
  }
  // What is not pinned has been read, or written, when the call returns.
  if (kind == cudaMemcpyHostToDevice) {
    const auto* const first = static_cast<const char*>(from);
    const auto copy = std::make_shared<std::vector<char>>(first, first + bytes);
    simulated::add(*s, [=] { std::memcpy(to, copy->data(), bytes); });
  } else {
    simulated::finish(*s);
    const simulated::device_access open;
    std::memcpy(to, from, bytes);
  }
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* to, unsigned) {
  LAMINA_TEST_CALL;
  test::simulated::now.streams.insert(*to = new test::simulated::stream{
                                          test::simulated::current_device, {}});
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t s) {
  const std::lock_guard guard(test::simulated::now.lock);
  if (s->captured != nullptr) test::simulated::now.tell("a stream is destroyed while it records");
  test::simulated::finish(*s);
  test::simulated::now.streams.erase(s);
  delete s;
  return cudaSuccess;
}
/// Nothing is on its way afterwards, whatever came of it.
inline cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  const std::lock_guard guard(test::simulated::now.lock);
  if (s->captured != nullptr) {
    s->broken = true;
    return test::simulated::fail(cudaErrorStreamCaptureUnsupported);
  }
  test::simulated::finish(*s);
  return test::simulated::fails(__func__) ? test::simulated::fail(cudaErrorUnknown) : cudaSuccess;
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
  LAMINA_TEST_CALL;
  if (s->captured != nullptr) return test::simulated::fail(cudaErrorIllegalState);
  s->captured = new test::simulated::graph;
  s->broken = false;
  test::simulated::now.graphs.insert(s->captured);
  return cudaSuccess;
}
/// Ends the recording even if the call fails.
inline cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* to) {
  const std::lock_guard guard(test::simulated::now.lock);
  *to = nullptr;
  test::simulated::graph* const g = std::exchange(s->captured, nullptr);
  if (g == nullptr) return test::simulated::fail(cudaErrorIllegalState);
  const bool requested = test::simulated::fails(__func__);
  if (s->broken || requested) {
    if (test::simulated::now.graphs.erase(g) == 1) delete g;
    return test::simulated::fail(requested ? cudaErrorUnknown : cudaErrorStreamCaptureInvalidated);
  }
  *to = g;
  return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* to, cudaGraph_t g, unsigned long long) {
  LAMINA_TEST_CALL;
  test::simulated::now.executables.insert(*to = new test::simulated::executable{*g});
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  const std::lock_guard guard(test::simulated::now.lock);
  if (test::simulated::now.graphs.erase(g) == 1) delete g;
  return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t e) {
  const std::lock_guard guard(test::simulated::now.lock);
  // What was launched of it goes on.
  test::simulated::now.executables.erase(e);
  delete e;
  return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t s) {
  LAMINA_TEST_CALL;
  if (test::simulated::now.executables.count(e) == 0 || s->captured != nullptr)
    return test::simulated::fail(cudaErrorInvalidValue);
  ++test::simulated::now.graphs_launched;
  test::simulated::add(*s, [steps = e->recorded] { test::simulated::run_graph(steps); });
  return cudaSuccess;
}

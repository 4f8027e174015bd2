// SPDX-License-Identifier: Apache-2.0
// A libcudart.so over simulated devices whose kernels are run instruction by instruction from their
// PTX: what nvcc and the host's compiler have made for a device runs as it is, without one.
//
// LAMINA_TEST_PTX names the file. LAMINA_TEST_ORDER is late (as if not set), early or random;
// LAMINA_TEST_PROCESSORS is 8 if not set; LAMINA_TEST_RACES=0 looks for no races.
// The process ends with exit code 5 when a rule was broken.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "engine/cuda/emulated/export.hpp"
#include "engine/cuda/emulated/ptx_processor.hpp"
#include "engine/cuda/simulated/cuda_runtime_api.hpp"
#include <unistd.h>

namespace test::emulated { namespace {

namespace simulated = test::simulated;

struct registered {
  std::string name;
  kernel* found = nullptr;
};
std::map<const void*, registered>& all_registered() {
  static std::map<const void*, registered> all;
  return all;
}
module& the_module() {
  static module m;
  return m;
}
std::map<std::string, int>& faults() {
  static std::map<std::string, int> all;
  return all;
}

std::string setting(const char* name, const char* usual) {
  const char* const s = std::getenv(name);
  return s == nullptr ? usual : s;
}
[[noreturn]] void stop(const std::string& why) {
  std::fflush(stdout);
  std::fprintf(stderr, "emulated device: %s\n", why.c_str());
  std::fflush(stderr);
  _exit(5);
}

/// The simulated devices, as kernels see them.
struct simulated_surroundings : surroundings {
  bool find_allocation(std::uint64_t address, char*& begin, char*& end) override {
    char* const p = reinterpret_cast<char*>(address);
    const auto within = [&](auto& map, const auto& bytes_of) {
      auto found = map.upper_bound(p);
      if (found == map.begin()) return false;
      --found;
      begin = const_cast<char*>(found->first), end = begin + bytes_of(found->second);
      return p >= begin && p < end;
    };
    return within(simulated::now.at_devices, [](const auto& a) { return a.bytes; }) ||
           within(simulated::now.pinned, [](std::size_t bytes) { return bytes; });
  }
  void tell_fault(const std::string& what) override { ++faults()[what]; }
};

machine device;

/// What is told when the process ends.
struct closing {
  ~closing() {
    std::fflush(stdout);
    std::fprintf(stderr, "emulated device: %u launches of %zu kernels\n", device.launch,
                 device.run_once.size());
    for (const auto& [what, times] : faults())
      std::fprintf(stderr, "emulated device: %s\n", what.c_str());
    if (!simulated::now.broken_rules.empty())
      std::fprintf(stderr, "emulated device: %s", simulated::now.broken_rules.c_str());
    if (!faults().empty() || !simulated::now.broken_rules.empty()) _exit(5);
  }
};

void begin() {
  static bool begun = false;
  if (begun) return;
  begun = true;
  all_registered();
  faults();
  module& m = the_module();
  const std::string names = setting("LAMINA_TEST_PTX", "");
  if (names.empty()) stop("LAMINA_TEST_PTX names no file");
  std::ifstream in(names);
  if (!in) stop("cannot read " + names);
  try {
    read_module(m, std::string(std::istreambuf_iterator<char>(in), {}));
  } catch (const std::exception& e) {
    stop(names + ": " + e.what());
  }
  const std::string order = setting("LAMINA_TEST_ORDER", "late");
  simulated::now.order = order == "early"    ? simulated::schedule::early
                         : order == "random" ? simulated::schedule::random
                                             : simulated::schedule::late;
  device.order = order == "late" ? 1 : 0;
  simulated::now.processors = std::atoi(setting("LAMINA_TEST_PROCESSORS", "8").c_str());
  simulated::now.memory = std::size_t{16} << 30;
  device.finds_races = setting("LAMINA_TEST_RACES", "1") != "0";
  static simulated_surroundings around;
  device.code = &m;
  device.around = &around;
  static closing at_end;
}

kernel* kernel_of(const void* function) {
  const auto found = all_registered().find(function);
  if (found == all_registered().end()) stop("a function is launched that is no kernel");
  registered& r = found->second;
  if (r.found == nullptr) {
    const auto k = the_module().kernels.find(r.name);
    if (k == the_module().kernels.end()) stop("the PTX has no kernel " + r.name);
    r.found = &k->second;
  }
  return r.found;
}

struct configuration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<configuration> configurations;

cudaError_t launch(kernel* k, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                   cudaStream_t s) {
  const std::lock_guard guard(simulated::now.lock);
  try {
    if (!k->decoded) decode(the_module(), *k);
  } catch (const std::exception& e) {
    stop(k->name + ": " + e.what());
  }
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > static_cast<unsigned>(k->most_threads) || shared > k->most_shared ||
      grid.x == 0 || grid.x > 0x7fffffff || grid.y == 0 || grid.y > 65535 || grid.z == 0 ||
      grid.z > 65535 || (s != nullptr && !simulated::is_current(*s)))
    return simulated::fail(cudaErrorInvalidValue);
  if (s == nullptr) stop("a kernel is launched on no stream");
  std::vector<char> memory(k->parameter_bytes);
  for (std::size_t n = 0; n < k->parameters.size(); ++n)
    std::memcpy(memory.data() + k->parameters[n].offset, arguments[n], k->parameters[n].bytes);
  simulated::add(*s, [=, memory = std::move(memory)] {
    try {
      device.run(*k, grid, block, memory, shared);
    } catch (const std::exception& e) {
      stop(e.what());
    }
  });
  return cudaSuccess;
}

}  // namespace

}  // namespace test::emulated

// The runtime's functions by the names that compiled objects call.
LAMINA_TEST_EXPORT(cudaError_t, cudaGetDeviceCount, (int* n), (n))
LAMINA_TEST_EXPORT(cudaError_t, cudaSetDevice, (int n), (n))
LAMINA_TEST_EXPORT(cudaError_t, cudaMalloc, (void** to, std::size_t n), (to, n))
LAMINA_TEST_EXPORT(cudaError_t, cudaFree, (void* p), (p))
LAMINA_TEST_EXPORT(cudaError_t, cudaMallocHost, (void** to, std::size_t n), (to, n))
LAMINA_TEST_EXPORT(cudaError_t, cudaFreeHost, (void* p), (p))
LAMINA_TEST_EXPORT(cudaError_t, cudaMemGetInfo, (std::size_t * free, std::size_t* total),
                   (free, total))
LAMINA_TEST_EXPORT(cudaError_t, cudaMemsetAsync, (void* to, int x, std::size_t n, cudaStream_t s),
                   (to, x, n, s))
LAMINA_TEST_EXPORT(cudaError_t, cudaMemcpyAsync,
                   (void* to, const void* from, std::size_t n, cudaMemcpyKind k, cudaStream_t s),
                   (to, from, n, k, s))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t * s, unsigned flags),
                   (s, flags))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamDestroy, (cudaStream_t s), (s))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamSynchronize, (cudaStream_t s), (s))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamBeginCapture, (cudaStream_t s, cudaStreamCaptureMode m),
                   (s, m))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t* g), (s, g))
LAMINA_TEST_EXPORT(cudaError_t, cudaGraphInstantiate,
                   (cudaGraphExec_t * to, cudaGraph_t g, unsigned long long flags), (to, g, flags))
LAMINA_TEST_EXPORT(cudaError_t, cudaGraphDestroy, (cudaGraph_t g), (g))
LAMINA_TEST_EXPORT(cudaError_t, cudaGraphExecDestroy, (cudaGraphExec_t e), (e))
LAMINA_TEST_EXPORT(cudaError_t, cudaGraphLaunch, (cudaGraphExec_t e, cudaStream_t s), (e, s))
LAMINA_TEST_EXPORT(cudaError_t, cudaGetLastError, (), ())

LAMINA_TEST_EXPORT(const char*, cudaGetErrorString, (cudaError_t e), (e))

extern "C" {

using test::emulated::dim3;

const char* cudaGetErrorName(cudaError_t e) { return cudaGetErrorString(e); }
cudaError_t cudaPeekAtLastError() { return test::simulated::last_error; }
cudaError_t cudaGetDevice(int* to) {
  *to = test::simulated::current_device;
  return cudaSuccess;
}
cudaError_t lamina_emulated_attribute(int* to, int what, int) __asm__("cudaDeviceGetAttribute");
cudaError_t lamina_emulated_attribute(int* to, int what, int device) {
  switch (what) {
    case cudaDevAttrMultiProcessorCount:
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return cudaDeviceGetAttribute(to, static_cast<cudaDeviceAttr>(what), device);
    case 75:
      *to = 9;
      return cudaSuccess;  // the compute capability's first number
    case 76:
      *to = 0;
      return cudaSuccess;  // and its second
    default:
      test::emulated::stop("attribute " + std::to_string(what) + " of a device is asked for");
  }
}
void** __cudaRegisterFatBinary(void*) {
  static void* handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  test::emulated::all_registered()[host] = {name, nullptr};
  test::emulated::begin();
}
cudaError_t __cudaGetKernel(test::emulated::kernel** to, const void* function) {
  *to = test::emulated::kernel_of(function);
  return cudaSuccess;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t s) {
  test::emulated::configurations.push_back({grid, block, shared, s});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                       cudaStream_t* s) {
  const auto c = test::emulated::configurations.back();
  test::emulated::configurations.pop_back();
  *grid = c.grid, *block = c.block, *shared = c.shared, *s = c.stream;
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(test::emulated::kernel* k, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t s) {
  return test::emulated::launch(k, grid, block, arguments, shared, s);
}
/// A launch with attributes: they allow a kernel to begin before the one in front of it has ended,
/// which this machine never does.
struct cudaLaunchConfig_t {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
  void* attributes;
  unsigned count;
};
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return test::emulated::launch(test::emulated::kernel_of(function), config->grid, config->block,
                                arguments, config->shared, config->stream);
}
/// As clang launches a kernel.
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t s) {
  return test::emulated::launch(test::emulated::kernel_of(function), grid, block, arguments, shared,
                                s);
}
cudaError_t cudaFuncSetAttribute(const void* function, int what, int value) {
  auto* const k = test::emulated::kernel_of(function);
  // Dynamic shared memory: 227 KiB a block, less what is static.
  if (what != 8 || value < 0 || value > 227 * 1024)
    return test::simulated::fail(cudaErrorInvalidValue);
  k->most_shared = std::max<std::size_t>(static_cast<std::size_t>(value), 48 * 1024);
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(void* to, const void* function) {
  struct {
    std::size_t shared, constant, local;
    int most_threads, registers, ptx_version, binary_version;
  } a{};
  const auto* const k = test::emulated::kernel_of(function);
  a.most_threads = k->most_threads, a.registers = 64, a.ptx_version = a.binary_version = 90;
  std::memcpy(to, &a, sizeof a);
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* to, const void* function,
                                                                   int threads, std::size_t shared,
                                                                   unsigned) {
  auto* const k = test::emulated::kernel_of(function);
  if (!k->decoded) decode(test::emulated::the_module(), *k);
  const std::size_t used = k->shared_bytes + shared + 1024;
  *to = static_cast<int>(
      std::min<std::size_t>(2048 / static_cast<unsigned>(threads), 228 * 1024 / used));
  return cudaSuccess;
}

}  // extern "C"

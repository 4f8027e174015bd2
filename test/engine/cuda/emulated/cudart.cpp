// SPDX-License-Identifier: Apache-2.0
// A libcudart.so over simulated devices whose kernels are run instruction by instruction from their
// PTX: what nvcc and the host's compiler have made for a device runs as it is, without one.
//
// LAMINA_TEST_PTX names the file. LAMINA_TEST_ORDER is late (as if not set), early or random;
// LAMINA_TEST_DEVICES is 1 if not set, LAMINA_TEST_PROCESSORS 8; LAMINA_TEST_RACES=0 looks for no
// races; LAMINA_TEST_COUNTS names a file for what each kernel did. The process ends with exit code
// 5 when a rule was broken.
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

namespace test::emulated {

namespace {

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
  void set_condition(std::uint64_t handle, bool holds) override {
    const auto found = simulated::now.conditions.find(handle);
    if (found == simulated::now.conditions.end()) stop("a condition is set that no graph has");
    found->second.value = holds ? 1 : 0;
    found->second.set = true;
  }
  /// Launches of a graph wait for those only that they follow.
  std::uint32_t begin(std::uint32_t launch) override {
    if (simulated::now.path.empty() || simulated::now.graph_runs != run_) {
      run_ = simulated::now.graph_runs;
      first_ = launch;
      places_.clear();
    }
    places_.push_back(simulated::now.path);
    return first_;
  }
  bool is_over(std::uint32_t before) override {
    return simulated::is_over_before(places_[before - first_], places_.back());
  }

 private:
  std::vector<std::vector<simulated::place_in_graph>> places_;  // by launch
  std::uint32_t first_ = 0;
  unsigned run_ = 0;
};

machine device;

void write_counts(const std::string& path) {
  std::FILE* const f = std::fopen(path.c_str(), "w");
  if (f == nullptr) stop("cannot write " + path);
  std::fprintf(f,
               "launches\tblocks\tthreads\tissued\tlanes\trequests\tsectors\tneeded_sectors\t"
               "shared_requests\twavefronts\tneeded_wavefronts\tproducts\tkernel\n");
  for (const auto& [name, c] : device.counted)
    std::fprintf(
        f, "%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%s\n",
        (unsigned long long)c.launches, (unsigned long long)c.blocks, (unsigned long long)c.threads,
        (unsigned long long)c.issued, (unsigned long long)c.lanes, (unsigned long long)c.requests,
        (unsigned long long)c.sectors, (unsigned long long)c.needed_sectors,
        (unsigned long long)c.shared_requests, (unsigned long long)c.wavefronts,
        (unsigned long long)c.needed_wavefronts, (unsigned long long)c.products, name.c_str());
  std::fclose(f);
}

/// What is told when the process ends.
struct closing {
  ~closing() {
    std::fflush(stdout);
    const std::string path = setting("LAMINA_TEST_COUNTS", "");
    if (!path.empty()) write_counts(path);
    std::size_t run = 0;
    for (const auto& [name, c] : device.counted) run += c.issued != 0;
    std::fprintf(stderr, "emulated device: %u launches of %zu kernels\n", device.kernels, run);
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
  simulated::now.devices = std::atoi(setting("LAMINA_TEST_DEVICES", "1").c_str());
  simulated::now.memory = std::size_t{16} << 30;
  device.finds_races = setting("LAMINA_TEST_RACES", "1") != "0";
  device.counts = std::getenv("LAMINA_TEST_COUNTS") != nullptr;
  static simulated_surroundings around;
  device.code = &m;
  device.around = &around;
  simulated::now.touches = [](const void* at, std::size_t bytes, bool writes) {
    device.copy(at, bytes, writes);
  };
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
  simulated::add(*s, {[=, memory = std::move(memory)] {
                        try {
                          device.run(*k, grid, block, memory, shared);
                        } catch (const std::exception& e) {
                          stop(e.what());
                        }
                      },
                      {},
                      {}});
  return cudaSuccess;
}

}  // namespace

}  // namespace test::emulated

// The runtime's functions by the names that compiled objects call.
using edges = cudaGraphEdgeData;
LAMINA_TEST_EXPORT(cudaError_t, cudaGetDeviceCount, (int* n), (n))
LAMINA_TEST_EXPORT(cudaError_t, cudaSetDevice, (int n), (n))
LAMINA_TEST_EXPORT(cudaError_t, cudaDriverGetVersion, (int* n), (n))
LAMINA_TEST_EXPORT(cudaError_t, cudaDeviceCanAccessPeer, (int* can, int a, int b), (can, a, b))
LAMINA_TEST_EXPORT(cudaError_t, cudaDeviceEnablePeerAccess, (int a, unsigned flags), (a, flags))
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
LAMINA_TEST_EXPORT(cudaError_t, cudaMemcpyPeerAsync,
                   (void* to, int a, const void* from, int b, std::size_t n, cudaStream_t s),
                   (to, a, from, b, n, s))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t * s, unsigned flags),
                   (s, flags))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamDestroy, (cudaStream_t s), (s))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamSynchronize, (cudaStream_t s), (s))
LAMINA_TEST_EXPORT(cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t * e, unsigned flags),
                   (e, flags))
LAMINA_TEST_EXPORT(cudaError_t, cudaEventDestroy, (cudaEvent_t e), (e))
LAMINA_TEST_EXPORT(cudaError_t, cudaEventRecord, (cudaEvent_t e, cudaStream_t s), (e, s))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned f),
                   (s, e, f))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamBeginCapture, (cudaStream_t s, cudaStreamCaptureMode m),
                   (s, m))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamBeginCaptureToGraph,
                   (cudaStream_t s, cudaGraph_t g, const cudaGraphNode_t* of, const edges* e,
                    std::size_t n, cudaStreamCaptureMode m),
                   (s, g, of, e, n, m))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t* g), (s, g))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamGetCaptureInfo,
                   (cudaStream_t s, cudaStreamCaptureStatus* status, unsigned long long* id,
                    cudaGraph_t* g, const cudaGraphNode_t** last, const edges** e, std::size_t* n),
                   (s, status, id, g, last, e, n))
LAMINA_TEST_EXPORT(cudaError_t, cudaStreamUpdateCaptureDependencies,
                   (cudaStream_t s, cudaGraphNode_t* of, const edges* e, std::size_t n, unsigned f),
                   (s, of, e, n, f))
LAMINA_TEST_EXPORT(cudaError_t, cudaGraphConditionalHandleCreate,
                   (cudaGraphConditionalHandle * to, cudaGraph_t g, unsigned value, unsigned flags),
                   (to, g, value, flags))
LAMINA_TEST_EXPORT(cudaError_t, cudaGraphAddNode,
                   (cudaGraphNode_t * to, cudaGraph_t g, const cudaGraphNode_t* of, const edges* e,
                    std::size_t n, cudaGraphNodeParams* p),
                   (to, g, of, e, n, p))
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
      return cudaDeviceGetAttribute(to, cudaDevAttrMultiProcessorCount, device);
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

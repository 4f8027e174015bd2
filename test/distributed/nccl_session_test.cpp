// SPDX-License-Identifier: Apache-2.0
// The calls of NCCL that add up the gradients of devices, against a stand-in of NCCL and of CUDA
// whose devices are threads. The test distributed.nccl compiles the same header with the real ones.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

// As much of <cuda_runtime_api.h> and <nccl.h> as is called. Work is done when it is asked for.
#define CUDART_VERSION 13000
#define NCCL_MAJOR 2
using cudaStream_t = void*;
using cudaError_t = int;
enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
constexpr unsigned cudaStreamNonBlocking = 1;
inline const char* cudaGetErrorString(cudaError_t) { return "an error"; }
inline cudaError_t cudaGetLastError() { return 0; }
inline cudaError_t cudaSetDevice(int) { return 0; }
inline cudaError_t cudaMalloc(void**, std::size_t) { return 1; }
inline cudaError_t cudaFree(void*) { return 1; }
inline cudaError_t cudaMallocHost(void**, std::size_t) { return 1; }
inline cudaError_t cudaFreeHost(void*) { return 1; }
inline cudaError_t cudaMemGetInfo(std::size_t*, std::size_t*) { return 1; }
inline cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) {
  return 1;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return 0; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return 0; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned) { return 0; }
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  std::memset(to, value, bytes);
  return 0;
}

struct ncclUniqueId {
  char internal[128];
};
struct simulated_communicator {
  int rank, size;
  std::vector<float> weights;  // by operation
  std::size_t destroyed = 0;
  int groups = 0, asked = 0;
};
using ncclComm_t = simulated_communicator*;
using ncclRedOp_t = std::size_t;
enum ncclResult_t { ncclSuccess = 0, ncclInvalidUsage = 5, ncclRemoteError, ncclInProgress };
struct ncclConfig_t {
  int blocking;
};
#define NCCL_CONFIG_INITIALIZER \
  { 1 }
enum ncclDataType_t { ncclFloat32 = 7 };
enum ncclScalarResidence_t { ncclScalarHostImmediate = 1 };

namespace {

test::mailbox wires;
std::mutex mutex;
int communicators = 0, operations = 0;  // that exist
thread_local int open_groups = 0;
ncclResult_t refuse = ncclSuccess;              // the result of ncclCommInitRankConfig
std::atomic<ncclResult_t> state = ncclSuccess;  // of all communicators
std::atomic<bool> stands_still = false;         // all devices

ncclResult_t everywhere(const float* from, float* to, std::size_t count, float weight, int root,
                        ncclComm_t c) {
  if (open_groups != 1) return ncclInvalidUsage;
  std::vector<float> mine(from, from + count);
  for (float& x : mine) x *= weight;
  for (int r = 0; r < c->size; ++r) wires.send(c->rank, r, mine.data(), count * sizeof(float));
  std::vector<float> sum(count);
  for (int r = 0; r < c->size; ++r) {
    const std::vector<std::byte> found = wires.receive(r, c->rank);
    if (found.size() != count * sizeof(float)) return ncclInvalidUsage;
    std::vector<float> theirs(count);
    std::memcpy(theirs.data(), found.data(), found.size());
    for (std::size_t k = 0; k < count; ++k)
      if (root < 0 || r == root) sum[k] += theirs[k];
  }
  std::copy(sum.begin(), sum.end(), to);
  return ncclSuccess;
}

}  // namespace

inline const char* ncclGetErrorString(ncclResult_t) { return "invalid usage"; }
inline ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memcpy(id->internal, "the id of rank 0", 17);
  return ncclSuccess;
}
inline ncclResult_t ncclCommInitRankConfig(ncclComm_t* c, int size, ncclUniqueId id, int rank,
                                           ncclConfig_t* config) {
  if (std::string(id.internal) != "the id of rank 0") return ncclInvalidUsage;
  if (config->blocking != 0) return ncclInvalidUsage;
  if (refuse != ncclSuccess) return refuse;
  const std::lock_guard lock(mutex);
  ++communicators;
  *c = new simulated_communicator{rank, size, {}};
  return ncclInProgress;
}
inline ncclResult_t ncclCommGetAsyncError(ncclComm_t c, ncclResult_t* found) {
  // A new communicator is ready when it has been asked.
  *found = c->asked++ == 0 ? ncclInProgress : state.load();
  return ncclSuccess;
}
inline cudaError_t cudaStreamQuery(cudaStream_t) {
  return stands_still ? cudaErrorNotReady : cudaSuccess;
}
inline ncclResult_t ncclCommAbort(ncclComm_t c) {
  const std::lock_guard lock(mutex);
  --communicators;
  delete c;
  return ncclSuccess;
}
inline ncclResult_t ncclGroupStart() { return ++open_groups, ncclSuccess; }
inline ncclResult_t ncclGroupEnd() { return --open_groups, ncclSuccess; }
inline ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* to, void* weight, ncclDataType_t,
                                             ncclScalarResidence_t, ncclComm_t c) {
  const std::lock_guard lock(mutex);
  ++operations;
  *to = c->weights.size();
  c->weights.push_back(*static_cast<float*>(weight));
  return ncclSuccess;
}
inline ncclResult_t ncclRedOpDestroy(ncclRedOp_t, ncclComm_t) {
  const std::lock_guard lock(mutex);
  --operations;
  return open_groups == 0 ? ncclSuccess : ncclInvalidUsage;
}
inline ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t,
                                  ncclRedOp_t how, ncclComm_t c, cudaStream_t) {
  return everywhere(static_cast<const float*>(from), static_cast<float*>(to), count,
                    c->weights[how], -1, c);
}
inline ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t,
                                  int root, ncclComm_t c, cudaStream_t) {
  return everywhere(static_cast<const float*>(from), static_cast<float*>(to), count, 1, root, c);
}

#include <lamina/distributed/nccl_session.hpp>

TEST_CASE("NCCL adds up weighted arrays, and a weight of 0 hides what is not a number",
          "[threads]") {
  std::map<int, std::vector<float>> first, second, same;
  test::in_ranks(3, [&](test::thread_group& w) {
    lamina::distributed::nccl_sums sums(w, 0, nullptr);
    const float rank = static_cast<float>(w.rank());
    std::vector<float> a(5, rank + 1),
        b(3, rank == 1 ? std::numeric_limits<float>::quiet_NaN() : 2), c(2, rank);
    sums.begin();
    sums.all_reduce_sum(a.data(), a.size(), 0.5f * (rank + 1));
    sums.all_reduce_sum(b.data(), b.size(), rank == 1 ? 0.0f : 0.25f);
    sums.all_reduce_sum(nullptr, 0, 1);
    sums.end();
    sums.begin();
    sums.spread(c.data(), c.size());
    sums.spread(nullptr, 0);
    sums.end();
    const std::lock_guard lock(mutex);
    first[w.rank()] = a, second[w.rank()] = b, same[w.rank()] = c;
  });
  for (int r = 0; r < 3; ++r) {
    CHECK(first[r] == std::vector<float>(5, 0.5f * (1 + 4 + 9)));
    CHECK(second[r] == std::vector<float>(3, 1.0f));
    CHECK(same[r] == std::vector<float>(2, 0.0f));
  }
  CHECK(communicators == 0);
  CHECK(operations == 0);
}

TEST_CASE("a call of NCCL that fails is named", "[threads]") {
  refuse = ncclInvalidUsage;
  int refused = 0;
  test::in_ranks(2, [&](test::thread_group& w) {
    try {
      lamina::distributed::nccl_sums sums(w, 0, nullptr);
    } catch (const lamina::error& e) {
      const std::lock_guard lock(mutex);
      refused += std::string(e.what()) ==
                 "lamina: distributed: ncclCommInitRankConfig: expected success, found: invalid "
                 "usage";
    }
  });
  refuse = ncclSuccess;
  CHECK(refused == 2);
}

namespace {

/// What the sums of `ranks` ranks throw, by rank, where `f(world, sums)` is the second step.
template <class F>
std::map<int, std::string> faults(int ranks, F&& f) {
  return test::results_in_ranks(ranks, [&](test::thread_group& w) {
    std::string found = "none";
    try {
      lamina::distributed::nccl_sums sums(w, 0, nullptr);
      sums.begin();
      sums.end();
      w.all_reduce_sum(0);  // all are here
      f(w, sums);
    } catch (const lamina::error& e) {
      found = e.what();
    }
    return found;
  });
}

}  // namespace

TEST_CASE("a rank that does not add up ends the others", "[threads]") {
  const auto found = faults(3, [](test::thread_group& w, lamina::distributed::nccl_sums& sums) {
    if (w.rank() == 1) return w.fail("the reader fails");
    sums.begin();
    sums.end();
  });
  CHECK(found.at(0) == "rank 1: the reader fails");
  CHECK(found.at(1) == "none");
  CHECK(found.at(2) == "rank 1: the reader fails");
  CHECK(communicators == 0);
}

TEST_CASE("devices that stand still end with the patience of the session", "[threads]") {
  const auto found = faults(2, [](test::thread_group& w, lamina::distributed::nccl_sums& sums) {
    stands_still = true;
    w.patience = 1000;
    sums.begin();
    sums.end();
  });
  stands_still = false;
  CHECK(found.at(0) == "expected a word, found silence");
  CHECK(found.at(1) == "expected a word, found silence");
  CHECK(communicators == 0);
}

TEST_CASE("an error that NCCL finds later is named", "[threads]") {
  const auto found = faults(2, [](test::thread_group&, lamina::distributed::nccl_sums& sums) {
    state = ncclRemoteError;
    sums.begin();
    sums.end();
  });
  state = ncclSuccess;
  for (int r = 0; r < 2; ++r)
    CHECK(found.at(r) ==
          "lamina: distributed: ncclGroupEnd: expected success, found: invalid usage");
}

// SPDX-License-Identifier: Apache-2.0
// cuBLASLt and NCCL over simulated devices, by the names that compiled objects call.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cuda/emulated/export.hpp"
#include "engine/cuda/simulated/cublasLt.hpp"

using handle = cublasLtHandle_t;
using description = cublasLtMatmulDesc_t;
using layout = cublasLtMatrixLayout_t;
using preference = cublasLtMatmulPreference_t;
LAMINA_TEST_EXPORT(const char*, cublasLtGetStatusString, (cublasStatus_t s), (s))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtCreate, (handle * to), (to))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtDestroy, (handle h), (h))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtMatmulDescCreate,
                   (description * to, cublasComputeType_t a, cudaDataType_t t), (to, a, t))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtMatmulDescDestroy, (description d), (d))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtMatmulDescSetAttribute,
                   (description d, cublasLtMatmulDescAttributes_t a, const void* x, std::size_t n),
                   (d, a, x, n))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtMatrixLayoutCreate,
                   (layout * to, cudaDataType_t t, std::uint64_t rows, std::uint64_t columns,
                    std::int64_t step),
                   (to, t, rows, columns, step))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtMatrixLayoutDestroy, (layout l), (l))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtMatmulPreferenceCreate, (preference * to), (to))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtMatmulPreferenceDestroy, (preference p), (p))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtMatmulPreferenceSetAttribute,
                   (preference p, cublasLtMatmulPreferenceAttributes_t a, const void* x,
                    std::size_t n),
                   (p, a, x, n))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtMatmulAlgoGetHeuristic,
                   (handle h, description d, layout a, layout b, layout c, layout to, preference p,
                    int most, cublasLtMatmulHeuristicResult_t* best, int* count),
                   (h, d, a, b, c, to, p, most, best, count))
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtMatmul,
                   (handle h, description d, const void* alpha, const void* left, layout a,
                    const void* right, layout b, const void* beta, const void* before, layout c,
                    void* to, layout l, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                    std::size_t bytes, cudaStream_t s),
                   (h, d, alpha, left, a, right, b, beta, before, c, to, l, algorithm, workspace,
                    bytes, s))

namespace {

struct communicator {
  int device;
};
struct request {
  const float* from;
  float* to;
  std::size_t count;
  cudaStream_t stream;
};
thread_local std::vector<request> group;
enum result { success = 0, invalid = 4 };
constexpr int of_floats = 7, sums = 0;

}  // namespace

extern "C" {

const char* ncclGetErrorString(result) { return "invalid argument"; }
result ncclCommInitAll(communicator** to, int count, const int* devices) {
  for (int i = 0; i < count; ++i) to[i] = new communicator{devices[i]};
  return success;
}
result ncclCommDestroy(communicator* c) {
  delete c;
  return success;
}
result ncclGroupStart() {
  group.clear();
  return success;
}
result ncclAllReduce(const void* from, void* to, std::size_t count, int type, int how,
                     communicator* c, cudaStream_t s) {
  const std::lock_guard guard(test::simulated::now.lock);
  for (const void* const p : {from, static_cast<const void*>(to)}) {
    const auto* const a = test::simulated::find_memory(p, count * sizeof(float));
    if (a == nullptr || a->device != c->device) return invalid;
  }
  if (type != of_floats || how != sums || s->device != c->device || s->captured != nullptr)
    return invalid;
  group.push_back({static_cast<const float*>(from), static_cast<float*>(to), count, s});
  return success;
}
/// Every device waits for the others.
result ncclGroupEnd() {
  const std::lock_guard guard(test::simulated::now.lock);
  for (const request& r : group) test::simulated::finish(*r.stream);
  const test::simulated::device_access open;
  for (std::size_t i = 0; !group.empty() && i < group[0].count; ++i) {
    float sum = 0;
    for (const request& r : group) sum += r.from[i];
    for (const request& r : group) r.to[i] = sum;
  }
  return success;
}

}  // extern "C"

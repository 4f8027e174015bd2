// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/simulated/cublasLt.hpp - as much of <cublasLt.h> as cublaslt_backend calls, over
// simulated devices: column-major products by loops, and checks of what they are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "engine/cuda/simulated/cuda_runtime_api.hpp"

#define CUBLAS_VERSION 130100

// Numbers and structs are those of the library's headers.
enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15
};
enum cublasComputeType_t {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
enum cudaDataType_t { CUDA_R_32F };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6
};
enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8
};
enum cublasLtMatrixLayoutAttribute_t {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6
};
enum cublasLtMatmulPreferenceAttributes_t {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8
};
enum cublasLtReductionScheme_t { CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2 };

namespace test::simulated {

struct matrix_layout {
  std::uint64_t rows, columns;
  std::int64_t step;
  std::int32_t batches = 1;
  std::int64_t batch_offset = 0;

  std::int64_t at(int batch, bool turned, std::uint64_t i, std::uint64_t j) const {
    const auto row = static_cast<std::int64_t>(turned ? j : i);
    return batch * batch_offset + static_cast<std::int64_t>(turned ? i : j) * step + row;
  }
  /// Of all matrices, from the first element to behind the last one.
  std::size_t bytes() const {
    return sizeof(float) *
           static_cast<std::size_t>(at(batches - 1, false, rows - 1, columns - 1) + 1);
  }
  bool operator==(const matrix_layout&) const = default;
};
struct matmul_description {
  cublasComputeType_t arithmetic;
  cublasOperation_t turned[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const float* bias = nullptr;
};
struct matmul_preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = 7, alignment[4] = {256, 256, 256, 256};
};
struct library {
  int held = 0;  // things that have not been given back
  int products = 0, with_bias = 0, with_relu = 0, with_batches = 0;
  bool knows_an_algorithm = true;
  std::uint32_t least_alignment = 16;  // that was told
  std::vector<cublasComputeType_t> arithmetic;
};
inline library cublas;

inline bool library_fails(const char* call) {
  const std::lock_guard guard(now.lock);
  return fails(call);
}
template <class T>
T* hold(T x) {
  ++cublas.held;
  return new T(x);
}
template <class T>
cublasStatus_t give_back(T* x) {
  --cublas.held;
  delete x;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace test::simulated

#define LAMINA_TEST_LIBRARY_CALL \
  if (test::simulated::library_fails(__func__)) return CUBLAS_STATUS_INTERNAL_ERROR

using cublasLtHandle_t = int*;
using cublasLtMatmulDesc_t = test::simulated::matmul_description*;
using cublasLtMatrixLayout_t = test::simulated::matrix_layout*;
using cublasLtMatmulPreference_t = test::simulated::matmul_preference*;
struct cublasLtMatmulAlgo_t {
  std::uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  cublasStatus_t state;
};

inline const char* cublasLtGetStatusString(cublasStatus_t s) {
  return s == CUBLAS_STATUS_INTERNAL_ERROR ? "CUBLAS_STATUS_INTERNAL_ERROR"
                                           : "CUBLAS_STATUS_INVALID_VALUE";
}
inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* to) {
  LAMINA_TEST_LIBRARY_CALL;
  *to = test::simulated::hold(0);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t h) { return test::simulated::give_back(h); }
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* to,
                                               cublasComputeType_t arithmetic, cudaDataType_t) {
  LAMINA_TEST_LIBRARY_CALL;
  *to = test::simulated::hold(test::simulated::matmul_description{arithmetic});
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
  return test::simulated::give_back(d);
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d,
                                                     cublasLtMatmulDescAttributes_t a,
                                                     const void* x, std::size_t bytes) {
  LAMINA_TEST_LIBRARY_CALL;
  void* const to = a == CUBLASLT_MATMUL_DESC_EPILOGUE ? static_cast<void*>(&d->epilogue)
                   : a == CUBLASLT_MATMUL_DESC_BIAS_POINTER
                       ? static_cast<void*>(&d->bias)
                       : &d->turned[a - CUBLASLT_MATMUL_DESC_TRANSA];
  if (bytes != (a == CUBLASLT_MATMUL_DESC_BIAS_POINTER ? sizeof(void*) : 4))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, x, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* to, cudaDataType_t,
                                                 std::uint64_t rows, std::uint64_t columns,
                                                 std::int64_t step) {
  LAMINA_TEST_LIBRARY_CALL;
  if (rows < 1 || columns < 1 || step < static_cast<std::int64_t>(rows))
    return CUBLAS_STATUS_INVALID_VALUE;
  *to = test::simulated::hold(test::simulated::matrix_layout{rows, columns, step});
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t l,
                                                       cublasLtMatrixLayoutAttribute_t a,
                                                       const void* x, std::size_t bytes) {
  LAMINA_TEST_LIBRARY_CALL;
  const bool counts = a == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  if (bytes != (counts ? 4 : 8)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(counts ? static_cast<void*>(&l->batches) : &l->batch_offset, x, bytes);
  return l->batches < 1 || l->batches > 65535 || l->batch_offset < 0 ? CUBLAS_STATUS_INVALID_VALUE
                                                                     : CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l) {
  return test::simulated::give_back(l);
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* to) {
  LAMINA_TEST_LIBRARY_CALL;
  *to = test::simulated::hold(test::simulated::matmul_preference{});
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
  return test::simulated::give_back(p);
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                           cublasLtMatmulPreferenceAttributes_t a,
                                                           const void* x, std::size_t bytes) {
  LAMINA_TEST_LIBRARY_CALL;
  if (bytes != (a == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? 8 : 4))
    return CUBLAS_STATUS_INVALID_VALUE;
  void* const to = a == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? static_cast<void*>(&p->workspace)
                   : a == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK
                       ? &p->reductions
                       : &p->alignment[a - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES];
  std::memcpy(to, x, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
/// Whether the sides of a product fit each other.
inline bool library_sides_fit(cublasLtMatmulDesc_t d, cublasLtMatrixLayout_t a,
                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t to) {
  const auto [m, k] =
      d->turned[0] == CUBLAS_OP_T ? std::pair(a->columns, a->rows) : std::pair(a->rows, a->columns);
  const auto [l, n] =
      d->turned[1] == CUBLAS_OP_T ? std::pair(b->columns, b->rows) : std::pair(b->rows, b->columns);
  return k == l && m == to->rows && n == to->columns && a->batches == to->batches &&
         b->batches == to->batches && (to->batches == 1 || to->batch_offset != 0);
}
/// Whether all matrices from `p` on begin at multiples of so many bytes.
inline bool library_is_aligned(const void* p, const test::simulated::matrix_layout& l,
                               std::uint64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes == 0 &&
         static_cast<std::uint64_t>(l.batch_offset) * sizeof(float) % bytes == 0;
}
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t d, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t to, cublasLtMatmulPreference_t p, int,
    cublasLtMatmulHeuristicResult_t* best, int* count) {
  LAMINA_TEST_LIBRARY_CALL;
  auto& library = test::simulated::cublas;
  if (!library_sides_fit(d, a, b, to) || !(*c == *to)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!library.knows_an_algorithm) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (const std::uint32_t n : p->alignment) {
    if (n > 16)
      test::simulated::now.tell("cuBLASLt expects arrays at multiples of more than 16 bytes");
    if (n < library.least_alignment) library.least_alignment = n;
  }
  if (p->reductions != 2) test::simulated::now.tell("cuBLASLt may add in any order");
  *best = {{{p->workspace, p->alignment[0], p->alignment[1], p->alignment[2], p->alignment[3]}},
           p->workspace,
           CUBLAS_STATUS_SUCCESS};
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t d, const void* alpha,
                                     const void* left, cublasLtMatrixLayout_t a, const void* right,
                                     cublasLtMatrixLayout_t b, const void* beta, const void* before,
                                     cublasLtMatrixLayout_t c, void* to, cublasLtMatrixLayout_t t,
                                     const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                                     std::size_t bytes, cudaStream_t s) {
  namespace simulated = test::simulated;
  LAMINA_TEST_LIBRARY_CALL;
  const std::lock_guard guard(simulated::now.lock);
  if (!library_sides_fit(d, a, b, t) || !(*c == *t) || before != to ||
      *static_cast<const float*>(beta) != 0 || bytes < algorithm->data[0] ||
      !simulated::is_current(*s))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!library_is_aligned(left, *a, algorithm->data[1]) ||
      !library_is_aligned(right, *b, algorithm->data[2]) ||
      !library_is_aligned(to, *t, algorithm->data[4]) ||
      reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0)
    simulated::now.tell("cuBLASLt is given an array that is not aligned as it was told");
  const bool has_bias = d->epilogue != CUBLASLT_EPILOGUE_DEFAULT;
  ++simulated::cublas.products;
  simulated::cublas.with_bias += has_bias;
  simulated::cublas.with_relu += d->epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  simulated::cublas.with_batches += t->batches > 1;
  simulated::cublas.arithmetic.push_back(d->arithmetic);
  const auto run = [=, factor = *static_cast<const float*>(alpha), how = *d, x = *a, y = *b,
                    z = *t] {
    struct range {
      const void* from;
      std::size_t bytes;
    };
    const range all[] = {{workspace, bytes},
                         {to, z.bytes()},
                         {left, x.bytes()},
                         {right, y.bytes()},
                         {how.bias, has_bias ? z.rows * sizeof(float) : 0}};
    for (int r = 0; r < 5; ++r) {
      const char* const from = static_cast<const char*>(all[r].from);
      if (all[r].bytes == 0) continue;
      if (simulated::find_memory(from, all[r].bytes) == nullptr)
        simulated::now.tell("cuBLASLt is given memory that is not a device's");
      for (int w = 0; w < 2; ++w) {  // what it writes
        const char* const other = static_cast<const char*>(all[w].from);
        if (r != w && from < other + all[w].bytes && other < from + all[r].bytes)
          simulated::now.tell("cuBLASLt is given memory that overlaps what it writes");
      }
    }
    // It uses what it was given.
    std::memset(workspace, 0xff, bytes);
    const bool turned[] = {how.turned[0] == CUBLAS_OP_T, how.turned[1] == CUBLAS_OP_T};
    const std::uint64_t depth = turned[0] ? x.rows : x.columns;
    for (int n = 0; n < z.batches; ++n)
      for (std::uint64_t j = 0; j < z.columns; ++j)
        for (std::uint64_t i = 0; i < z.rows; ++i) {
          float sum = 0;
          for (std::uint64_t k = 0; k < depth; ++k)
            sum += static_cast<const float*>(left)[x.at(n, turned[0], i, k)] *
                   static_cast<const float*>(right)[y.at(n, turned[1], k, j)];
          sum *= factor;
          if (has_bias) sum += how.bias[i];
          // Of NaN, too, it makes 0: forums.developer.nvidia.com/t/329783.
          if (how.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS && !(sum > 0)) sum = 0;
          static_cast<float*>(to)[z.at(n, false, i, j)] = sum;
        }
  };
  simulated::add(*s, run);
  return CUBLAS_STATUS_SUCCESS;
}

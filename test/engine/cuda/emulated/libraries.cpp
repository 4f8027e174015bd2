// SPDX-License-Identifier: Apache-2.0
// cuBLASLt over simulated devices, by the names that compiled objects call.
#include <cstddef>
#include <cstdint>

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
LAMINA_TEST_EXPORT(cublasStatus_t, cublasLtMatrixLayoutSetAttribute,
                   (layout l, cublasLtMatrixLayoutAttribute_t a, const void* x, std::size_t n),
                   (l, a, x, n))
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

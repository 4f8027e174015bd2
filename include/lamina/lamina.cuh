// SPDX-License-Identifier: Apache-2.0
// lamina/lamina.cuh - lamina.hpp, and CUDA devices on which programs can run. Include it before, or
// instead of, lamina.hpp. See docs/cuda.md for how kernels are compiled.
#pragma once

#include <lamina/core/config.hpp>

#define LAMINA_CUDA 1

#include <lamina/lamina.hpp>
#include <lamina/model/check_nan.hpp>
#include <lamina/model/device/evaluator_at_device.hpp>
#include <lamina/train/train_at_device.hpp>

// A CUDA compiler (clang++, nvcc) compiles the kernels together with the program that launches
// them. With any other compiler they stay undefined, and cmake/cuda_kernels compiles them.
#if defined(__CUDACC__) || defined(__CUDA__)
#if !defined(__clang__) && !defined(__CUDACC_RELAXED_CONSTEXPR__)
#error "lamina: compile with nvcc --expt-relaxed-constexpr: kernels call constexpr functions"
#endif
#if !__has_include(<cub/version.cuh>)
#error "lamina: found no CUB: from CUDA 13 on clang++ needs -isystem CUDA_FOLDER/include/cccl"
#endif
#include <lamina/engine/cuda/device/device_algorithms.cuh>
#include <lamina/engine/cuda/device/kernels.cuh>
#include <lamina/engine/cuda/device/transform.cuh>
#include <lamina/operators/pointwise_evaluation.hpp>
#endif

static_assert(__is_same(lamina::places, lamina::all_places),
              "lamina: include <lamina/lamina.cuh> before any other header of lamina");

// SPDX-License-Identifier: Apache-2.0
// lamina/lamina.cuh - what lamina.hpp has, and CUDA devices as places. To be included before, or
// instead of, lamina.hpp. See docs/cuda.md for how kernels are compiled.
#pragma once

#define LAMINA_CUDA 1

#include <lamina/lamina.hpp>
#include <lamina/model/evaluator_at_device.hpp>
#include <lamina/train/run_at_device.hpp>
#include <lamina/train/train_at_device.hpp>

static_assert(__is_same(lamina::places, lamina::all_places),
              "lamina: include <lamina/lamina.cuh> before any other header of lamina");

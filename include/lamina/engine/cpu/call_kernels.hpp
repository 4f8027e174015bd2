// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/call_kernels.hpp - the kernels of operators that are not fused: a list.
#pragma once

#include <lamina/engine/cpu/fill_kernels.hpp>
#include <lamina/engine/cpu/mean_kernels.hpp>
#include <lamina/engine/cpu/softmax_kernels.hpp>

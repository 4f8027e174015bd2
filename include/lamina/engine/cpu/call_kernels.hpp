// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/call_kernels.hpp - the kernels of operators that are not fused: a list.
#pragma once

#include <lamina/engine/cpu/activation_kernels.hpp>
#include <lamina/engine/cpu/array_kernels.hpp>
#include <lamina/engine/cpu/block_kernels.hpp>
#include <lamina/engine/cpu/conv_kernels.hpp>
#include <lamina/engine/cpu/crf_kernels.hpp>
#include <lamina/engine/cpu/distance_kernels.hpp>
#include <lamina/engine/cpu/dropout_kernels.hpp>
#include <lamina/engine/cpu/fill_kernels.hpp>
#include <lamina/engine/cpu/gru_kernels.hpp>
#include <lamina/engine/cpu/gru_unit_kernels.hpp>
#include <lamina/engine/cpu/join_kernels.hpp>
#include <lamina/engine/cpu/lookup_kernels.hpp>
#include <lamina/engine/cpu/loss_kernels.hpp>
#include <lamina/engine/cpu/lstm_kernels.hpp>
#include <lamina/engine/cpu/lstm_unit_kernels.hpp>
#include <lamina/engine/cpu/lstmp_kernels.hpp>
#include <lamina/engine/cpu/matmul_kernels.hpp>
#include <lamina/engine/cpu/mean_kernels.hpp>
#include <lamina/engine/cpu/metric_kernels.hpp>
#include <lamina/engine/cpu/mul_kernels.hpp>
#include <lamina/engine/cpu/norm_kernels.hpp>
#include <lamina/engine/cpu/pointwise_kernels.hpp>
#include <lamina/engine/cpu/pool_kernels.hpp>
#include <lamina/engine/cpu/print_kernels.hpp>
#include <lamina/engine/cpu/rank_table_kernels.hpp>
#include <lamina/engine/cpu/reduce_kernels.hpp>
#include <lamina/engine/cpu/reshape_kernels.hpp>
#include <lamina/engine/cpu/sequence_kernels.hpp>
#include <lamina/engine/cpu/sequence_row_kernels.hpp>
#include <lamina/engine/cpu/sequence_window_kernels.hpp>
#include <lamina/engine/cpu/softmax_kernels.hpp>
#include <lamina/engine/cpu/split_merge_kernels.hpp>
#include <lamina/engine/cpu/update_kernels.hpp>

// SPDX-License-Identifier: Apache-2.0
// lamina::compiled, part kernels: what depends on no program (docs/building.md).
// Generated: test/structure/compiled_sources.py --update writes this list.

// Declared only: other parts have the bodies.
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/memory.hpp>
#include <lamina/core/system/memory_functions.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/common/call_error.hpp>
#include <lamina/program/operator_place.hpp>

#include <lamina/core/compiles.hpp>

#include <lamina/engine/cpu/conv/conv_backward.hpp>
#include <lamina/engine/cpu/conv/conv_filter_gradient.hpp>
#include <lamina/engine/cpu/conv/conv_forward.hpp>
#include <lamina/engine/cpu/conv/conv_group.hpp>
#include <lamina/engine/cpu/conv/correlate.hpp>
#include <lamina/engine/cpu/conv/depthwise.hpp>
#include <lamina/engine/cpu/conv/filter_memory.hpp>
#include <lamina/engine/cpu/conv/grad_rows.hpp>
#include <lamina/engine/cpu/conv/spread_image.hpp>
#include <lamina/engine/cpu/conv/winograd.hpp>
#include <lamina/engine/cpu/conv/winograd_products.hpp>
#include <lamina/engine/cpu/gemm/bfloat16_gemm.hpp>
#include <lamina/engine/cpu/gemm/gemm.hpp>
#include <lamina/engine/cpu/gemm/gemm_block.hpp>
#include <lamina/engine/cpu/gemm/gemm_row_major.hpp>
#include <lamina/engine/cpu/gemm/loop_weight_gradient.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/engine/cpu/gemm/small_batch_gemm.hpp>
#include <lamina/engine/cpu/gemm/transpose.hpp>
#include <lamina/engine/cpu/memory/copy_kernels.hpp>
#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/engine/cpu/vector/row_sums.hpp>

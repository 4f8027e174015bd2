// SPDX-License-Identifier: Apache-2.0
// lamina::compiled, part engine: what depends on no program (docs/building.md).
// Generated: test/structure/compiled_sources.py --update writes this list.
#if !defined(LAMINA_COMPILED)
#error "lamina: expected -DLAMINA_COMPILED, in this file and in those of the program"
#endif

// Declared only: other parts have the bodies.
#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/common/call_error.hpp>
#include <lamina/operators/metric/sequence/common.hpp>
#include <lamina/operators/recurrent/common.hpp>
#include <lamina/operators/sequence/pool/common.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/event.hpp>

#undef LAMINA_DEFINES
#undef LAMINA_INSTANCE
#define LAMINA_DEFINES 1
#define LAMINA_INSTANCE template

#include <lamina/engine/cpu/conv/conv_group.hpp>
#include <lamina/engine/cpu/conv/depthwise.hpp>
#include <lamina/engine/cpu/conv/winograd.hpp>
#include <lamina/engine/cpu/gemm/bfloat16_gemm.hpp>
#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/schedule/bfloat16_schedule.hpp>
#include <lamina/engine/cpu/schedule/followed_groups.hpp>
#include <lamina/engine/cpu/schedule/nan_check.hpp>
#include <lamina/operators/control/array/cpu.hpp>
#include <lamina/operators/norm/batch_norm/cpu_joint.hpp>

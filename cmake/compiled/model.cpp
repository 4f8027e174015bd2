// SPDX-License-Identifier: Apache-2.0
// lamina::compiled, part model: what depends on no program (docs/building.md).
// Generated: test/structure/compiled_sources.py --update writes this list.
#if !defined(LAMINA_COMPILED)
#error "lamina: expected -DLAMINA_COMPILED, in this file and in those of the program"
#endif

// Declared only: other parts have the bodies.
#include <lamina/core/binary_file.hpp>
#include <lamina/core/checked_index.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/file.hpp>
#include <lamina/core/raw_bytes.hpp>
#include <lamina/core/text.hpp>
#include <lamina/core/threading.hpp>
#include <lamina/core/worker_pool.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/common/call_error.hpp>
#include <lamina/engine/cpu/conv/conv_group.hpp>
#include <lamina/engine/cpu/conv/depthwise.hpp>
#include <lamina/engine/cpu/conv/winograd.hpp>
#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/schedule/followed_groups.hpp>
#include <lamina/io/archive/recordio.hpp>
#include <lamina/io/archive/snappy.hpp>
#include <lamina/operators/control/array/cpu.hpp>
#include <lamina/operators/metric/sequence/common.hpp>
#include <lamina/operators/norm/batch_norm/cpu_joint.hpp>
#include <lamina/operators/recurrent/common.hpp>
#include <lamina/operators/sequence/pool/common.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/event.hpp>

#undef LAMINA_DEFINES
#undef LAMINA_INSTANCE
#define LAMINA_DEFINES 1
#define LAMINA_INSTANCE template

#include <lamina/model/any_model.hpp>
#include <lamina/model/copy_arrays.hpp>
#include <lamina/model/divided/held_tables.hpp>
#include <lamina/model/file_part.hpp>
#include <lamina/model/load_by_name.hpp>
#include <lamina/model/minibatch_position.hpp>
#include <lamina/model/run_result.hpp>
#include <lamina/model/sample_files.hpp>
#include <lamina/model/stored_arrays.hpp>
#include <lamina/model/tensor_file.hpp>
#include <lamina/reader/element_count.hpp>
#include <lamina/train/checkpoint.hpp>
#include <lamina/train/gradients/joint_parts.hpp>
#include <lamina/train/number_check.hpp>
#include <lamina/train/progress_bar.hpp>
#include <lamina/train/run.hpp>
#include <lamina/train/run_tasks.hpp>
#include <lamina/train/same_options.hpp>
#include <lamina/train/trainer_errors.hpp>
#include <lamina/train/world.hpp>
#include <lamina/train/world_calls.hpp>

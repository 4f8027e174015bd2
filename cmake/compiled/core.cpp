// SPDX-License-Identifier: Apache-2.0
// lamina::compiled, part core: what depends on no program (docs/building.md).
// Generated: test/structure/compiled_sources.py --update writes this list.

#include <lamina/core/compiles.hpp>

#include <lamina/core/arrays/checked_index.hpp>
#include <lamina/core/arrays/raw_bytes.hpp>
#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/files/file_mapping.hpp>
#include <lamina/core/files/left_files.hpp>
#include <lamina/core/files/md5.hpp>
#include <lamina/core/files/open_file.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/nearest_word.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/memory.hpp>
#include <lamina/core/system/memory_functions.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/core/system/system_functions.hpp>
#include <lamina/core/threads/threading.hpp>
#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/common/call_error.hpp>
#include <lamina/io/archive/recordio.hpp>
#include <lamina/io/archive/snappy.hpp>
#include <lamina/operators/metric/sequence/common.hpp>
#include <lamina/operators/recurrent/common.hpp>
#include <lamina/operators/sequence/pool/common.hpp>
#include <lamina/optimizer/adadelta.hpp>
#include <lamina/optimizer/adagrad.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/adamax.hpp>
#include <lamina/optimizer/adamw.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/decayed_adagrad.hpp>
#include <lamina/optimizer/event.hpp>
#include <lamina/optimizer/ftrl.hpp>
#include <lamina/optimizer/lamb.hpp>
#include <lamina/optimizer/lars_momentum.hpp>
#include <lamina/optimizer/learning_rate.hpp>
#include <lamina/optimizer/momentum.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/option_text.hpp>
#include <lamina/optimizer/proximal_adagrad.hpp>
#include <lamina/optimizer/proximal_gd.hpp>
#include <lamina/optimizer/rmsprop.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/program/operator_place.hpp>
#include <lamina/tensor/lod.hpp>
#include <lamina/tensor/lod_tensor.hpp>

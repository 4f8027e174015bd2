// SPDX-License-Identifier: Apache-2.0
// lamina::compiled, part files: what depends on no program (docs/building.md).
// Generated: test/structure/compiled_sources.py --update writes this list.

// Declared only: other parts have the bodies.
#include <lamina/core/arrays/checked_index.hpp>
#include <lamina/core/arrays/raw_bytes.hpp>
#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/files/file_mapping.hpp>
#include <lamina/core/files/left_files.hpp>
#include <lamina/core/files/open_file.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/nearest_word.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/memory.hpp>
#include <lamina/core/system/memory_functions.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/core/system/system_functions.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/model/parameters/copy_arrays.hpp>
#include <lamina/model/parameters/file_part.hpp>
#include <lamina/model/parameters/initialize.hpp>
#include <lamina/model/parameters/stored_arrays.hpp>
#include <lamina/model/parameters/tensor_file.hpp>
#include <lamina/model/sharded/model_embedding.hpp>
#include <lamina/model/training_memory.hpp>
#include <lamina/tensor/lod.hpp>
#include <lamina/tensor/lod_tensor.hpp>

#include <lamina/core/compiles.hpp>

#if __has_include(<protozero/pbf_reader.hpp>)
#include <lamina/io/model_writer.hpp>
#include <lamina/io/onnx_writer.hpp>
#endif

// SPDX-License-Identifier: Apache-2.0
// lamina::compiled, part files: what depends on no program (docs/building.md).
// Generated: test/structure/compiled_sources.py --update writes this list.

// Declared only: other parts have the bodies.
#include <lamina/core/binary_file.hpp>
#include <lamina/core/checked_index.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/file.hpp>
#include <lamina/core/left_files.hpp>
#include <lamina/core/nearest_word.hpp>
#include <lamina/core/open_file.hpp>
#include <lamina/core/raw_bytes.hpp>
#include <lamina/core/text.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/model/copy_arrays.hpp>
#include <lamina/model/file_part.hpp>
#include <lamina/model/initialize.hpp>
#include <lamina/model/sharded/model_embedding.hpp>
#include <lamina/model/stored_arrays.hpp>
#include <lamina/model/tensor_file.hpp>
#include <lamina/model/training_memory.hpp>
#include <lamina/tensor/lod.hpp>
#include <lamina/tensor/lod_tensor.hpp>

#include <lamina/core/compiles.hpp>

#if __has_include(<protozero/pbf_reader.hpp>)
#include <lamina/io/model_writer.hpp>
#include <lamina/io/onnx_writer.hpp>
#endif

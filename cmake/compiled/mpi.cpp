// SPDX-License-Identifier: Apache-2.0
// lamina::compiled, part mpi: what depends on no program (docs/building.md).
// Generated: test/structure/compiled_sources.py --update writes this list.

// Declared only: other parts have the bodies.
#include <lamina/core/arrays/raw_bytes.hpp>
#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/files/file_mapping.hpp>
#include <lamina/core/files/left_files.hpp>
#include <lamina/core/files/open_file.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/memory.hpp>
#include <lamina/core/system/memory_functions.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/core/system/system_functions.hpp>
#include <lamina/core/threads/threading.hpp>
#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/model/parameters/tensor_file.hpp>
#include <lamina/optimizer/event.hpp>
#include <lamina/optimizer/learning_rate.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/option_text.hpp>
#include <lamina/train/world.hpp>

#include <lamina/core/compiles.hpp>

#if defined(LAMINA_HAS_MPI)
#include <lamina/distributed/compiled_session.hpp>
#endif

// SPDX-License-Identifier: Apache-2.0
// lamina::compiled, part mpi: what depends on no program (docs/building.md).
// Generated: test/structure/compiled_sources.py --update writes this list.

// Declared only: other parts have the bodies.
#include <lamina/core/binary_file.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/file.hpp>
#include <lamina/core/left_files.hpp>
#include <lamina/core/open_file.hpp>
#include <lamina/core/raw_bytes.hpp>
#include <lamina/core/text.hpp>
#include <lamina/core/threading.hpp>
#include <lamina/core/worker_pool.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/model/run_result.hpp>
#include <lamina/model/tensor_file.hpp>
#include <lamina/optimizer/event.hpp>
#include <lamina/optimizer/learning_rate.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/option_text.hpp>
#include <lamina/train/world.hpp>

#include <lamina/core/compiles.hpp>

#if defined(LAMINA_HAS_MPI)
#include <lamina/distributed/compiled_session.hpp>
#endif

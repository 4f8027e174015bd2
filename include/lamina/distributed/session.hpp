// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/session.hpp - the processes of a distributed training, connected by MPI.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/distributed/session_options.hpp>
#if defined(LAMINA_HAS_MPI) && defined(LAMINA_COMPILED)
#include <lamina/distributed/compiled_session.hpp>
#elif defined(LAMINA_HAS_MPI)
#include <lamina/distributed/mpi/mpi_session.hpp>
#else
#include <lamina/distributed/single_session.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The processes of this program: an mpi_session; a compiled_session if LAMINA_COMPILED is defined;
/// a single_session if the program is compiled without LAMINA_HAS_MPI.
#if defined(LAMINA_HAS_MPI) && defined(LAMINA_COMPILED)
using session = compiled_session;
#elif defined(LAMINA_HAS_MPI)
using session = mpi_session;
#else
using session = single_session;
#endif

}}}  // namespace lamina::distributed

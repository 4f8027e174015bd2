// SPDX-License-Identifier: Apache-2.0
// The session of training in several processes, compiled once: CMake's lamina_mpi(TARGET), or this
// file by hand, with -DLAMINA_HAS_MPI -DLAMINA_MPI_COMPILED, which the program's own files get too
// (docs/distributed.md).
#include <lamina/distributed/compiled/compiled_session_body.hpp>

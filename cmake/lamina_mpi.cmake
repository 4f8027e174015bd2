# SPDX-License-Identifier: Apache-2.0
# lamina_mpi(TARGET): links a target with MPI, so that lamina::distributed::session connects the
# processes that mpirun, mpiexec or srun start. Without it a session is one process.
#
# The code of the session is one more source file of the target: the other files would take longer
# to compile with it, and it needs the options of the target.
include_guard(GLOBAL)

function(lamina_mpi target)
  if(NOT TARGET MPI::MPI_CXX)
    set(MPI_CXX_SKIP_MPICXX ON)
    find_package(MPI REQUIRED COMPONENTS CXX)
  endif()
  target_sources(${target} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/lamina_mpi.cpp")
  target_link_libraries(${target} PRIVATE MPI::MPI_CXX)
  target_compile_definitions(${target} PRIVATE LAMINA_HAS_MPI LAMINA_MPI_COMPILED)
endfunction()

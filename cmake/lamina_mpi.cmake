# SPDX-License-Identifier: Apache-2.0
# lamina_mpi(TARGET): links a target with MPI, so that lamina::distributed::session connects the
# processes that mpirun, mpiexec or srun start. Without it a session is one process.
#
# The target links lamina::compiled, and the session is compiled once too, in a library of its own
# (lamina_mpi_session). Both libraries get the compile options of the target, such as -march.
# Targets that link a library with a session get the same definitions.
include_guard(GLOBAL)
set_property(GLOBAL PROPERTY LAMINA_MPI_SOURCE "${CMAKE_CURRENT_LIST_DIR}/compiled/mpi.cpp")

function(lamina_mpi target)
  if(NOT TARGET MPI::MPI_CXX)
    set(MPI_CXX_SKIP_MPICXX ON)
    find_package(MPI REQUIRED COMPONENTS CXX)
  endif()
  if(NOT TARGET lamina_mpi_session)
    get_property(_source GLOBAL PROPERTY LAMINA_MPI_SOURCE)
    add_library(lamina_mpi_session STATIC EXCLUDE_FROM_ALL "${_source}")
    target_link_libraries(lamina_mpi_session PUBLIC lamina::compiled PRIVATE MPI::MPI_CXX)
    target_compile_definitions(lamina_mpi_session PUBLIC LAMINA_HAS_MPI)
    set_target_properties(lamina_mpi_session PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  foreach(_library IN ITEMS lamina_compiled lamina_mpi_session)
    target_compile_options(${_library} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_OPTIONS>)
  endforeach()
  # Properties, because target_link_libraries() takes no keyword where the project has used none.
  get_target_property(_type ${target} TYPE)
  if(NOT _type STREQUAL "INTERFACE_LIBRARY")
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES lamina_mpi_session)
  endif()
  # An installed library is exported without it: a project that links it calls lamina_mpi too. It
  # is exported with the definitions, so that a header with a session means the same there.
  if(NOT _type STREQUAL "EXECUTABLE")
    set_property(TARGET ${target} APPEND PROPERTY
                 INTERFACE_LINK_LIBRARIES $<BUILD_INTERFACE:lamina_mpi_session>)
    set_property(TARGET ${target} APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS
                 $<INSTALL_INTERFACE:LAMINA_HAS_MPI> $<INSTALL_INTERFACE:LAMINA_COMPILED>)
  endif()
endfunction()

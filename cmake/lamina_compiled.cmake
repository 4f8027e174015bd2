# SPDX-License-Identifier: Apache-2.0
# lamina::compiled - a static library of what depends on no program: readers and writers of files,
# messages, kernels. With it headers only declare these, so that files of a program compile faster.
#
# It is compiled in the project that links it, once, with the flags of that project: its names
# contain the instruction set, so that a library for another one is an error of the linker. Options
# that only a target has (target_compile_options(app PRIVATE -march=native)) the target
# lamina_compiled needs too. The list of sources is written by test/structure/compiled_sources.py.
include_guard(DIRECTORY)
if(TARGET lamina_compiled)
  return()
endif()
file(GLOB _lamina_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/compiled/*.cpp")
list(FILTER _lamina_sources EXCLUDE REGEX "/mpi\\.cpp$")  # lamina_mpi.cmake
add_library(lamina_compiled STATIC EXCLUDE_FROM_ALL ${_lamina_sources})
add_library(lamina::compiled ALIAS lamina_compiled)
target_link_libraries(lamina_compiled PUBLIC lamina::lamina)
target_compile_definitions(lamina_compiled PUBLIC LAMINA_COMPILED)
set_target_properties(lamina_compiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
# Without protozero the library has no writers of model files.
find_path(LAMINA_PROTOZERO protozero/pbf_reader.hpp)
if(LAMINA_PROTOZERO)
  target_include_directories(lamina_compiled SYSTEM PRIVATE "${LAMINA_PROTOZERO}")
endif()
find_path(LAMINA_NLOHMANN_JSON nlohmann/json.hpp)
if(LAMINA_NLOHMANN_JSON)
  target_include_directories(lamina_compiled SYSTEM PRIVATE "${LAMINA_NLOHMANN_JSON}")
endif()

# SPDX-License-Identifier: Apache-2.0
# lamina::io - a static library of the functions that write and read model files, for programs that
# would otherwise compile them in each file that includes lamina/io/model_files.hpp or
# lamina/io/export_onnx.hpp.
#
# It is compiled in the project that links it, once, with the flags of that project: its names
# contain the instruction set, so that a library for another one is an error of the linker. Options
# that only a target has (target_compile_options(app PRIVATE -march=native)) lamina_io needs too.
include_guard(DIRECTORY)
if(TARGET lamina_io)
  return()
endif()
find_path(LAMINA_PROTOZERO protozero/pbf_reader.hpp)
if(LAMINA_PROTOZERO)
  add_library(lamina_io STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/lamina_io.cpp")
  add_library(lamina::io ALIAS lamina_io)
  target_link_libraries(lamina_io PUBLIC lamina::lamina)
  target_compile_definitions(lamina_io PUBLIC LAMINA_IO_COMPILED)
  target_include_directories(lamina_io SYSTEM PRIVATE "${LAMINA_PROTOZERO}")
  set_target_properties(lamina_io PROPERTIES POSITION_INDEPENDENT_CODE ON)
else()
  message(STATUS "lamina: left out lamina::io: found no protozero (libprotozero-dev)")
endif()

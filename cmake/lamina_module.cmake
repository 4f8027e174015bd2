# SPDX-License-Identifier: Apache-2.0
# lamina_module(TARGET...)
#
# The sources of each TARGET may say `import lamina;`. The module is compiled once for the build.
# Needs CMake 3.28, Ninja, and clang 19 with its clang-scan-deps. All targets must be compiled for
# the same processor (CMAKE_CXX_FLAGS).
include_guard(GLOBAL)
set_property(GLOBAL PROPERTY LAMINA_MODULE_SOURCE "${CMAKE_CURRENT_LIST_DIR}/lamina_module.cppm")

function(lamina_module)
  if(CMAKE_VERSION VERSION_LESS 3.28)
    message(FATAL_ERROR "lamina_module: expected CMake 3.28 or newer, found ${CMAKE_VERSION}")
  endif()
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
    message(FATAL_ERROR "lamina_module: expected clang 19 or newer, found "
                        "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  endif()
  if(NOT TARGET lamina_module)  # compiled once for all targets
    get_property(_source GLOBAL PROPERTY LAMINA_MODULE_SOURCE)
    cmake_path(GET _source PARENT_PATH _folder)
    add_library(lamina_module STATIC EXCLUDE_FROM_ALL)
    target_sources(lamina_module PUBLIC FILE_SET CXX_MODULES BASE_DIRS "${_folder}"
                                        FILES "${_source}")
    target_link_libraries(lamina_module PUBLIC lamina::lamina)
    target_compile_features(lamina_module PUBLIC cxx_std_20)
    set_target_properties(lamina_module PROPERTIES CXX_SCAN_FOR_MODULES ON)
  endif()
  foreach(_target IN LISTS ARGN)
    target_link_libraries(${_target} PRIVATE lamina_module)
    set_target_properties(${_target} PROPERTIES CXX_SCAN_FOR_MODULES ON)
  endforeach()
endfunction()

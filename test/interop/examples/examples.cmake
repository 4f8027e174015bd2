# SPDX-License-Identifier: Apache-2.0
# The target example_cases, which is built on demand: the programs of examples/ as cases, each file
# in a namespace of its own. Left out are examples that need libraries which lamina does not, and
# those that add to lamina's namespaces.
#   cmake --build BUILD --target example_cases
#   CXX=g++ test/interop/run native BUILD/test/example_cases FOLDER
file(GLOB _examples CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" ../examples/*.cpp
     ../examples/*/*.cpp)
add_executable(example_cases EXCLUDE_FROM_ALL interop/examples/example_cases.cpp
               interop/case_writer.cpp interop/native_cases.cpp
               $<TARGET_OBJECTS:test_quick_files>)
target_link_libraries(example_cases PRIVATE lamina_development test_executors)
target_include_directories(example_cases PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")

# lamina_example_batch(NUMBER CALLS EXAMPLES...): a file with examples that writes their programs.
function(lamina_example_batch number calls)
  lamina_batch(_batch examples_${number} ${ARGN})
  set(_file "${CMAKE_CURRENT_BINARY_DIR}/batches/write_examples_${number}.cpp")
  file(CONFIGURE OUTPUT "${_file}" @ONLY CONTENT
"#include <interop/examples/example_writer.hpp>
#include \"@_batch@\"
namespace interop {
void write_examples_@number@(case_writer& to) {
@calls@}
}  // namespace interop
")
  set_source_files_properties("${_file}" PROPERTIES
                              COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  target_sources(example_cases PRIVATE "${_file}")
endfunction()

set(_number 0)
set(_part "")
set(_calls "")
set(_declared "")
set(_all "")
foreach(_example IN LISTS _examples ITEMS "")
  if(_example)
    file(STRINGS "${_example}" _other
         REGEX "^#include <(httplib|CLI|lamina/(cli|reader/kafka|lamina.cuh))|^template <>|\
^namespace (lamina|std)|kafka")
    file(READ "${_example}" _text)
    string(REPLACE ";" "," _text "${_text}")  # which separates the elements of a list
    string(REGEX MATCHALL "[^>]\nconstexpr auto [a-z0-9_]+ =[ \n]+lamina::program[(]" _programs
           "${_text}")
    if(_other OR NOT _programs)
      continue()
    endif()
    list(APPEND _part "${_example}")
    cmake_path(GET _example STEM _stem)
    string(REGEX REPLACE "^[0-9]+_" "" _stem "${_stem}")
    foreach(_program IN LISTS _programs)
      string(REGEX REPLACE ".*auto ([a-z0-9_]+) .*" "\\1" _program "${_program}")
      string(APPEND _calls
             "  write_example(to, \"${_stem}_${_program}\", ${_stem}::${_program});\n")
    endforeach()
  endif()
  list(LENGTH _part _length)
  if(_length EQUAL 6 OR (_length GREATER 0 AND NOT _example))
    lamina_example_batch(${_number} "${_calls}" ${_part})
    string(APPEND _declared
           "void write_examples_${_number}(case_writer& to);\n")
    string(APPEND _all "  write_examples_${_number}(to);\n")
    math(EXPR _number "${_number} + 1")
    set(_part "")
    set(_calls "")
  endif()
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/batches/write_examples.cpp" @ONLY CONTENT
"#include <interop/examples/example_writer.hpp>
namespace interop {
@_declared@void write_examples(case_writer& to) {
@_all@}
}  // namespace interop
")
target_sources(example_cases PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/batches/write_examples.cpp")

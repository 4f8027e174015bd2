# SPDX-License-Identifier: Apache-2.0
# The compilers and the functions of tests that read the sources or call a compiler themselves.
include(tiers.cmake)
get_property(_compile_flags TARGET lamina PROPERTY INTERFACE_COMPILE_DEFINITIONS)
list(TRANSFORM _compile_flags PREPEND -D)
find_program(LAMINA_CLANG clang++)
find_program(LAMINA_SECOND_CLANG NAMES clang++-19 clang++-22 clang++-21 clang++-20 clang++-18
             clang++-17 clang++-16)
set(_compilers "${CMAKE_CXX_COMPILER}")
foreach(_compiler IN ITEMS "${LAMINA_CLANG}" "${LAMINA_SECOND_CLANG}")
  if(_compiler)
    list(APPEND _compilers "${_compiler}")
  endif()
endforeach()
list(REMOVE_DUPLICATES _compilers)

# lamina_properties(NAME... PROPERTIES ...): set_tests_properties for the tests that this build has.
function(lamina_properties)
  set(_names "")
  foreach(_word IN LISTS ARGN)
    if(_word STREQUAL "PROPERTIES")
      break()
    endif()
    list(APPEND _names "${_word}")
  endforeach()
  list(LENGTH _names _count)
  list(SUBLIST ARGN ${_count} -1 _properties)
  foreach(_name IN LISTS _names)
    if(TEST "${_name}")
      set_tests_properties("${_name}" ${_properties})
    endif()
  endforeach()
endfunction()

# lamina_source_test(NAME SCRIPT ARGUMENTS...)
# What takes long starts first (COST), so that no test runs on alone in the end.
function(lamina_source_test name script)
  lamina_home(_here test "${name}")
  if(NOT _here)
    return()
  endif()
  set(name "${LAMINA_TEST_PREFIX}${name}")
  add_test(NAME ${name} COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/${script}"
           ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS source TIMEOUT 900)
  if(name MATCHES "headers.alone|compile_fail.precompile")
    set_tests_properties(${name} PROPERTIES COST 100)
  elseif(name MATCHES "cuda.one_file|consumer|self_contained|compile_time|compile_fail" OR
         name MATCHES "docs.(code_blocks|task_programs)$|structure.format$" OR
         name MATCHES "contributing.recipe$|planted|headers")
    set_tests_properties(${name} PROPERTIES COST 20)
  endif()
endfunction()

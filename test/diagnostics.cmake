# SPDX-License-Identifier: Apache-2.0
# What compilers say of mistakes, which is one short error, what they take for long programs, and
# what other flags change. With the other tests of sources, the default compiler is asked what it
# says, and the default clang too what it takes; the stage `clang` of test/run asks two clangs,
# which takes minutes.
include(source_test.cmake)
if(LAMINA_TEST_SOURCES)
  set(_diagnosing "${CMAKE_CXX_COMPILER}")
  set(_compiling "${CMAKE_CXX_COMPILER}")
  if(LAMINA_CLANG)
    list(APPEND _compiling "${LAMINA_CLANG}")
  endif()
elseif(LAMINA_SECOND_CLANG)
  set(_diagnosing "${CMAKE_CXX_COMPILER}" "${LAMINA_SECOND_CLANG}")
  set(_compiling "${LAMINA_SECOND_CLANG}")
else()
  message(NOTICE "lamina: left out the tests compile_fail: found no second clang (clang-19)")
  return()
endif()
list(REMOVE_DUPLICATES _diagnosing)
list(REMOVE_DUPLICATES _compiling)
list(TRANSFORM _compiling PREPEND "--compiler=" OUTPUT_VARIABLE _compiling_options)
list(TRANSFORM _diagnosing PREPEND "--compiler=" OUTPUT_VARIABLE _diagnosing_options)
lamina_source_test(compile_fail.self_test compile_fail/expect_error.py
                   --self-test ${_diagnosing_options})
lamina_source_test(compile_fail.compiler_flags compile_fail/compiler_flags.py
                   ${_diagnosing_options})
lamina_source_test(headers.warnings compile_fail/compiler_flags.py --warnings
                   ${_diagnosing_options})
set(_precompiled "${CMAKE_CURRENT_BINARY_DIR}/compile_fail")
lamina_source_test(compile_fail.precompile compile_fail/expect_error.py ${_diagnosing_options}
                   --precompile "${_precompiled}" -- ${_compile_flags})
lamina_properties(${LAMINA_TEST_PREFIX}compile_fail.precompile
                     PROPERTIES FIXTURES_SETUP precompiled)
file(GLOB_RECURSE _failing CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/compile_fail"
     compile_fail/*.fail.cpp)
# What a file with a mistake costs g++ is nearly all the headers, so that many of them are read at
# once.
math(EXPR _size "${LAMINA_TEST_BATCH} * 8")
if(LAMINA_TEST_BATCH EQUAL 1)
  set(_size 1)
endif()
list(LENGTH _failing _count)
while(_count GREATER 0)
  list(SUBLIST _failing 0 ${_size} _part)
  list(REMOVE_ITEM _failing ${_part})
  list(LENGTH _failing _count)
  list(GET _part 0 _name)
  string(REGEX REPLACE "\\.fail\\.cpp$" "" _name "${_name}")
  string(REPLACE "/" "." _name "${_name}")
  list(TRANSFORM _part PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/")
  list(LENGTH _part _others)
  math(EXPR _others "${_others} - 1")
  if(_others GREATER 0)
    string(APPEND _name ".and_${_others}_more")
  endif()
  lamina_source_test(compile_fail.${_name} compile_fail/expect_error.py ${_diagnosing_options}
                     --precompiled "${_precompiled}" ${_part} -- ${_compile_flags})
  lamina_properties(${LAMINA_TEST_PREFIX}compile_fail.${_name}
                       PROPERTIES FIXTURES_REQUIRED precompiled)
endwhile()

foreach(_compiler IN LISTS _compiling)
  cmake_path(GET _compiler FILENAME _short)
  if(_short STREQUAL "c++" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(_short g++)
  endif()
  lamina_source_test(compile_time.thousand_layers.${_short} compile_time/compile.py
                     --compiler ${_compiler}
                     thousand_layers.cpp)
  # The flag is the one that the lamina target gives to g++; clang keeps the recorded program of one
  # file (8 MB).
  set(_debug_flags "")
  if(_short STREQUAL "g++")
    set(_debug_flags -ftoplevel-reorder)
  endif()
  lamina_source_test(compile_time.debug_object.${_short} compile_time/compile.py
                     --compiler ${_compiler}
                     --object-limit 10 ../../examples/01_digits.cpp -- ${_debug_flags})
  lamina_source_test(compile_time.without_zlib.${_short} compile_time/compile.py
                     --compiler ${_compiler}
                     without_zlib.cpp)
  lamina_source_test(compile_time.warnings.${_short} compile_time/compile.py
                     --compiler ${_compiler}
                     --optimised ../../examples/01_digits.cpp
                     -- -Wall -Wextra -Wnull-dereference -Werror)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    foreach(_architecture IN ITEMS x86-64 sapphirerapids)
      lamina_source_test(compile_time.architectures.${_architecture}.${_short}
                         compile_time/compile.py
                         --compiler ${_compiler} architectures.cpp -- -O0 -march=${_architecture}
                         -Wall -Wextra -Werror)
    endforeach()
  endif()
endforeach()

lamina_source_test(self_contained.lstm_64 self_contained/check.py ${_compiling_options} --limit 40
                   --parameters 67844
                   "${CMAKE_CURRENT_SOURCE_DIR}/self_contained/lstm_64.cpp")
lamina_source_test(self_contained.lstm_64_bfloat16 self_contained/check.py ${_compiling_options}
                   --limit 40
                   --parameters 67844
                   "${CMAKE_CURRENT_SOURCE_DIR}/self_contained/lstm_64_bfloat16.cpp")
lamina_source_test(self_contained.sound self_contained/check.py ${_compiling_options} --limit 60
                   "${CMAKE_CURRENT_SOURCE_DIR}/self_contained/sound.cpp")
lamina_source_test(self_contained.lenet self_contained/check.py ${_compiling_options} --limit 60
                   --parameters 1724320
                   "${CMAKE_CURRENT_SOURCE_DIR}/self_contained/lenet.cpp")
lamina_source_test(structure.opened_names structure/check_names.py ${_compiling_options}
                   -- ${_compile_flags})
lamina_source_test(structure.macros structure/check_macros.py ${_compiling_options}
                   -- ${_compile_flags})

# Needs nvcc's headers; nothing is run.
if(NOT LAMINA_TEST_SOURCES)
  lamina_source_test(engine.cuda.one_file.clang engine/cuda/one_file/compile.py --with clang
                     --build "${CMAKE_CURRENT_BINARY_DIR}/cuda")
  lamina_properties(${LAMINA_TEST_PREFIX}engine.cuda.one_file.clang
                       PROPERTIES SKIP_RETURN_CODE 77)
endif()

# SPDX-License-Identifier: Apache-2.0
# What compilers say of mistakes: one short error. With the other tests of sources, the default
# compiler and the default clang are asked; the stage `clang` of test/run asks the second clang,
# which takes minutes for all the files.
include(source_test.cmake)
if(LAMINA_TEST_SOURCES)
  set(_diagnosing "${CMAKE_CXX_COMPILER}")
  if(LAMINA_CLANG)
    list(APPEND _diagnosing "${LAMINA_CLANG}")
  endif()
  list(REMOVE_DUPLICATES _diagnosing)
elseif(LAMINA_SECOND_CLANG)
  set(_diagnosing "${LAMINA_SECOND_CLANG}")
else()
  message(NOTICE "lamina: left out the tests compile_fail: found no second clang (clang-19)")
  return()
endif()
list(TRANSFORM _diagnosing PREPEND "--compiler=" OUTPUT_VARIABLE _diagnosing_options)
lamina_source_test(compile_fail.self_test compile_fail/expect_error.py
                   --self-test ${_diagnosing_options})
lamina_source_test(compile_fail.compiler_flags compile_fail/compiler_flags.py
                   ${_diagnosing_options})
set(_precompiled "${CMAKE_CURRENT_BINARY_DIR}/compile_fail")
lamina_source_test(compile_fail.precompile compile_fail/expect_error.py ${_diagnosing_options}
                   --precompile "${_precompiled}" -- ${_compile_flags})
set_tests_properties(${LAMINA_TEST_PREFIX}compile_fail.precompile
                     PROPERTIES FIXTURES_SETUP precompiled)
file(GLOB_RECURSE _failing CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/compile_fail"
     compile_fail/*.fail.cpp)
# What a file with a mistake costs g++ is nearly all the headers, so that many of them are read at
# once.
math(EXPR _size "${LAMINA_TEST_BATCH} * 2")
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
  set_tests_properties(${LAMINA_TEST_PREFIX}compile_fail.${_name}
                       PROPERTIES FIXTURES_REQUIRED precompiled)
endwhile()

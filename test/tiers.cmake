# SPDX-License-Identifier: Apache-2.0
# Which tests a build has: those that tiers.txt gives the home LAMINA_TEST_HOME, or all of them.
include_guard(DIRECTORY)
set(LAMINA_TEST_HOME ""
    CACHE STRING "Only the tests of this home in test/tiers.txt: default, unit or sanitize")
set(_lamina_tiers "${CMAKE_CURRENT_LIST_DIR}/tiers.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_lamina_tiers}")
file(STRINGS "${_lamina_tiers}" _lamina_homes REGEX "^(file|test) ")

# lamina_home(RESULT file|test NAME): whether this build has the unit test of a file below test/, or
# the test of a name.
function(lamina_home result kind name)
  set(${result} TRUE PARENT_SCOPE)
  if(LAMINA_TEST_HOME STREQUAL "")
    return()
  endif()
  foreach(_line IN LISTS _lamina_homes)
    if(_line MATCHES "^${kind} +([^ ]+) +([^ ]+)$")
      set(_pattern "${CMAKE_MATCH_1}")
      set(_home "${CMAKE_MATCH_2}")
      if("${name}" MATCHES "${_pattern}")
        if(NOT _home STREQUAL LAMINA_TEST_HOME)
          set(${result} FALSE PARENT_SCOPE)
        endif()
        return()
      endif()
    endif()
  endforeach()
  message(FATAL_ERROR "test/tiers.txt: expected a line for the ${kind} ${name}, found none")
endfunction()

# SPDX-License-Identifier: Apache-2.0
"""The overlay port of vcpkg, against a stand-in for vcpkg's functions: vcpkg itself downloads its
tools."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from command import run  # noqa: E402

# The functions that the port calls do what those of vcpkg do to a package of release alone.
FUNCTIONS = r"""
set(PORT lamina)
function(vcpkg_check_features)
  set(FEATURE_OPTIONS -DLAMINA_WITH_ZLIB=ON PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 a "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND cmake -G Ninja -S "${a_SOURCE_PATH}" -B "${build}" ${a_OPTIONS}
                  "-DCMAKE_CXX_COMPILER=${compiler}"
                  "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_install)
  execute_process(COMMAND cmake --install "${build}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 a "" "CONFIG_PATH" "")
  set(to "${CURRENT_PACKAGES_DIR}/share/${PORT}")
  if(a_CONFIG_PATH AND NOT a_CONFIG_PATH STREQUAL "share/${PORT}")
    file(RENAME "${CURRENT_PACKAGES_DIR}/${a_CONFIG_PATH}" "${to}")
  endif()
  file(GLOB_RECURSE targets "${to}/*.cmake")
  foreach(file IN LISTS targets)  # counts the folders up to the prefix anew
    file(READ "${file}" text)
    set(first [[get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}" PATH)]])
    set(up [[get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)]])
    string(REPLACE "${up}\n" "" text "${text}")
    string(REPLACE "${first}\n" "${first}\n${up}\n${up}\n" text "${text}")
    file(WRITE "${file}" "${text}")
  endforeach()
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 a "" "" "FILE_LIST")
  set(all "")
  foreach(file IN LISTS a_FILE_LIST)
    file(READ "${file}" text)
    string(APPEND all "${text}")
  endforeach()
  file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" "${all}")
endfunction()
"""


def install(root, compiler, folder):
    """The package that the port of a tree makes, in a new folder below the one given."""
    package, driver = folder / "vcpkg", folder / "vcpkg.cmake"
    driver.write_text(f'set(CURRENT_PACKAGES_DIR "{package}")\nset(build "{folder}/vcpkg.build")\n'
                      f'set(compiler "{compiler}")\n{FUNCTIONS}'
                      f'include("{root}/cmake/vcpkg/lamina/portfile.cmake")\n')
    run("cmake", "-P", driver)
    return package

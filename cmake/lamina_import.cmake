# SPDX-License-Identifier: Apache-2.0
# lamina_import(TARGET NAME MODEL PATH [PARAMETERS FILE] [BATCH N] [DIMS NAME=VALUE...]
#               [BLOCK N])
#
# Makes C++ of a saved model when TARGET is built: its sources may include <NAME.hpp>, which has the
# program NAME. PATH is an ONNX file, whose name ends with .onnx, a net for sound
# in a .nam file or in a .json file of RTNeural, the folder that
# save_inference_model of lamina or PaddlePaddle wrote, or the file of the program in it; FILE is
# the one with all parameters, if there is one. BATCH and DIMS are for ONNX files: the extent of a
# symbolic first dimension of inputs, and extents of other symbolic dimensions. BLOCK is the number
# of samples that one run of a net for sound processes. The parameters land
# in NAME.safetensors; the macro LAMINA_IMPORTED_NAME is its path. Needs protozero and
# nlohmann_json.
include_guard(GLOBAL)
set_property(GLOBAL PROPERTY LAMINA_IMPORT_SOURCE "${CMAKE_CURRENT_LIST_DIR}/lamina_import.cpp")

function(lamina_import target name)
  cmake_parse_arguments(PARSE_ARGV 2 _import "" "MODEL;PARAMETERS;BATCH;BLOCK" "DIMS")
  if(NOT _import_MODEL OR _import_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lamina_import: expected (${target} ${name} MODEL PATH "
                        "[PARAMETERS FILE] [BATCH N] [DIMS NAME=VALUE...] [BLOCK N]), found other "
                        "arguments: ${ARGN}")
  endif()
  cmake_path(ABSOLUTE_PATH _import_MODEL BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT EXISTS "${_import_MODEL}")
    message(FATAL_ERROR "lamina_import: expected a model, found no ${_import_MODEL}")
  endif()
  find_path(LAMINA_PROTOZERO protozero/pbf_reader.hpp)
  find_path(LAMINA_NLOHMANN_JSON nlohmann/json.hpp)
  if(NOT LAMINA_PROTOZERO OR NOT LAMINA_NLOHMANN_JSON)
    message(FATAL_ERROR "lamina_import: expected protozero and nlohmann_json, found "
                        "${LAMINA_PROTOZERO} and ${LAMINA_NLOHMANN_JSON}")
  endif()
  if(NOT TARGET lamina_importer)  # compiled once for all models
    get_property(_source GLOBAL PROPERTY LAMINA_IMPORT_SOURCE)
    add_executable(lamina_importer EXCLUDE_FROM_ALL "${_source}")
    target_link_libraries(lamina_importer PRIVATE lamina::lamina)
    # Its own speed matters little; -O3 compiles it in more than twice the time.
    target_compile_options(lamina_importer PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-O1>)
    target_include_directories(lamina_importer SYSTEM PRIVATE "${LAMINA_PROTOZERO}"
                               "${LAMINA_NLOHMANN_JSON}")
  endif()
  set(_folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_imported")
  set(_options)
  if(_import_PARAMETERS)
    list(APPEND _options --parameters "${_import_PARAMETERS}")
  endif()
  if(_import_BATCH)
    list(APPEND _options --batch "${_import_BATCH}")
  endif()
  if(_import_BLOCK)
    list(APPEND _options --block "${_import_BLOCK}")
  endif()
  foreach(_dimension IN LISTS _import_DIMS)
    list(APPEND _options --dim "${_dimension}")
  endforeach()
  if(IS_DIRECTORY "${_import_MODEL}")
    file(GLOB _files CONFIGURE_DEPENDS LIST_DIRECTORIES false "${_import_MODEL}/*")
  else()
    cmake_path(GET _import_MODEL PARENT_PATH _parent)
    file(GLOB _files CONFIGURE_DEPENDS LIST_DIRECTORIES false "${_parent}/*")
  endif()
  add_custom_command(
    OUTPUT "${_folder}/${name}.hpp" "${_folder}/${name}.safetensors" VERBATIM
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${_folder}"
    COMMAND lamina_importer "${_import_MODEL}" --out "${_folder}/${name}.hpp" --name "${name}"
            ${_options}
    DEPENDS lamina_importer ${_files} COMMENT "Making C++ of ${_import_MODEL}")
  target_sources(${target} PRIVATE "${_folder}/${name}.hpp")
  target_include_directories(${target} PRIVATE "${_folder}")
  string(TOUPPER "${name}" _upper)
  target_compile_definitions(${target} PRIVATE
                             "LAMINA_IMPORTED_${_upper}=\"${_folder}/${name}.safetensors\"")
endfunction()

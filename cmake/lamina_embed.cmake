# SPDX-License-Identifier: Apache-2.0
# lamina_embed(TARGET FILE [NAME NAME])
#
# Puts a file, such as parameters in safetensors, into the executable or library TARGET. Its sources
# may then include <NAME.hpp>, which declares
#   std::span<const std::byte> NAME();
# Without NAME, it is the name of the file without its extension. A change of the file links TARGET
# again. The bytes begin at a multiple of 64. Works with g++ and clang, on ELF systems and macOS.
include_guard(GLOBAL)

function(lamina_embed target file)
  cmake_parse_arguments(PARSE_ARGV 2 _embed "" "NAME" "")
  if(_embed_UNPARSED_ARGUMENTS OR NOT TARGET "${target}")
    message(FATAL_ERROR "lamina_embed: expected (TARGET FILE [NAME NAME]), found other arguments: "
                        "${ARGV}")
  endif()
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT _embed_NAME)
    cmake_path(GET file STEM _embed_NAME)
  endif()
  if(NOT _embed_NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "lamina_embed: expected a name of C++ after NAME, found ${_embed_NAME}")
  endif()
  # A file that another rule of the build makes does not exist yet.
  get_source_file_property(_made "${file}" GENERATED)
  if(NOT _made AND NOT EXISTS "${file}")
    message(FATAL_ERROR "lamina_embed: expected a file, found no ${file}")
  endif()
  if(file MATCHES "[\"\\\\\n]")
    message(FATAL_ERROR "lamina_embed: expected a path without quotes and backslashes, found "
                        "${file}")
  endif()
  set(_name "${_embed_NAME}")
  set(_folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded")
  file(CONFIGURE OUTPUT "${_folder}/${_name}.hpp" @ONLY CONTENT
"// The bytes of @file@.
#pragma once
#include <cstddef>
#include <span>

std::span<const std::byte> @_name@();
")
  file(CONFIGURE OUTPUT "${_folder}/${_name}.cpp" @ONLY CONTENT
"#include \"@_name@.hpp\"

// The assembler reads the file, so that the compiler does not have to. The symbols are hidden: a
// shared library and a program may embed files of the same name.
#if defined(__APPLE__)
#define LAMINA_EMBED_SECTION \".const_data\"
#define LAMINA_EMBED_HIDDEN \".private_extern \"
#define LAMINA_EMBED_SYMBOL \"_lamina_embedded_@_name@\"
#define LAMINA_EMBED_BACK \".text\"
#else
#define LAMINA_EMBED_SECTION \".pushsection .rodata\"
#define LAMINA_EMBED_HIDDEN \".hidden \"
#define LAMINA_EMBED_SYMBOL \"lamina_embedded_@_name@\"
#define LAMINA_EMBED_BACK \".popsection\"
#endif
__asm__(LAMINA_EMBED_SECTION \"\\n\"
        \".balign 64\\n\"
        \".globl \" LAMINA_EMBED_SYMBOL \"\\n\"
        LAMINA_EMBED_HIDDEN LAMINA_EMBED_SYMBOL \"\\n\"
        LAMINA_EMBED_SYMBOL \":\\n\"
        \".incbin \\\"@file@\\\"\\n\"
        \".globl \" LAMINA_EMBED_SYMBOL \"_end\\n\"
        LAMINA_EMBED_HIDDEN LAMINA_EMBED_SYMBOL \"_end\\n\"
        LAMINA_EMBED_SYMBOL \"_end:\\n\"
        \".byte 0\\n\"
        LAMINA_EMBED_BACK \"\\n\");

extern \"C\" {
[[gnu::visibility(\"hidden\")]] extern const std::byte lamina_embedded_@_name@[];
[[gnu::visibility(\"hidden\")]] extern const std::byte lamina_embedded_@_name@_end[];
}

std::span<const std::byte> @_name@() {
  return {lamina_embedded_@_name@, lamina_embedded_@_name@_end};
}
")
  set_source_files_properties("${_folder}/${_name}.cpp" PROPERTIES OBJECT_DEPENDS "${file}"
                              SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE "${_folder}/${_name}.cpp")
  target_include_directories(${target} PRIVATE "${_folder}")
  target_compile_features(${target} PRIVATE cxx_std_20)
endfunction()

# SPDX-License-Identifier: Apache-2.0
# lamina_cuda(TARGET [HEADERS FILE...] [OPTIONS NVCC_OPTION...])
#
# For an executable or shared library whose sources include <lamina/lamina.cuh>; to be called after
# its last source.
# Links the CUDA runtime and cuBLASLt. C++ sources: before the target is linked, nvcc compiles the
# kernels that its objects launch (cmake/cuda_kernels); HEADERS define your own operators or
# optimizers, OPTIONS go to nvcc, such as -arch=sm_90. Sources of CMake's language CUDA contain
# their kernels.
include_guard(GLOBAL)

function(lamina_cuda target)
  cmake_parse_arguments(PARSE_ARGV 1 _cuda "" "" "HEADERS;OPTIONS")
  get_target_property(_type ${target} TYPE)
  if(NOT _type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$")
    message(FATAL_ERROR
            "lamina_cuda: expected an executable or a shared library, found ${target}, ${_type}")
  endif()
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cudart OR NOT TARGET CUDA::cublasLt)
    message(FATAL_ERROR
            "lamina_cuda: expected a CUDA Toolkit with its runtime and cuBLASLt, found none: "
            "put its nvcc into the PATH, or set CUDAToolkit_ROOT")
  endif()
  target_link_libraries(${target} PRIVATE CUDA::cudart CUDA::cublasLt)
  get_property(_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(CUDA IN_LIST _languages)
    get_target_property(_standard ${target} CUDA_STANDARD)
    if(NOT _standard)  # by an option, for old versions of CMake know no standards of CUDA 13
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    endif()
    target_compile_options(${target}
                           PRIVATE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--expt-relaxed-constexpr>)
    # From CUDA 13 on, only nvcc finds CUB by itself.
    target_include_directories(${target} SYSTEM PRIVATE
                               "$<$<COMPILE_LANG_AND_ID:CUDA,Clang>:${CUDAToolkit_TARGET_DIR}/include/cccl>")
  endif()
  get_target_property(_sources ${target} SOURCES)
  list(FILTER _sources INCLUDE REGEX "\\.(cpp|cc|cxx|C)$")
  if(NOT _sources)
    return()
  endif()

  if(NOT CUDAToolkit_NVCC_EXECUTABLE)
    message(FATAL_ERROR "lamina_cuda: expected nvcc in the CUDA Toolkit, found none")
  endif()
  # Installed, the script is in the folder of programs.
  find_program(_script NAMES cuda_kernels lamina_cuda_kernels NO_CACHE REQUIRED NO_DEFAULT_PATH
               PATHS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}"
               "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin"
               "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../bin")
  set(_kernels "${CMAKE_CURRENT_BINARY_DIR}/${target}_cuda_kernels.o")
  list(TRANSFORM _cuda_HEADERS PREPEND "-i;")
  if(_cuda_OPTIONS)
    list(PREPEND _cuda_OPTIONS --)
  endif()
  # A command with an output would be a cycle: whatever a target links is built before its objects
  # are.
  add_custom_command(TARGET ${target}
                     PRE_LINK VERBATIM COMMAND_EXPAND_LISTS COMMENT
                     "Compiling the kernels of ${target}"
                     COMMAND "${CMAKE_COMMAND}" -E env "NVCC=${CUDAToolkit_NVCC_EXECUTABLE}"
                     "NM=${CMAKE_NM}"
                             "${_script}" -u -o "${_kernels}" ${_cuda_HEADERS}
                             "$<TARGET_OBJECTS:${target}>" ${_cuda_OPTIONS})
  target_link_options(${target} PRIVATE "${_kernels}")
endfunction()

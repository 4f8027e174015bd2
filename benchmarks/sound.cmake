# SPDX-License-Identifier: Apache-2.0
# The rows A1 to A5: nets for sound. LAMINA_RTNEURAL and LAMINA_NAM are folders with the sources of
# RTNeural and NeuralAmpModelerCore, which contain the files of the nets; benchmarks/run sets them.
set(LAMINA_RTNEURAL "" CACHE PATH "The sources of RTNeural, for benchmarks/run")
set(LAMINA_NAM "" CACHE PATH "The sources of NeuralAmpModelerCore, for benchmarks/run")
find_path(EIGEN_INCLUDE Eigen/Dense PATH_SUFFIXES eigen3)

function(_lamina_net_for_sound name file block)
  add_executable(workload_${name} EXCLUDE_FROM_ALL workloads/sound/net.cpp)
  target_compile_definitions(workload_${name} PRIVATE "WORKLOAD_NAME=\"${name}\"")
  target_link_libraries(workload_${name} PRIVATE lamina_development)
  lamina_import(workload_${name} net MODEL "${file}" BLOCK ${block})
endfunction()

if(EXISTS "${LAMINA_RTNEURAL}/RTNeural/RTNeural.h")
  _lamina_net_for_sound(A1 "${LAMINA_RTNEURAL}/models/lstm.json" 1)
  _lamina_net_for_sound(A2 "${LAMINA_RTNEURAL}/models/gru.json" 1)
  _lamina_net_for_sound(A3 "${LAMINA_RTNEURAL}/models/conv.json" 64)
  _lamina_net_for_sound(A3s "${LAMINA_RTNEURAL}/models/conv.json" 1)
  # RTNeural needs the version of xsimd in its submodule, which is newer than that of Debian 12.
  find_path(XSIMD_INCLUDE xsimd/xsimd.hpp PATHS "${LAMINA_RTNEURAL}/modules/xsimd/include"
            NO_DEFAULT_PATH)
  # The options of RTNeural's own RTNEURAL_USE_AVX.
  foreach(_backend IN ITEMS EIGEN XSIMD)
    if(NOT ${_backend}_INCLUDE)
      continue()
    endif()
    string(TOLOWER "peer_rtneural_${_backend}" _target)
    add_executable(${_target} EXCLUDE_FROM_ALL peers/rtneural.cpp)
    target_compile_features(${_target} PRIVATE cxx_std_20)
    target_compile_options(${_target} PRIVATE -w $<$<BOOL:${LAMINA_NATIVE}>:-mavx2 -mfma>)
    target_compile_definitions(
      ${_target}
      PRIVATE RTNEURAL_USE_${_backend}=1 RTNEURAL_AVX_ENABLED=1 RTNEURAL_DEFAULT_ALIGNMENT=32
              "RTNEURAL_MODELS=\"${LAMINA_RTNEURAL}/models/\"")
    target_include_directories(
      ${_target} SYSTEM PRIVATE "${LAMINA_RTNEURAL}" "${LAMINA_RTNEURAL}/modules/json"
                                "${${_backend}_INCLUDE}")
  endforeach()
endif()

if(EXISTS "${LAMINA_NAM}/NAM/get_dsp.h")
  _lamina_net_for_sound(A1n "${LAMINA_NAM}/example_models/lstm.nam" 1)
  _lamina_net_for_sound(A4 "${LAMINA_NAM}/example_models/wavenet_a1_standard.nam" 64)
  _lamina_net_for_sound(A5 "${LAMINA_NAM}/example_models/A2.nam" 64)
  if(EIGEN_INCLUDE)
    file(GLOB _nam_sources CONFIGURE_DEPENDS "${LAMINA_NAM}/NAM/*.cpp"
         "${LAMINA_NAM}/NAM/wavenet/*.cpp")
    add_executable(peer_nam EXCLUDE_FROM_ALL peers/nam.cpp ${_nam_sources})
    target_compile_features(peer_nam PRIVATE cxx_std_20)
    target_compile_options(peer_nam PRIVATE -w -Ofast $<$<BOOL:${LAMINA_NATIVE}>:-march=native>)
    target_compile_definitions(peer_nam PRIVATE NAM_SAMPLE_FLOAT NAM_ENABLE_A2_FAST
                                                "NAM_MODELS=\"${LAMINA_NAM}/example_models\"")
    target_include_directories(
      peer_nam SYSTEM PRIVATE "${LAMINA_NAM}" "${LAMINA_NAM}/Dependencies/nlohmann"
                              "${EIGEN_INCLUDE}")
  endif()
endif()

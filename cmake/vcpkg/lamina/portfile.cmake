# SPDX-License-Identifier: Apache-2.0
# An overlay port of the tree that it lies in: vcpkg install lamina --overlay-ports=cmake/vcpkg
set(VCPKG_BUILD_TYPE release)  # headers alone
# lamina.pc links no library but the threads of the system, so it is right in share/.
set(VCPKG_POLICY_SKIP_PKGCONFIG_CHECK enabled)
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS FEATURES zlib LAMINA_WITH_ZLIB)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
                      OPTIONS -DLAMINA_BUILD_TESTS=OFF -DLAMINA_BUILD_EXAMPLES=OFF
                      -DLAMINA_BUILD_BENCHMARKS=OFF
                      "-DLAMINA_INSTALL_CMAKEDIR=share/${PORT}" ${FEATURE_OPTIONS})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup()
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE"
                        "${SOURCE_PATH}/include/lamina/dataset/DIGITS_LICENSE.md")

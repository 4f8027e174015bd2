# SPDX-License-Identifier: Apache-2.0
# Tests that read the sources or call a compiler themselves.
include(source_test.cmake)

lamina_source_test(structure.layers structure/check_layers.py)
lamina_source_test(structure.layers_self_test structure/check_layers.py --self-test)
lamina_source_test(structure.calls structure/check_calls.py)
lamina_source_test(structure.calls_self_test structure/check_calls.py --self-test)
lamina_source_test(structure.names structure/check_names.py)
lamina_source_test(structure.names_self_test structure/check_names.py --self-test)
lamina_source_test(structure.facts structure/check_facts.py)
lamina_source_test(structure.facts_self_test structure/check_facts.py --self-test)
lamina_source_test(structure.headers structure/check_headers.py)
lamina_source_test(structure.headers_self_test structure/check_headers.py --self-test)
lamina_source_test(structure.tests structure/check_tests.py)
lamina_source_test(structure.tests_self_test structure/check_tests.py --self-test)
set(_complete "")
if(LAMINA_TEST_HOME STREQUAL "" AND NOT LAMINA_TEST_TAG)
  set(_complete --build "${CMAKE_BINARY_DIR}")
endif()
lamina_source_test(structure.tiers structure/check_tiers.py ${_complete})
lamina_source_test(structure.tiers_self_test structure/check_tiers.py --self-test)
lamina_source_test(structure.macros_self_test structure/check_macros.py --self-test)
lamina_source_test(structure.operator_lists structure/operator_lists.py)
lamina_source_test(structure.operator_lists_self_test structure/operator_lists.py --self-test)
lamina_source_test(structure.compiled_sources structure/compiled_sources.py)
lamina_source_test(structure.compiled_sources_self_test structure/compiled_sources.py --self-test)
lamina_source_test(structure.format structure/check_format.py
                   --build "${CMAKE_CURRENT_BINARY_DIR}/format")
lamina_source_test(structure.format_self_test structure/check_format.py --self-test)
# The one command before a commit has all checks that need no build.
lamina_source_test(structure.check_self_test ../tools/check --self-test)
lamina_properties(${LAMINA_TEST_PREFIX}structure.format PROPERTIES SKIP_RETURN_CODE 77)
lamina_source_test(docs.errors docs/check_errors.py)
lamina_source_test(docs.errors_self_test docs/check_errors.py --self-test)
lamina_source_test(docs.links docs/check_links.py)
lamina_source_test(docs.links_self_test docs/check_links.py --self-test)
lamina_source_test(docs.layers docs/layer_page.py)
lamina_source_test(docs.layers_self_test docs/layer_page.py --self-test)
lamina_source_test(docs.v2 docs/v2_page.py)
lamina_source_test(docs.v2_self_test docs/v2_page.py --self-test)
lamina_source_test(docs.coverage docs/coverage_page.py)
lamina_source_test(docs.coverage_self_test docs/coverage_page.py --self-test)
lamina_source_test(docs.code_blocks_self_test docs/code_blocks.py --self-test)
lamina_source_test(docs.excerpts docs/code_blocks.py excerpts)
lamina_source_test(docs.navigation docs/check_site.py navigation)
lamina_source_test(docs.reference_self_test docs/reference.py --self-test)
lamina_source_test(docs.site docs/check_site.py --build "${CMAKE_CURRENT_BINARY_DIR}/site")
lamina_source_test(docs.site_pages_self_test ../tools/site --self-test)
lamina_source_test(docs.site_self_test docs/check_site.py --self-test)
lamina_properties(${LAMINA_TEST_PREFIX}docs.site PROPERTIES SKIP_RETURN_CODE 77)
lamina_source_test(docs.peer_names docs/peer_names.py)
lamina_source_test(docs.peer_names_self_test docs/peer_names.py --self-test)
lamina_source_test(docs.operators interop/operator_table.py page)
lamina_source_test(docs.operators_self_test interop/operator_table.py self-test)

# Cells of C++ that an interpreter compiles one by one.
lamina_source_test(interpreter.cells interpreter/cells.py ${_compile_flags})
lamina_properties(${LAMINA_TEST_PREFIX}interpreter.cells PROPERTIES SKIP_RETURN_CODE 77)
lamina_source_test(interpreter.cells_self_test interpreter/cells.py --self-test)

# Programs and unit tests for other systems.
lamina_source_test(platforms.windows platforms/run.py windows)
lamina_source_test(platforms.macos platforms/run.py macos macos-x86)
lamina_properties(${LAMINA_TEST_PREFIX}platforms.windows ${LAMINA_TEST_PREFIX}platforms.macos
                  PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3600 RUN_SERIAL ON)
lamina_source_test(platforms.run_self_test platforms/run.py --self-test)

lamina_source_test(train.curves_page train/curves_page.py --compiler "${CMAKE_CXX_COMPILER}"
                   -- ${_compile_flags})

# What examples cost a compiler does not grow unnoticed.
lamina_source_test(compile_time.budget ../benchmarks/compile_time.py --budget
                   --compiler "${CMAKE_CXX_COMPILER}")
lamina_source_test(compile_time.budget_self_test ../benchmarks/compile_budget.py --self-test)

# The recipe of CONTRIBUTING.md for an operator, followed.
set(_recipe_compiler "${CMAKE_CXX_COMPILER}")
if(LAMINA_CLANG)
  set(_recipe_compiler "${LAMINA_CLANG}")
endif()
set(_catch "")
set(_catch_flags "")
if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  set(_catch --catch $<TARGET_FILE:Catch2::Catch2WithMain> --catch $<TARGET_FILE:Catch2::Catch2>)
  set(_catch_flags "-I${CMAKE_CURRENT_BINARY_DIR}")
endif()
lamina_source_test(contributing.recipe contributing/recipe.py --compiler ${_recipe_compiler}
                   ${_catch}
                   --build "${CMAKE_CURRENT_BINARY_DIR}/contributing" -- ${_compile_flags}
                   ${_catch_flags})
lamina_source_test(contributing.recipe_self_test contributing/recipe.py --self-test)

# Faults that were once in the library, each found by a unit test again.
set(_planted planted/planted_faults.py --compiler ${_recipe_compiler} ${_catch})
lamina_source_test(planted.faults ${_planted} --build "${CMAKE_CURRENT_BINARY_DIR}/planted/faults"
                   -- ${_compile_flags} ${_catch_flags})
lamina_source_test(planted.faults_self_test ${_planted} --self-test
                   --build "${CMAKE_CURRENT_BINARY_DIR}/planted/self_test"
                   -- ${_compile_flags} ${_catch_flags})

# One compiler is enough, for what a header includes does not depend on it; clang takes a third of
# g++'s time.
set(_compiler "${CMAKE_CXX_COMPILER}")
if(LAMINA_CLANG)
  set(_compiler "${LAMINA_CLANG}")
endif()
file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/headers")
lamina_source_test(headers.alone headers/compile_alone.py --compiler ${_compiler}
                   --precompile "${CMAKE_CURRENT_BINARY_DIR}/headers"
                   --stamps "${CMAKE_CURRENT_BINARY_DIR}/headers.json" -- ${_compile_flags})
lamina_properties(${LAMINA_TEST_PREFIX}headers.alone PROPERTIES PROCESSORS 2 TIMEOUT 1800)
if(LAMINA_CLANG)
  lamina_source_test(headers.object_size headers/object_size.py --compiler ${LAMINA_CLANG}
                     -- ${_compile_flags})
  lamina_source_test(headers.object_size_self_test headers/object_size.py --compiler ${LAMINA_CLANG}
                     --self-test -- ${_compile_flags})
endif()

# What a page shows compiles.
lamina_source_test(docs.code_blocks docs/code_blocks.py compile --compiler "${CMAKE_CXX_COMPILER}"
                   --build "${CMAKE_CURRENT_BINARY_DIR}/code_blocks" -- ${_compile_flags})
# What the pages docs/task_*.md say that their programs print.
lamina_source_test(docs.task_programs docs/code_blocks.py run --compiler "${CMAKE_CXX_COMPILER}"
                   --build "${CMAKE_CURRENT_BINARY_DIR}/task_programs" -- ${_compile_flags})
lamina_source_test(docs.reference docs/reference_examples.py --compiler "${CMAKE_CXX_COMPILER}"
                   --build "${CMAKE_CURRENT_BINARY_DIR}/reference" -- ${_compile_flags})
lamina_source_test(docs.reference_examples_self_test docs/reference_examples.py --self-test)

# Need nvcc; nothing is run. The stage `emulated` runs kernels.
lamina_source_test(engine.cuda.one_file.nvcc engine/cuda/one_file/compile.py --with nvcc
                   --build "${CMAKE_CURRENT_BINARY_DIR}/cuda")
lamina_source_test(consumer.cuda consumer/consume_cuda.py --build "${CMAKE_BINARY_DIR}")
set(_cuda_tests engine.cuda.one_file.nvcc consumer.cuda)
list(TRANSFORM _cuda_tests PREPEND "${LAMINA_TEST_PREFIX}")
lamina_properties(${_cuda_tests} PROPERTIES SKIP_RETURN_CODE 77)

lamina_source_test(consumer.find_package consumer/consume.py --build "${CMAKE_BINARY_DIR}"
                   --how find_package)
lamina_source_test(consumer.add_subdirectory consumer/consume.py --build "${CMAKE_BINARY_DIR}"
                   --how add_subdirectory)

lamina_source_test(consumer.cmake_ways consumer/cmake_ways.py --compiler "${CMAKE_CXX_COMPILER}"
                   --quick "${_compiler}")
lamina_source_test(consumer.single_header consumer/single_header.py
                   --compiler "${CMAKE_CXX_COMPILER}")
lamina_properties(${LAMINA_TEST_PREFIX}consumer.single_header PROPERTIES TIMEOUT 1800)
lamina_source_test(consumer.module consumer/module.py
                   --build "${CMAKE_CURRENT_BINARY_DIR}/module")
lamina_source_test(consumer.packages consumer/packages.py --compiler "${CMAKE_CXX_COMPILER}")
lamina_source_test(consumer.packages_self_test consumer/packages.py --self-test
                   --compiler "${CMAKE_CXX_COMPILER}")
set(_conan --compiler "${CMAKE_CXX_COMPILER}" --build "${CMAKE_CURRENT_BINARY_DIR}/conan")
lamina_source_test(consumer.conan consumer/conan_create.py ${_conan})
lamina_source_test(consumer.conan_self_test consumer/conan_create.py --self-test ${_conan})
lamina_source_test(consumer.release consumer/release.py
                   --build "${CMAKE_CURRENT_BINARY_DIR}/release")
set(_conan_tests consumer.conan consumer.conan_self_test consumer.module consumer.release)
list(TRANSFORM _conan_tests PREPEND "${LAMINA_TEST_PREFIX}")
lamina_properties(${_conan_tests} PROPERTIES SKIP_RETURN_CODE 77)
lamina_source_test(consumer.compiled_digits consumer/compiled_examples.py
                   --compiler "${CMAKE_CXX_COMPILER}" --optimise=-O0 digits)
lamina_source_test(consumer.compiled_examples consumer/compiled_examples.py
                   --compiler "${CMAKE_CXX_COMPILER}")
lamina_properties(${LAMINA_TEST_PREFIX}consumer.compiled_examples PROPERTIES TIMEOUT 3600)
lamina_source_test(consumer.mixed_self_test consumer/mixed.py --self-test)
list(SUBLIST _compilers 0 2 _two)  # a g++ and a clang++, where there are both
foreach(_compiler IN LISTS _two)
  cmake_path(GET _compiler FILENAME _name)
  lamina_source_test(consumer.mixed.${_name} consumer/mixed.py --compiler "${_compiler}")
  lamina_properties(${LAMINA_TEST_PREFIX}consumer.mixed.${_name}
                       PROPERTIES SKIP_RETURN_CODE 77)
endforeach()

# The program that README.md shows first must compile and run.
set(_readme "${PROJECT_SOURCE_DIR}/README.md")
lamina_home(_here test docs.readme)
if(_here AND EXISTS "${_readme}")
  set(_cpp "${CMAKE_CURRENT_BINARY_DIR}/readme_example.cpp")
  add_custom_command(OUTPUT "${_cpp}" DEPENDS "${_readme}" docs/code_blocks.py VERBATIM
                     COMMAND Python3::Interpreter
                     -B "${CMAKE_CURRENT_SOURCE_DIR}/docs/code_blocks.py" main
                             "${_readme}" "${_cpp}")
  add_executable(readme_example "${_cpp}")
  target_link_libraries(readme_example PRIVATE lamina_development)
  add_test(NAME ${LAMINA_TEST_PREFIX}docs.readme COMMAND readme_example)
  lamina_properties(${LAMINA_TEST_PREFIX}docs.readme PROPERTIES LABELS example TIMEOUT 600)
endif()

# Other processors, in emulators.
lamina_source_test(platforms.wasm platforms/run.py -j 1 wasm wasm-scalar)
lamina_source_test(platforms.browser platforms/browser.py)
lamina_source_test(platforms.embedded platforms/run.py -j 1 cortex-m4 cortex-m55)
lamina_source_test(platforms.arm platforms/run.py -j 1 arm)
lamina_source_test(platforms.riscv platforms/run.py -j 1 riscv riscv-v)
lamina_source_test(platforms.processors platforms/run.py -j 1 i386 s390x)
foreach(_platform IN ITEMS wasm browser embedded arm riscv processors)
  lamina_properties(${LAMINA_TEST_PREFIX}platforms.${_platform} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()

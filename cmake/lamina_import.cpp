// SPDX-License-Identifier: Apache-2.0
// The program that lamina_import of lamina_import.cmake runs.
#include <lamina/cli/import_main.hpp>

int main(int argc, char** argv) { return lamina::import_main(argc, argv); }

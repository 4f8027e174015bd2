// SPDX-License-Identifier: Apache-2.0
// interop_cases write FOLDER: writes all cases for compare_paddle.py and the others.
// interop_cases run FOLDER DIFFERENCES: runs what save_paddle.py saved.
// interop_cases native FOLDER: writes native.cpp with the cases of FOLDER as C++.
// interop_cases import MODEL --out HEADER ...: the command import of import_main.hpp.
// interop_cases operators: prints all operators of the library, for operator_table.py.
#include <cstdio>
#include <exception>
#include <string_view>

#include <interop/case_writer.hpp>
#include <interop/native_cases.hpp>
#include <interop/operator_list.hpp>
#include <interop/run_saved.hpp>

#include <lamina/cli/import_main.hpp>

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  try {
    if (what == "operators" && argc == 2) return interop::print_operators();
    if (what == "native" && argc == 3) return interop::write_native_cases(argv[2]);
    if (what == "import") return lamina::import_main(argc - 1, argv + 1);
    if (what == "run" && argc == 4) return interop::run_saved(argv[2], argv[3]);
    if (what == "write" && argc == 3) {
      interop::case_writer to(argv[2]);
      interop::write_pointwise_cases(to);
      interop::write_row_cases(to);
      interop::write_image_cases(to);
      interop::write_sequence_cases(to);
      interop::write_array_cases(to);
      to.without_edges();  // loops need not end there
      interop::write_net_cases(to);
      interop::write_training_cases(to);
      std::printf("%d cases\n", to.count());
      return 0;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "interop_cases: %s\n", e.what());
    return 1;
  }
  std::fputs(
      "usage: interop_cases (write FOLDER | run FOLDER DIFFERENCES | native FOLDER | "
      "import ARGUMENTS | operators)\n",
      stderr);
  return 2;
}

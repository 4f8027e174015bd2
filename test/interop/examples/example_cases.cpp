// SPDX-License-Identifier: Apache-2.0
// example_cases write FOLDER: writes the programs of examples/ as cases.
// example_cases native FOLDER: writes native.cpp with these cases as C++.
#include <cstdio>
#include <exception>
#include <string_view>

#include <interop/examples/example_writer.hpp>
#include <interop/native_cases.hpp>

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  try {
    if (what == "native") return interop::write_native_cases(argv[2]);
    if (what == "write") {
      interop::case_writer to(argv[2]);
      to.without_edges();
      interop::write_examples(to);
      std::printf("%d cases\n", to.count());
      return 0;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "example_cases: %s\n", e.what());
    return 1;
  }
  std::fputs("usage: example_cases (write FOLDER | native FOLDER)\n", stderr);
  return 2;
}

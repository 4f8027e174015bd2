// SPDX-License-Identifier: Apache-2.0
// write_cases FOLDER: writes all cases for compare_paddle.py.
#include <cstdio>
#include <exception>

#include <interop/case_writer.hpp>

template class lamina::basic_executor<float>;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_cases FOLDER\n", stderr);
    return 2;
  }
  try {
    interop::case_writer to(argv[1]);
    interop::write_pointwise_cases(to);
    interop::write_row_cases(to);
    interop::write_sequence_cases(to);
    interop::write_net_cases(to);
    std::printf("%d cases\n", to.count());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "write_cases: %s\n", e.what());
    return 1;
  }
}

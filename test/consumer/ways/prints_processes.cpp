// SPDX-License-Identifier: Apache-2.0
// A program that links a library with a session, and names neither lamina nor MPI itself.
#include "session_in_header.hpp"

int main(int argc, char** argv) {
  const processes all(argc, argv);
  all.print();
}

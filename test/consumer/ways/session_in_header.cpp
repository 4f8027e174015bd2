// SPDX-License-Identifier: Apache-2.0
// A library that has a session.
#include "session_in_header.hpp"

#include <cstdio>

processes::processes(int& argc, char**& argv) : world(argc, argv) {}

void processes::print() const { std::printf("%d/%d\n", world.rank(), world.size()); }

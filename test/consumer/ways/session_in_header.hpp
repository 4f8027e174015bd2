// SPDX-License-Identifier: Apache-2.0
// session_in_header.hpp - the public header of a library, with a session in it.
#pragma once

#include <lamina/distributed/session.hpp>

struct processes {
  lamina::distributed::session world;

  processes(int& argc, char**& argv);
  void print() const;
};

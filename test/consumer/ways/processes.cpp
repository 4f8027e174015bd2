// SPDX-License-Identifier: Apache-2.0
// A process that says its rank.
#include <cstdio>

#include <lamina/distributed/session.hpp>

int main(int argc, char** argv) {
  const lamina::distributed::session world{argc, argv};
  std::printf("%d/%d\n", world.rank(), world.size());
}

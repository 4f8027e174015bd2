// SPDX-License-Identifier: Apache-2.0
// A process that says its rank.
#include <cstdio>

#include <lamina/distributed/session.hpp>

// A program whose session is compiled apart sees no MPI.
#if defined(LAMINA_HAS_MPI) && (!defined(LAMINA_COMPILED) || defined(MPI_VERSION))
#error "expected declarations alone"
#endif

int main(int argc, char** argv) {
  const lamina::distributed::session world{argc, argv};
  std::printf("%d/%d\n", world.rank(), world.size());
}

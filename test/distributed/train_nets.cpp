// SPDX-License-Identifier: Apache-2.0
// train_nets THREADS NET/OPTIMIZER... - trains nets with all processes that the launcher started
// and prints what rank 0 has reached, one line each.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "distributed/nets.hpp"

#include <lamina/distributed/session.hpp>

int main(int argc, char** argv) {
  try {
    lamina::distributed::session world{argc, argv};
    for (int i = 2; i < argc; ++i) {
      const std::string name = argv[i];
      const std::size_t slash = name.find('/');
      const test::trained_net r =
          test::train_net(name.substr(0, slash), name.substr(slash + 1),
                          {.passes = 3, .threads = std::atoi(argv[1]), .world = &world});
      if (world.rank() == 0)
        std::printf("%s %016llx %.9g %.9g %lld\n", name.c_str(),
                    static_cast<unsigned long long>(r.parameters), r.cost, r.metric,
                    static_cast<long long>(r.steps));
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

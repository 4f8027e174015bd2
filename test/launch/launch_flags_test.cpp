// SPDX-License-Identifier: Apache-2.0
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/launch/launch_flags.hpp>

using lamina::distributed::job;
using lamina::distributed::launch_flags;

namespace {

launch_flags read(std::initializer_list<const char*> words, job given = {}) {
  std::vector<const char*> all = {"trainer"};
  all.insert(all.end(), words);
  return read_launch_flags(static_cast<int>(all.size()), all.data(), std::move(given));
}

using words = std::vector<std::string>;

}  // namespace

TEST_CASE("flags of the launcher change the job, and others are the program's") {
  const launch_flags f = read({"--launch",
                               "slurm",
                               "--dry-run",
                               "--passes",
                               "20",
                               "-n",
                               "4",
                               "--cpus=2",
                               "--memory=3Gi",
                               "--image",
                               "i",
                               "--name",
                               "x",
                               "--namespace=y",
                               "--kind=JobSet",
                               "--retries=0",
                               "--deadline",
                               "60",
                               "--rate=0.1",
                               "--launched",
                               "-nx",
                               "--parameter-servers",
                               "3",
                               "--",
                               "--launch",
                               "--"},
                              {.trainers = 2, .arguments = {"first"}});
  CHECK(f.dry_run);
  CHECK(f.what.backend == "slurm");
  CHECK(f.what.trainers == 4);
  CHECK(f.what.parameter_servers == 3);
  CHECK(f.what.processes() == 7);
  CHECK(f.what.cpus == 2);
  CHECK(f.what.memory == "3Gi");
  CHECK(f.what.image == "i");
  CHECK(f.what.name == "x");
  CHECK(f.what.name_space == "y");
  CHECK(f.what.kind == "JobSet");
  CHECK(f.what.retries == 0);
  CHECK(f.what.deadline == 60);
  CHECK(f.what.arguments ==
        words{"first", "--passes", "20", "--rate=0.1", "--launched", "-nx", "--launch", "--"});
}

TEST_CASE("flags say how an image is built and whether a failure starts again") {
  const launch_flags f = read({"--build=no", "--base-image", "b", "--restart-on-failure", "x"});
  CHECK(f.what.build == "no");
  CHECK(f.what.base_image == "b");
  CHECK(f.what.restart_on_failure);
  CHECK(f.what.arguments == words{"x"});
  CHECK_FALSE(read({"--", "--restart-on-failure"}).what.restart_on_failure);
}

TEST_CASE("without flags a job is as it was given") {
  const launch_flags f = read({}, {.trainers = 2, .backend = "kubernetes"});
  CHECK_FALSE(f.dry_run);
  CHECK(f.what.trainers == 2);
  CHECK(f.what.backend == "kubernetes");
  CHECK(f.what.arguments.empty());
}

TEST_CASE("a flag without a value and a number that is none are errors") {
  CHECK_THROWS_WITH(read({"--launch"}), "lamina: launch: --launch: expected a value, found ''");
  for (const std::string wrong : {"", "4x", "x", " 4", "99999999999", "1.5"})
    CHECK_THROWS_WITH(read({"-n", wrong.c_str()}),
                      "lamina: launch: -n: expected a whole number, found '" + wrong + "'");
}

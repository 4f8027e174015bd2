// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/launch/slurm_script.hpp>

using Catch::Matchers::Contains;
using lamina::distributed::job;
using lamina::distributed::slurm_script;

TEST_CASE("a script asks for tasks, cores, memory and minutes") {
  job j{.trainers = 8,
        .cpus = 3,
        .memory = "8Gi",
        .backend = "slurm",
        .arguments = {"a b"},
        .deadline = 61,
        .partition = "cpu",
        .account = "group"};
  const std::string script = slurm_script(j, "/home/user/my trainer");
  for (const char* const line :
       {"#!/bin/sh\n#SBATCH ", "#SBATCH --ntasks=8\n", "#SBATCH --cpus-per-task=3\n",
        "#SBATCH --mem-per-cpu=2731M\n", "#SBATCH --time=2\n", "#SBATCH --partition=cpu\n",
        "#SBATCH --account=group\n", "#SBATCH --requeue\n", "#SBATCH --job-name=trainer\n",
        "srun --mpi=pmi2 --export=ALL --kill-on-bad-exit=1 --cpus-per-task=3 /bin/sh -c ",
        " sh '/home/user/my trainer' 'a b'\n", "-lt 3 ]"})
    CHECK_THAT(script, Contains(line));
  CHECK_THAT(script, !Contains("LAMINA_PARAMETER_SERVERS"));
  j.parameter_servers = 2;
  for (const char* const line : {"#SBATCH --ntasks=10\n", "export LAMINA_PARAMETER_SERVERS=2\n"})
    CHECK_THAT(slurm_script(j, "trainer"), Contains(line));
  j.deadline = 0;
  j.partition = j.account = "";
  for (const char* const line : {"--time", "--partition", "--account"})
    CHECK_THAT(slurm_script(j, "trainer"), !Contains(line));
  CHECK_THAT(slurm_script(j, "trainer", "MPICH"), Contains("srun --mpi=pmi2 "));
  CHECK_THAT(slurm_script(j, "trainer", "Open MPI"), Contains("srun --mpi=pmix "));
  // sbatch refuses a script with the ends of lines of DOS; srun takes a lone colon for its own.
  j.arguments = {"a\r\n", ":"};
  CHECK_THAT(slurm_script(j, "trainer"), !Contains("\r") && Contains("/bin/sh -c 'exec trainer "));
  j.cpus = 0;
  CHECK_THROWS_AS(slurm_script(j, "trainer"), lamina::error);
}

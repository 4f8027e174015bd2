// SPDX-License-Identifier: Apache-2.0
// lamina/launch/dist_train.hpp - a program that launches its own distributed training.
// Needs nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/launched_processes.hpp>
#include <lamina/launch/container_image.hpp>
#include <lamina/launch/containerfile.hpp>
#include <lamina/launch/image_context.hpp>
#include <lamina/launch/image_tool.hpp>
#include <lamina/launch/job.hpp>
#include <lamina/launch/kubernetes_manifests.hpp>
#include <lamina/launch/kubernetes_submission.hpp>
#include <lamina/launch/launch_error.hpp>
#include <lamina/launch/launch_flags.hpp>
#include <lamina/launch/run_command.hpp>
#include <lamina/launch/shared_libraries.hpp>
#include <lamina/launch/shell_word.hpp>
#include <lamina/launch/slurm_script.hpp>
#include <lamina/launch/started_words.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace distributed {

/// Tells whether a launcher has started this process as a member of a job: checks LAMINA_ROLE, the
/// variables of MPI's launchers and of Slurm's srun, and KUBERNETES_SERVICE_HOST, which every pod
/// has. A program that a user starts by hand in a shell of `srun --pty` or salloc is not a member.
LAMINA_COLD inline bool is_started_by_launcher() {
  for (const char* const name : {"LAMINA_ROLE", "OMPI_COMM_WORLD_RANK", "KUBERNETES_SERVICE_HOST"})
    if (std::getenv(name) != nullptr) return true;
  if (is_by_hand_in_task()) return false;
  for (const char* const name : {"PMI_RANK", "PMIX_RANK", "SLURM_STEP_ID"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

namespace detail {

/// Returns the path of the running program.
LAMINA_COLD inline std::string own_path() {
  std::string path(4096, '\0');
  const ::ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0 || static_cast<std::size_t>(size) >= path.size())
    throw error("lamina: launch: expected the program's path at /proc/self/exe, found none");
  path.resize(static_cast<std::size_t>(size));
  return path;
}

/// Returns the arguments of this process's command line, as main received them.
LAMINA_COLD inline std::vector<std::string> own_words() {
  std::vector<std::string> words;
  std::FILE* const file = std::fopen("/proc/self/cmdline", "rb");
  if (file == nullptr)
    throw error("lamina: launch: expected the command line at /proc/self/cmdline, found none");
  std::string word;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    if (c != 0) {
      word.push_back(static_cast<char>(c));
      continue;
    }
    words.push_back(std::move(word));
    word.clear();
  }
  std::fclose(file);
  return words;
}

/// Builds and pushes the image if the job asks for it, and submits the job. A dry run prints the
/// manifests on stdout, for kubectl, and the Containerfile on stderr.
LAMINA_COLD inline int launch_on_kubernetes(job j, bool is_dry) {
  const std::string manifests = kubernetes_manifests(j);
  if (is_dry) {
    if (j.build != "no") {
      require_mpi_of_kind(j, read_elf_needs(own_path()));
      std::fprintf(stderr, "# Containerfile of %s\n%s", j.image.c_str(),
                   containerfile(j, own_path()).c_str());
    }
    std::fputs(manifests.c_str(), stdout);
    return 0;
  }
  // Checks everything that submission needs before the image is built.
  require_submission(j);
  static_cast<void>(with_whole_paths(j));
  if (j.build == "auto" && find_image_tool(j).path.empty()) {
    std::fprintf(stderr,
                 "lamina: launch: found none of buildah, podman and docker: %s is not built, and "
                 "has to be in its registry\n",
                 j.image.c_str());
    j.build = "no";
  }
  if (j.build != "no") {
    docker_build(j, own_path());
    j.image = docker_push(j);
    j.build = "no";
    std::fprintf(stderr, "lamina: launch: pushed %s\n", j.image.c_str());
  }
  submit_to_kubernetes(j);
  return 0;
}

/// Returns the variables for mpirun on this machine, in addition to the environment of this
/// process. Some of them let Open MPI start more processes than cores and let the threads of each
/// use all cores, unless the user has set them; Open MPI 4 and 5 have different names for them.
/// MPICH is told to start the processes itself: within an allocation of Slurm it would call srun,
/// which would wait forever for the cores that the user's shell occupies.
LAMINA_COLD inline std::vector<std::pair<std::string, std::string>> variables_of_mpirun(
    const job& j) {
  std::vector<std::pair<std::string, std::string>> told;
  for (const auto& [name, value] : {std::pair{"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                    {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                    {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                                    {"PRTE_MCA_hwloc_default_binding_policy", "none"}})
    if (std::getenv(name) == nullptr) told.emplace_back(name, value);
  if (std::getenv("HYDRA_LAUNCHER") == nullptr && std::getenv("HYDRA_HOST_FILE") == nullptr) {
    told.emplace_back("HYDRA_LAUNCHER", "fork");
    if (std::getenv("HYDRA_RMK") == nullptr) told.emplace_back("HYDRA_RMK", "user");
  }
  told.emplace_back("LAMINA_ROLE", "trainer");
  if (j.parameter_servers > 0)
    told.emplace_back("LAMINA_PARAMETER_SERVERS", std::string(text() << j.parameter_servers));
  return told;
}

/// Lets SIGTERM end this process if it is process 1 of a container. The kernel drops a signal for
/// process 1 unless that process has set a handler, so this installs one where there is none.
LAMINA_COLD inline void hear_sigterm_as_process_1() {
  if (::getpid() != 1) return;
  struct sigaction before = {};
  ::sigaction(SIGTERM, nullptr, &before);
  if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_DFL)
    std::signal(SIGTERM, [](int) { ::_exit(128 + SIGTERM); });
}

/// Starts the job, or prints what would be submitted; returns the exit code.
LAMINA_COLD inline int launch(const launch_flags& flags) {
  const job& j = flags.what;
  require_valid(j);
  forget_task_of_shell();  // mpirun and sbatch would take this process for the task
  if (j.backend == "local") {
    std::vector<std::string> words = {"mpirun", "-n", std::string(text() << j.processes())};
    for (std::string& w : started_words(own_path(), j.arguments)) words.push_back(std::move(w));
    const auto variables = variables_of_mpirun(j);
    if (flags.dry_run) {
      text line;
      for (const auto& [name, value] : variables) line << name << "=" << shell_word(value) << " ";
      for (const std::string& w : words) line << (&w == words.data() ? "" : " ") << shell_word(w);
      std::printf("%s\n", std::string(line).c_str());
      return 0;
    }
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    if (j.restart_on_failure) return run_with_restarts(words, j.retries);
    become(words);
    throw error("lamina: launch: expected the command mpirun (openmpi-bin or mpich), found none");
  }
  if (j.backend == "slurm") {
    const std::string script = slurm_script(j, own_path(), mpi_of(read_elf_needs(own_path())));
    if (!flags.dry_run) return run_command({"sbatch"}, script);
    std::fputs(script.c_str(), stdout);
    return 0;
  }
  return launch_on_kubernetes(j, flags.dry_run);
}

}  // namespace detail

}  // namespace distributed

/// Outside a cluster, starts the job: runs mpirun, submits to Slurm (sbatch), or builds and pushes
/// the image (buildah, podman or docker) and submits to Kubernetes (kubectl or curl), depending on
/// `job.backend` or `--launch` (launch/launch_flags.hpp lists the flags). In a process
/// of the job, calls `trainer_main(argc, argv)`:
///
///   int main(int argc, char** argv) {
///     return lamina::dist_train(argc, argv, trainer_main, {.trainers = 4});
///   }
///
/// `trainer_main` must first make a `lamina::distributed::session`. Returns the value for main to
/// return: that of trainer_main, or the exit code of mpirun or sbatch. If the job was not started,
/// prints one line on stderr and returns 64 (somebody has to change something), 75 (a server did
/// not answer) or the exit code of the tool that failed. PaddlePaddle v2: dist_train.
template <class Main>
requires std::invocable<Main&, int, char**>
int dist_train(int argc, char** argv, Main&& trainer_main, distributed::job what = {}) {
  if (distributed::is_started_by_launcher()) {
    distributed::detail::hear_sigterm_as_process_1();
    return trainer_main(argc, argv);
  }
  try {
    return distributed::detail::launch(distributed::read_launch_flags(argc, argv, std::move(what)));
  } catch (const distributed::launch_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return e.code();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 64;
  }
}

/// Does the same with the arguments of the process's command line, and passes copies of them to
/// `trainer_main`.
template <class Main>
requires std::invocable<Main&, int, char**>
int dist_train(Main&& trainer_main, distributed::job what = {}) {
  std::vector<std::string> words = distributed::detail::own_words();
  std::vector<char*> pointers;
  for (std::string& w : words) pointers.push_back(w.data());
  pointers.push_back(nullptr);
  return dist_train(static_cast<int>(words.size()), pointers.data(),
                    std::forward<Main>(trainer_main), std::move(what));
}

}}  // namespace lamina

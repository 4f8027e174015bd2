// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/launch/dist_train.hpp - one program that starts its training and is it.
// Needs nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/distributed/launch/job.hpp>
#include <lamina/distributed/launch/kubernetes_manifests.hpp>
#include <lamina/distributed/launch/launch_flags.hpp>
#include <lamina/distributed/launch/run_command.hpp>
#include <lamina/distributed/launch/slurm_script.hpp>

namespace lamina::inline LAMINA_ABI {

namespace distributed {

/// Whether a launcher has started this process as one of a job: LAMINA_ROLE, a variable of MPI's
/// launchers or of Slurm's srun, or KUBERNETES_SERVICE_HOST, which each pod has.
LAMINA_COLD inline bool is_started_by_launcher() {
  for (const char* const name : {"LAMINA_ROLE", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                 "SLURM_STEP_ID", "KUBERNETES_SERVICE_HOST"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

namespace detail {

/// The path of the running program.
LAMINA_COLD inline std::string own_path() {
  std::string path(4096, '\0');
  const ::ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0 || static_cast<std::size_t>(size) >= path.size())
    throw error("lamina: launch: expected the program's path at /proc/self/exe, found none");
  path.resize(static_cast<std::size_t>(size));
  return path;
}

/// The words of this process's command line, as main was given them.
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

/// A file that only its user reads and that ends with this object.
class private_file {
 public:
  LAMINA_COLD explicit private_file(std::string_view bytes) {
    const char* const folder = std::getenv("TMPDIR");
    path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/lamina.XXXXXX";
    const int file = ::mkstemp(path_.data());
    const bool is_written = file >= 0 && ::write(file, bytes.data(), bytes.size()) ==
                                             static_cast<::ssize_t>(bytes.size());
    if (file >= 0) ::close(file);
    if (is_written) return;
    if (file >= 0) ::unlink(path_.c_str());
    throw error(text() << "lamina: launch: expected to write " << path_ << ", found no way");
  }
  private_file(const private_file&) = delete;
  private_file& operator=(const private_file&) = delete;
  LAMINA_COLD ~private_file() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// kubectl's words: it reads the manifests, and the configuration if there is one.
LAMINA_COLD inline int submit_to_kubernetes(const job& j, const std::string& manifests) {
  if (j.server.empty()) return run_command({"kubectl", "apply", "-f", "-"}, manifests);
  // Relative paths in a configuration would be relative to its folder.
  job absolute = j;
  for (std::string* const path :
       {&absolute.authority, &absolute.token_file, &absolute.certificate, &absolute.key}) {
    if (path->empty()) continue;
    char* const whole = ::realpath(path->c_str(), nullptr);
    if (whole == nullptr)
      throw error(text() << "lamina: launch: expected a file " << *path << ", found none");
    *path = whole;
    std::free(whole);
  }
  const private_file configuration(kubectl_configuration(absolute));
  return run_command({"kubectl", "--kubeconfig", configuration.path(), "apply", "-f", "-"},
                     manifests);
}

/// Starts the job, or prints what would be submitted; returns the exit code.
LAMINA_COLD inline int launch(const launch_flags& flags) {
  const job& j = flags.what;
  require_valid(j);
  if (j.backend == "local") {
    std::vector<std::string> words = {"mpirun", "-n", std::string(text() << j.trainers),
                                      own_path()};
    words.insert(words.end(), j.arguments.begin(), j.arguments.end());
    if (flags.dry_run) {
      text line;
      for (const std::string& w : words) line << (&w == words.data() ? "" : " ") << shell_word(w);
      std::printf("%s\n", std::string(line).c_str());
      return 0;
    }
    ::setenv("LAMINA_ROLE", "trainer", 1);
    become(words);
    throw error("lamina: launch: expected the command mpirun (openmpi-bin or mpich), found none");
  }
  const bool is_slurm = j.backend == "slurm";
  const std::string text_of = is_slurm ? slurm_script(j, own_path()) : kubernetes_manifests(j);
  if (flags.dry_run) {
    std::fputs(text_of.c_str(), stdout);
    return 0;
  }
  return is_slurm ? run_command({"sbatch"}, text_of) : submit_to_kubernetes(j, text_of);
}

}  // namespace detail

}  // namespace distributed

/// Outside of a cluster, starts the job: runs mpirun, or submits to Slurm (sbatch) or Kubernetes
/// (kubectl), as `job.backend` or `--launch` says (distributed/launch/launch_flags.hpp lists the
/// flags). In a process of the job, calls `trainer_main(argc, argv)`:
///
///   int main(int argc, char** argv) {
///     return lamina::dist_train(argc, argv, trainer_main, {.trainers = 4});
///   }
///
/// `trainer_main` makes a `lamina::distributed::session` first. Returns what main returns: that of
/// trainer_main, the exit code of mpirun, sbatch or kubectl, or 64 with a line on stderr for a job
/// that cannot be started. PaddlePaddle v2: dist_train.
template <class Main>
requires std::invocable<Main&, int, char**>
int dist_train(int argc, char** argv, Main&& trainer_main, distributed::job what = {}) {
  if (distributed::is_started_by_launcher()) return trainer_main(argc, argv);
  try {
    return distributed::detail::launch(distributed::read_launch_flags(argc, argv, std::move(what)));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 64;
  }
}

/// The same, with the words of the process's command line; `trainer_main` is called with copies of
/// them.
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

}  // namespace lamina::inline LAMINA_ABI

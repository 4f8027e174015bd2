// SPDX-License-Identifier: Apache-2.0
// A program that starts itself; launcher.py looks at what it prints and starts.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include <unistd.h>

#include <lamina/launch/dist_train.hpp>

namespace {

// Copies what the system has given this process, byte by byte.
void show(const std::string& folder, const std::string& rank) {
  for (const char* const name : {"cmdline", "environ"}) {
    std::ifstream from(std::string("/proc/self/") + name, std::ios::binary);
    std::ofstream(folder + "/" + rank + "." + name, std::ios::binary) << from.rdbuf();
  }
}

// What a process of the job was told, in one line; `code=N` asks rank 1 for an exit code,
// `say=NAME` for a variable of the environment, `show=FOLDER` for files with all words and
// variables, `sleep=N` all but rank 1 for N seconds.
int trainer_main(int argc, char** argv) {
  const char* rank = nullptr;
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (rank == nullptr) rank = std::getenv(name);
  std::string line = std::string("rank ") + (rank == nullptr ? "none" : rank);
  int code = 0;
  for (int i = 1; i < argc; ++i) {
    line += std::string(" [") + argv[i] + "]";
    const char* const value =
        std::getenv(argv[i] + (std::string(argv[i]).starts_with("say=") ? 4 : 0));
    const std::string word = argv[i], number = rank == nullptr ? "none" : rank;
    if (word.starts_with("show=")) show(word.substr(5), number);
    if (word.starts_with("sleep=") && number != "1")
      ::sleep(static_cast<unsigned>(std::atoi(argv[i] + 6)));
    if (value != nullptr) line += std::string(" ") + (argv[i] + 4) + "=" + value;
    if (std::string(argv[i]).starts_with("code=") && rank != nullptr && rank[0] == '1')
      code = std::atoi(argv[i] + 5);
  }
  std::printf("%s\n", line.c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  lamina::distributed::job job{.image = "registry.example/user/trainer:1",
                               .trainers = 3,
                               .cpus = 4,
                               .memory = "8Gi",
                               .name = "digits",
                               .deadline = 7200,
                               .checkpoint_claim = "digits-checkpoints",
                               .checkpoint_size = "10Gi",
                               .secrets = {"object-store"},
                               .pull_secret = "registry"};
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "TrainJob" || std::string(argv[i]) == "--kind=TrainJob") {
      job.checkpoint_claim = job.checkpoint_size = job.pull_secret = "";
      job.secrets.clear();
    }
  if (const char* const server = std::getenv("LAUNCH_TEST_SERVER")) {
    job.server = server;
    job.token_file = "token";
    job.authority = "authority.pem";
  }
  for (const auto& [name, option] : {std::pair{"TOKEN_FILE", &job.token_file},
                                     {"AUTHORITY", &job.authority},
                                     {"CERTIFICATE", &job.certificate},
                                     {"KEY", &job.key},
                                     {"IMAGE_TOOL", &job.image_tool},
                                     {"REGISTRY_USER", &job.registry_user},
                                     {"REGISTRY_TOKEN_FILE", &job.registry_token_file},
                                     {"REGISTRY_AUTH_FILE", &job.registry_auth_file},
                                     {"REGISTRY_AUTHORITY", &job.registry_authority}})
    if (const char* const value = std::getenv((std::string("LAUNCH_TEST_") + name).c_str()))
      *option = value;
  if (const char* const file = std::getenv("LAUNCH_TEST_FILE")) job.files = {file};
  if (std::getenv("LAUNCH_TEST_OWN_WORDS") != nullptr) return lamina::dist_train(trainer_main, job);
  return lamina::dist_train(argc, argv, trainer_main, job);
}

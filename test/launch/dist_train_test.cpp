// SPDX-License-Identifier: Apache-2.0
// What a launcher starts and submits is looked at by launcher.py.
#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/launch/dist_train.hpp>

using lamina::distributed::job;
using lamina::distributed::kubectl_configuration;
using lamina::distributed::kubernetes_manifests;

namespace {

/// Sets a variable of the environment and takes it away at the end.
struct variable {
  explicit variable(const char* its_name) : name(its_name) { ::setenv(name, "1", 1); }
  ~variable() { ::unsetenv(name); }
  const char* name;
};

constexpr const char* launchers[] = {"LAMINA_ROLE",   "OMPI_COMM_WORLD_RANK",
                                     "PMI_RANK",      "PMIX_RANK",
                                     "SLURM_STEP_ID", "KUBERNETES_SERVICE_HOST"};

}  // namespace

TEST_CASE("within a job dist_train calls the trainer, outside it does not") {
  for (const char* const name : launchers) ::unsetenv(name);
  std::string first = "trainer", second = "--launch", third = "nowhere";
  char* argv[] = {first.data(), second.data(), third.data(), nullptr};
  int calls = 0;
  const auto trainer_main = [&](int argc, char** given) {
    ++calls;
    return argc == 3 && given == argv ? 7 : 8;
  };
  CHECK(lamina::dist_train(3, argv, trainer_main) == 64);
  CHECK(calls == 0);
  for (const char* const name : launchers) {
    const variable set(name);
    CHECK(lamina::dist_train(3, argv, trainer_main) == 7);
  }
  CHECK(calls == 6);
}

TEST_CASE("paths of a token and of keys are in kubectl's configuration, not in manifests") {
  const job j{.image = "i",
              .server = "https://host:6443",
              .authority = "/a/authority.pem",
              .token_file = "/a/token",
              .certificate = "/a/user.pem",
              .key = "/a/user.key"};
  const std::string manifests = kubernetes_manifests(j);
  const auto configuration = nlohmann::json::parse(kubectl_configuration(j));
  CHECK(configuration["clusters"][0]["cluster"] ==
        nlohmann::json{{"server", "https://host:6443"},
                       {"certificate-authority", "/a/authority.pem"}});
  CHECK(configuration["users"][0]["user"] == nlohmann::json{{"tokenFile", "/a/token"},
                                                            {"client-certificate", "/a/user.pem"},
                                                            {"client-key", "/a/user.key"}});
  for (const char* const path : {"/a/", "host:6443"})
    CHECK(manifests.find(path) == std::string::npos);
}

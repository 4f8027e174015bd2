// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/launch/job.hpp>

using Catch::Matchers::Contains;
using lamina::distributed::bytes_of_quantity;
using lamina::distributed::job;

namespace {

job in_cluster() { return {.image = "registry.example/user/trainer:1", .backend = "kubernetes"}; }

// What is wrong with a job after a change; empty if nothing is.
std::string fault(job j, const std::function<void(job&)>& change) {
  change(j);
  try {
    require_valid(j);
    return "";
  } catch (const lamina::error& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("quantities are bytes with a suffix of Kubernetes") {
  CHECK(bytes_of_quantity("512") == 512);
  CHECK(bytes_of_quantity("8Gi") == 8.0 * 1024 * 1024 * 1024);
  CHECK(bytes_of_quantity("1.5k") == 1500);
  CHECK(bytes_of_quantity(".5Ki") == 512);
  for (const char* const wrong : {"", "Gi", "8GB", "8 Gi", "-1Gi", "1e3", "8gi", "1.2.3", "."})
    CHECK(bytes_of_quantity(wrong) < 0);
}

TEST_CASE("a job that a cluster would refuse is an error that names the option") {
  CHECK(fault({}, [](job&) {}).empty());
  CHECK(fault(in_cluster(), [](job&) {}).empty());
  CHECK(fault(in_cluster(), [](job& j) { j.name = std::string(40, 'a'); }).empty());
  for (const std::string& name :
       {std::string(), std::string("A"), std::string("a_b"), std::string("-a"), std::string("a-"),
        std::string("1a"), std::string("a.b"), std::string(41, 'a')})
    CHECK_THAT(fault({}, [&](job& j) { j.name = name; }), Contains("launch: name: expected"));
  CHECK_THAT(fault({}, [](job& j) { j.trainers = 0; }),
             Contains("trainers: expected a number from 1 to 100000, found '0'"));
  CHECK_THAT(fault({}, [](job& j) { j.parameter_servers = -1; }),
             Contains("parameter_servers: expected a number from 0 to 100000, found '-1'"));
  CHECK_THAT(fault({}, [](job& j) { j.cpus = -1; }), Contains("cpus"));
  CHECK_THAT(fault({}, [](job& j) { j.memory = "0"; }), Contains("memory"));
  CHECK_THAT(fault({}, [](job& j) { j.memory = "9000000Pi"; }), Contains("memory"));
  CHECK_THAT(fault({}, [](job& j) { j.retries = -1; }), Contains("retries"));
  CHECK_THAT(fault({}, [](job& j) { j.deadline = -1; }), Contains("deadline"));
  CHECK_THAT(fault({}, [](job& j) { j.backend = "cloud"; }), Contains("backend"));
  CHECK_THAT(fault({}, [](job& j) { j.arguments = {std::string("a\0b", 3)}; }),
             Contains("arguments"));
  CHECK_THAT(fault({.backend = "slurm"}, [](job& j) { j.account = "a\n#SBATCH --uid=0"; }),
             Contains("account"));
  for (const char* const partition : {"a b", "a#b"})
    CHECK_THAT(fault({.backend = "slurm"}, [&](job& j) { j.partition = partition; }),
               Contains("partition"));
}

TEST_CASE("names of objects that exist are subdomains of DNS") {
  for (std::string job::*const name : {&job::pull_secret, &job::checkpoint_claim, &job::runtime})
    for (const auto& [found, is_one] : {std::pair{std::string("registry.example.com"), true},
                                        {std::string("a"), true},
                                        {std::string(250, 'a') + ".b", true},
                                        {std::string(252, 'a') + ".b", false},
                                        {std::string(".a"), false},
                                        {std::string("a."), false},
                                        {std::string("a..b"), false},
                                        {std::string("a.-b"), false},
                                        {std::string("a.B"), false},
                                        {std::string("a_b"), false}}) {
      const std::string why = fault(in_cluster(), [&, word = found](job& j) { j.*name = word; });
      CAPTURE(found, why);
      CHECK(why.empty() == is_one);
    }
  CHECK(fault(in_cluster(), [](job& j) { j.secrets = {"a", "b.c"}; }).empty());
  CHECK_THAT(fault(in_cluster(), [](job& j) { j.secrets = {"a", ""}; }), Contains("secrets"));
  // Pods and services are labels.
  CHECK_THAT(fault(in_cluster(), [](job& j) { j.name = "a.b"; }), Contains("name"));
  CHECK_THAT(fault(in_cluster(), [](job& j) { j.name_space = "a.b"; }), Contains("name_space"));
}

TEST_CASE("a job for Kubernetes is asked for its image, its user and its secrets") {
  const auto wrong = [](const std::function<void(job&)>& change) {
    return fault(in_cluster(), change);
  };
  CHECK_THAT(wrong([](job& j) { j.image = ""; }), Contains("image"));
  CHECK_THAT(wrong([](job& j) { j.image = "a b"; }), Contains("image"));
  CHECK_THAT(wrong([](job& j) { j.kind = "Pod"; }), Contains("kind"));
  CHECK_THAT(wrong([](job& j) { j.build = "maybe"; }), Contains("build: expected yes, no or auto"));
  // An image to build has a registry and no digest; one that exists may have any name.
  for (const char* const image : {"trainer:1", "r/a@sha256:0", "r/a;b"}) {
    CHECK_THAT(wrong([&](job& j) { j.image = image; }), Contains("image: expected"));
    CHECK(wrong([&](job& j) { j.image = image, j.build = "no"; }).empty());
  }
  CHECK_THAT(wrong([](job& j) { j.base_image = "a\nRUN x"; }), Contains("base_image"));
  CHECK_THAT(wrong([](job& j) { j.base_image = "$(x)"; }), Contains("base_image"));
  CHECK_THAT(wrong([](job& j) { j.program = "/a/../b"; }), Contains("program"));
  CHECK_THAT(wrong([](job& j) { j.image_tool = "/usr/bin/kaniko"; }), Contains("image_tool"));
  CHECK(wrong([](job& j) { j.image_tool = "/opt/podman"; }).empty());
  CHECK_THAT(wrong([](job& j) { j.registry_user = "ada"; }), Contains("registry_user"));
  CHECK_THAT(wrong([](job& j) { j.registry_token_file = "t"; }), Contains("registry_user"));
  CHECK_THAT(wrong([](job& j) {
               j.registry_user = "a:b";
               j.registry_token_file = "t";
             }),
             Contains("a name without :"));
  CHECK_THAT(wrong([](job& j) {
               j.registry_user = "ada";
               j.registry_token_file = j.registry_auth_file = "t";
             }),
             Contains("registry_auth_file"));
  CHECK_THAT(wrong([](job& j) { j.user = 0; }), Contains("user"));
  CHECK_THAT(wrong([](job& j) { j.name_space = "A"; }), Contains("name_space"));
  CHECK_THAT(wrong([](job& j) { j.program = "trainer"; }), Contains("program"));
  CHECK_THAT(wrong([](job& j) { j.secrets = {"a", "B"}; }), Contains("secrets"));
  CHECK_THAT(wrong([](job& j) { j.checkpoint_size = "1Gi"; }), Contains("checkpoint_claim"));
  CHECK_THAT(wrong([](job& j) { j.server = "http://host"; }), Contains("server"));
  CHECK_THAT(wrong([](job& j) { j.token_file = "token"; }), Contains("server"));
  CHECK_THAT(wrong([](job& j) {
               j.server = "https://host:6443";
               j.certificate = "user.pem";
             }),
             Contains("key: expected certificate and key together"));
  CHECK_THAT(wrong([](job& j) {
               j.kind = "TrainJob";
               j.secrets = {"a"};
             }),
             Contains("kind"));
}

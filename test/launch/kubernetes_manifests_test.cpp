// SPDX-License-Identifier: Apache-2.0
// launcher.py compares manifests with the schemas of Kubernetes.

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/launch/kubernetes_manifests.hpp>

using lamina::distributed::job;
using lamina::distributed::kubernetes_manifests;

TEST_CASE("a job without a claim and a deadline asks for none") {
  job j{.image = "i"};
  auto list = nlohmann::json::parse(kubernetes_manifests(j));
  REQUIRE(list["items"].size() == 3);  // the policy, the service and the job
  const auto& spec = list["items"][2]["spec"];
  CHECK_FALSE(spec.contains("activeDeadlineSeconds"));
  const auto& pod = spec["template"]["spec"];
  CHECK(pod["volumes"].size() == 2);
  CHECK_FALSE(pod.contains("imagePullSecrets"));
  CHECK_FALSE(pod["containers"][0].contains("envFrom"));

  // A claim that exists is mounted and not made.
  j.checkpoint_claim = "claim";
  list = nlohmann::json::parse(kubernetes_manifests(j));
  CHECK(list["items"].size() == 3);
  CHECK(list["items"][2]["spec"]["template"]["spec"]["volumes"][2]["persistentVolumeClaim"] ==
        nlohmann::json{{"claimName", "claim"}});
  j.checkpoint_size = "10Gi";
  CHECK(nlohmann::json::parse(kubernetes_manifests(j))["items"].size() == 4);
}

TEST_CASE("names of the pods are those that a Job and a JobSet give") {
  const auto hosts_of = [](const nlohmann::json& spec) {
    std::vector<std::string> found;
    for (const auto& variable : spec["template"]["spec"]["containers"][0]["env"])
      if (variable["name"] == "LAMINA_HOSTS" || variable["name"] == "LAMINA_LEADER")
        found.push_back(variable["value"]);
    return found;
  };
  job j{.image = "i", .trainers = 2, .name = "net"};
  using names = std::vector<std::string>;
  const auto list = nlohmann::json::parse(kubernetes_manifests(j));
  CHECK(hosts_of(list["items"][2]["spec"]) == names{"net-0.net", "net-0.net:1,net-1.net:1"});
  j.kind = "JobSet";
  const auto set = nlohmann::json::parse(kubernetes_manifests(j));
  CHECK(hosts_of(set["items"][1]["spec"]["replicatedJobs"][0]["template"]["spec"]) ==
        names{"net-trainer-0-0.net", "net-trainer-0-0.net:1,net-trainer-0-1.net:1"});
}

TEST_CASE("parameter servers are pods of the job, and all are told how many there are") {
  job j{.image = "i", .trainers = 2, .name = "net"};
  CHECK(kubernetes_manifests(j).find("LAMINA_PARAMETER_SERVERS") == std::string::npos);
  j.parameter_servers = 3;
  const nlohmann::json variable = {{"name", "LAMINA_PARAMETER_SERVERS"}, {"value", "3"}};
  const auto tells = [&](const nlohmann::json& environment) {
    return std::find(environment.begin(), environment.end(), variable) != environment.end();
  };
  const auto spec = nlohmann::json::parse(kubernetes_manifests(j))["items"][2]["spec"];
  CHECK(spec["completions"] == 5);
  CHECK(spec["parallelism"] == 5);
  CHECK(tells(spec["template"]["spec"]["containers"][0]["env"]));
  j.kind = "MPIJob";
  const auto replicas =
      nlohmann::json::parse(kubernetes_manifests(j))["items"][0]["spec"]["mpiReplicaSpecs"];
  CHECK(replicas["Worker"]["replicas"] == 5);
  const auto launcher = replicas["Launcher"]["template"]["spec"]["containers"][0];
  CHECK(tells(launcher["env"]));
  CHECK(launcher["command"] == nlohmann::json{"mpirun", "-x", "LAMINA_ROLE", "-x",
                                              "LAMINA_PARAMETER_SERVERS", "-n", "5",
                                              "/usr/local/bin/trainer"});
  j.kind = "TrainJob";
  const auto trainer =
      nlohmann::json::parse(kubernetes_manifests(j))["items"][0]["spec"]["trainer"];
  CHECK(trainer["numNodes"] == 5);
  CHECK(tells(trainer["env"]));
  // ssh passes no variables on.
  CHECK(trainer["command"] == nlohmann::json{"mpirun", "-x", "LAMINA_ROLE", "-x",
                                             "LAMINA_PARAMETER_SERVERS", "/usr/local/bin/trainer"});
}

TEST_CASE("arguments that are no UTF-8 are an error") {
  const job j{.image = "i", .arguments = {"\xff"}};
  CHECK_THROWS_WITH(kubernetes_manifests(j),
                    "lamina: launch: arguments, program and image: expected UTF-8, found other "
                    "bytes");
}

TEST_CASE("more hosts than a variable can have are an error") {
  const job j{.image = "i", .trainers = 10000, .name = std::string(40, 'a')};
  CHECK_THROWS_WITH(kubernetes_manifests(j),
                    Catch::Matchers::StartsWith("lamina: launch: trainers and name: expected "));
}

using lamina::distributed::kubelet_word;

TEST_CASE("each dollar is written twice") {
  CHECK(kubelet_word("").empty());
  CHECK(kubelet_word("a b") == "a b");
  CHECK(kubelet_word("a$$b") == "a$$$$b");
  CHECK(kubelet_word("$(HOME)$") == "$$(HOME)$$");
}

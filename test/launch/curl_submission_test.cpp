// SPDX-License-Identifier: Apache-2.0
// cluster.py submits jobs by curl.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/launch/curl_submission.hpp>

using namespace lamina::distributed;

TEST_CASE("each object is given to the collection of its kind") {
  const auto paths = [](const std::string& kind) {
    std::string found;
    const auto list = nlohmann::ordered_json::parse(
        kubernetes_manifests({.image = "i", .kind = kind, .name_space = "n"}));
    for (const auto& object : list["items"]) found += detail::collection_path(object) + " ";
    return found;
  };
  CHECK(paths("Job") ==
        "/apis/networking.k8s.io/v1/namespaces/n/networkpolicies /api/v1/namespaces/n/services "
        "/apis/batch/v1/namespaces/n/jobs ");
  CHECK(paths("JobSet").ends_with(" /apis/jobset.x-k8s.io/v1alpha2/namespaces/n/jobsets "));
  CHECK(paths("MPIJob") == "/apis/kubeflow.org/v2beta1/namespaces/n/mpijobs ");
  CHECK(paths("TrainJob") == "/apis/trainer.kubeflow.org/v1alpha1/namespaces/n/trainjobs ");
}

TEST_CASE("a colon in the path of a certificate begins no password") {
  CHECK(detail::curl_certificate("/home/user.pem") == "/home/user.pem");
  CHECK(detail::curl_certificate("/a:b\\c") == "/a\\:b\\\\c");
}

TEST_CASE("the last line of curl's output is the code") {
  const detail::api_answer answer = detail::read_api_answer("{\"a\":\n1}\n409");
  CHECK(answer.code == 409);
  CHECK(answer.body == "{\"a\":\n1}");
  CHECK(detail::read_api_answer("").code == 0);
  CHECK(detail::read_api_answer("x").code == 0);
}

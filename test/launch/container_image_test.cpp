// SPDX-License-Identifier: Apache-2.0
// image.py builds and pushes images.
#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/launch/container_image.hpp>

using Catch::Matchers::Contains;
using namespace lamina::distributed;

TEST_CASE("docker's last digest is that of the image") {
  const std::string digest = "sha256:" + std::string(64, 'a');
  CHECK(detail::printed_digest("pushed\n1: digest: sha256:b size: 3\n1: digest: " + digest +
                               " size: 1234\n") == digest);
  CHECK(detail::printed_digest("nothing").empty());
  CHECK(detail::is_digest(digest));
  for (const std::string& wrong : {std::string(), digest + "a", std::string("sha256:b"),
                                   "sha256:" + std::string(64, 'g'), std::string(71, 'a')})
    CHECK_FALSE(detail::is_digest(wrong));
}

TEST_CASE("without a tool, building and pushing are errors that name all three") {
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const job j{.image = "registry.example/a:1"};
  const auto refuses = Contains("buildah, podman and docker");
  CHECK_THROWS_WITH(lamina::docker_build(j, "/proc/self/exe"), refuses);
  CHECK_THROWS_WITH(lamina::docker_push(j), refuses);
  ::setenv("PATH", before.c_str(), 1);
  try {
    static_cast<void>(lamina::docker_push({.image = "a"}));
    CHECK(false);
  } catch (const lamina::error& e) {
    CHECK_THAT(e.what(), Contains("image: expected REGISTRY/USER/NAME:TAG"));
  }
}

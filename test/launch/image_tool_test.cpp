// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/launch/image_tool.hpp>

using namespace lamina::distributed;
using words = std::vector<std::string>;

TEST_CASE("an image belongs to docker.io unless its name says where") {
  CHECK(whole_image_name("ada/reviews:1") == "docker.io/ada/reviews:1");
  CHECK(whole_image_name("reviews") == "docker.io/library/reviews");
  for (const char* const name :
       {"registry.example/a/b:1", "localhost/a", "host:5000/a", "docker.io/ada/reviews"})
    CHECK(whole_image_name(name) == name);
  CHECK(registry_of("ada/reviews:1") == "docker.io");
  CHECK(registry_of("host:5000/a/b:1") == "host:5000");
}

TEST_CASE("each tool has its own command line, and no password is in it") {
  const registry_access access{.configuration = "/t/c", .authorities = "/t/a"};
  CHECK(build_words({"/b/buildah", "buildah"}, "r/i:1", "/t/f", {}) ==
        words{"/b/buildah", "build", "--file", "/t/f/Containerfile", "--tag", "r/i:1", "/t/f"});
  CHECK(push_words({"podman", "podman"}, "r/i:1", "/t/d", access) ==
        words{"podman", "push", "--tls-verify=true", "--authfile", "/t/c/config.json", "--cert-dir",
              "/t/a", "--digestfile", "/t/d", "r/i:1", "docker://r/i:1"});
  CHECK(push_words({"docker", "docker"}, "r/i:1", "/t/d", access) ==
        words{"docker", "--config", "/t/c", "push", "r/i:1"});
  CHECK(build_words({"docker", "docker"}, "r/i:1", "/t/f", access) ==
        words{"docker", "--config", "/t/c", "build", "--file", "/t/f/Containerfile", "--tag",
              "r/i:1", "/t/f"});
}

TEST_CASE("a password is written as docker writes it") {
  // The examples of RFC 4648, section 10.
  for (const auto& [text, code] : {std::pair{"", ""},
                                   {"f", "Zg=="},
                                   {"fo", "Zm8="},
                                   {"foo", "Zm9v"},
                                   {"foob", "Zm9vYg=="},
                                   {"fooba", "Zm9vYmE="},
                                   {"foobar", "Zm9vYmFy"},
                                   {"\xff\xfe\xfd", "//79"}})
    CHECK(detail::base64(text) == code);
  CHECK(registry_configuration("host:5000", "ada", "a:\"b") ==
        "{\"auths\": {\"host:5000\": {\"auth\": \"YWRhOmE6ImI=\"}}}\n");
  CHECK(registry_configuration("docker.io", "f", "o").find("https://index.docker.io/v1/") !=
        std::string::npos);
}

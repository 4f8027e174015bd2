// SPDX-License-Identifier: Apache-2.0
// lamina/launch/container_image.hpp - builds the image of a job and pushes it.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/launch/image_context.hpp>
#include <lamina/launch/image_tool.hpp>
#include <lamina/launch/job.hpp>
#include <lamina/launch/launch_error.hpp>
#include <lamina/launch/private_file.hpp>
#include <lamina/launch/run_command.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace distributed::detail {

/// Returns the job with the options that build an image, whatever its backend is. Throws
/// lamina::error as require_valid.
LAMINA_COLD inline job job_to_build(job j) {
  j.backend = "kubernetes";
  j.build = "yes";
  require_valid(j);
  return j;
}

/// Reads the file that an option names.
LAMINA_COLD inline std::string option_file(std::string_view option, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) bad_option(option, "a file that can be read", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Finds the image tool; the error names all three that are supported.
LAMINA_COLD inline image_tool require_image_tool(const job& j) {
  image_tool tool = find_image_tool(j);
  if (tool.path.empty())
    throw launch_error(
        "lamina: launch: image: expected one of the commands buildah, podman and docker to build "
        "it (or --build no, for an image that is in its registry), found none",
        64);
  return tool;
}

/// Trust of registry authorities is configured in docker's daemon, not in its command.
LAMINA_COLD inline void require_authority_of_docker(const job& j) {
  if (std::getenv("DOCKER_HOST") != nullptr) return;  // the daemon of another machine
  const std::string path = "/etc/docker/certs.d/" + registry_of(j.image) + "/ca.crt";
  if (::access(path.c_str(), F_OK) != 0)
    throw launch_error(text() << "lamina: launch: registry_authority: expected it as " << path
                              << " too, where docker's daemon reads it, found no file there",
                       64);
}

/// Writes the files with which a tool logs in to the registry, in a folder that only the user can
/// read.
LAMINA_COLD inline registry_access make_registry_access(const job& j, const image_tool& tool,
                                                        const private_folder& configuration,
                                                        const private_folder& authorities) {
  registry_access access;
  if (!j.registry_token_file.empty() || !j.registry_auth_file.empty()) {
    std::string bytes;
    if (j.registry_auth_file.empty()) {
      std::string token = option_file("registry_token_file", j.registry_token_file);
      while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
      if (token.empty())
        bad_option("registry_token_file", "a token in the file", j.registry_token_file);
      bytes = registry_configuration(registry_of(j.image), j.registry_user, token);
    } else {
      bytes = option_file("registry_auth_file", j.registry_auth_file);
    }
    static_cast<void>(configuration.write("config.json", bytes));
    access.configuration = configuration.path();
  }
  if (!j.registry_authority.empty()) {
    if (tool.kind == "docker") require_authority_of_docker(j);
    static_cast<void>(
        authorities.write("ca.crt", option_file("registry_authority", j.registry_authority)));
    access.authorities = authorities.path();
  }
  return access;
}

/// Runs a tool and returns its output; throws launch_error with that output if the tool fails.
/// `what` names the step.
LAMINA_COLD inline std::string run_image_tool(const std::vector<std::string>& words,
                                              const image_tool& tool, const char* what,
                                              const std::string& registry,
                                              command_options options) {
  std::string said;
  options.said = &said;
  options.all_output = true;  // stdout is for manifests
  const int code = run_command(words, options);
  if (code == 0) return said;
  const server_refusal refusal =
      server_refusal_in(said, "registry_user and registry_token_file, or registry_auth_file");
  if (!refusal.why.empty())
    throw launch_error(
        text() << "lamina: launch: " << what << ": " << registry << ": " << refusal.why,
        refusal.code);
  throw launch_error(text() << "lamina: launch: " << what << ": expected " << tool.kind
                            << " to succeed, found exit code " << code << " (see above)",
                     code);
}

/// Finds the digest in docker's output: "1: digest: sha256:... size: 1234".
LAMINA_COLD inline std::string printed_digest(std::string_view said) {
  const std::size_t at = said.rfind("digest: sha256:");
  if (at == said.npos) return "";
  said.remove_prefix(at + 8);
  return std::string(said.substr(0, said.find_first_of(" \r\n")));
}

LAMINA_COLD inline bool is_digest(std::string_view digest) {
  return digest.size() == 71 && digest.starts_with("sha256:") &&
         digest.find_first_not_of("0123456789abcdef", 7) == digest.npos;
}

}  // namespace distributed::detail

/// Builds `job.image` with `program`, a path on this machine, by buildah, podman or docker. The
/// image contains the program, the shared libraries that its base may lack, and `job.files`
/// (launch/containerfile.hpp). Throws lamina::error for files that are missing or
/// secret, and for a program that is linked with another MPI than the one that `job.kind` starts;
/// throws distributed::launch_error if the tool is missing or fails. PaddlePaddle v2: docker_build.
LAMINA_COLD inline void docker_build(const distributed::job& given, const std::string& program) {
  using namespace distributed;
  const job j = distributed::detail::job_to_build(given);
  const image_tool tool = distributed::detail::require_image_tool(j);
  const private_folder context, configuration, authorities;
  write_image_context(j, program, context);
  registry_access access;
  const std::string registry = registry_of(j.image);
  // The password of one registry must not be sent to another one.
  if (!j.base_image.empty() && j.base_image != "scratch" && registry_of(j.base_image) == registry)
    access = distributed::detail::make_registry_access(j, tool, configuration, authorities);
  static_cast<void>(distributed::detail::run_image_tool(
      build_words(tool, whole_image_name(j.image), context.path(), access), tool, "docker_build",
      j.base_image.empty() ? "the base image" : j.base_image, {}));
}

/// Pushes `job.image` to its registry over TLS, as job.registry_user or as the user for whom the
/// tool is logged in. Returns the name with the digest of the pushed image, "NAME:TAG@sha256:...",
/// so that no pod runs an older image of the same name. If `job.registry_authority` is given, only
/// its certificates are trusted. The token is stored in a file that only the user can read and that
/// is removed afterwards. Throws distributed::launch_error with code 64 if the registry or its
/// certificate is refused, 75 if it does not answer, or else the exit code of the tool.
/// PaddlePaddle v2: docker_push.
LAMINA_COLD inline std::string docker_push(const distributed::job& given) {
  using namespace distributed;
  const job j = distributed::detail::job_to_build(given);
  const image_tool tool = distributed::detail::require_image_tool(j);
  const private_folder configuration, authorities, results;
  const registry_access access =
      distributed::detail::make_registry_access(j, tool, configuration, authorities);
  const std::string image = whole_image_name(j.image), digest_file = results.path() + "/digest";
  command_options options;
  if (!access.authorities.empty() && tool.kind != "docker")
    options.environment = {{"SSL_CERT_FILE", access.authorities + "/ca.crt"},
                           {"SSL_CERT_DIR", access.authorities}};
  const std::string said =
      distributed::detail::run_image_tool(push_words(tool, image, digest_file, access), tool,
                                          "docker_push", registry_of(image), options);
  std::string digest;
  if (tool.kind == "docker") {
    digest = distributed::detail::printed_digest(said);
  } else {
    std::ifstream file(digest_file);
    file >> digest;
  }
  if (!distributed::detail::is_digest(digest))
    throw launch_error(text() << "lamina: launch: docker_push: expected the digest of the image "
                                 "from "
                              << tool.kind << ", found '" << digest << "'",
                       70);
  return image + "@" + digest;
}

}}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/launch/image_tool.hpp - command lines of buildah, podman and docker.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/launch/job.hpp>
#include <lamina/launch/run_command.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// A program that builds and pushes images.
struct image_tool {
  /// The path of the program.
  std::string path = {};
  /// "buildah", "podman" or "docker"; it determines the syntax of the command line.
  std::string kind = {};
};

/// Returns the tool that `job.image_tool` or LAMINA_IMAGE_TOOL names, or the first of buildah,
/// podman and docker that is installed; its path is empty if none is. Throws lamina::error if the
/// named tool does not exist or is none of the three.
LAMINA_COLD inline image_tool find_image_tool(const job& j) {
  const char* const variable = std::getenv("LAMINA_IMAGE_TOOL");
  const std::string named =
      !j.image_tool.empty() ? j.image_tool : std::string(variable == nullptr ? "" : variable);
  if (named.empty()) {
    for (const char* const kind : {"buildah", "podman", "docker"})
      if (std::string path = detail::find_command(kind); !path.empty()) return {path, kind};
    return {};
  }
  const std::string kind = named.substr(named.rfind('/') + 1), path = detail::find_command(named);
  if (kind != "buildah" && kind != "podman" && kind != "docker")
    detail::bad_option("image_tool", "buildah, podman or docker", named);
  if (path.empty()) detail::bad_option("image_tool", "a command that is there", named);
  return {path, kind};
}

/// Returns the name of an image with its registry, as tools and Kubernetes interpret it:
/// "user/name" is an image of docker.io.
LAMINA_COLD inline std::string whole_image_name(const std::string& image) {
  const std::string first = image.substr(0, image.find('/'));
  const bool has_registry = first.size() < image.size() &&
                            (first.find_first_of(".:") != first.npos || first == "localhost");
  if (has_registry) return image;
  return (image.find('/') == image.npos ? "docker.io/library/" : "docker.io/") + image;
}

/// Returns the registry of an image, such as "registry.example:5000".
LAMINA_COLD inline std::string registry_of(const std::string& image) {
  const std::string whole = whole_image_name(image);
  return whole.substr(0, whole.find('/'));
}

/// Paths of the files for access to a registry; empty: the tool's own configuration.
struct registry_access {
  /// A folder with config.json, which contains the password.
  std::string configuration = {};
  /// A folder with ca.crt, the certificate authority of the registry.
  std::string authorities = {};
};

namespace detail {

/// Appends the options for the registry, which precede the name of the image.
LAMINA_COLD inline void add_access(std::vector<std::string>& words, const image_tool& tool,
                                   const registry_access& access) {
  if (tool.kind == "docker") return;
  if (!access.configuration.empty())
    words.insert(words.end(), {"--authfile", access.configuration + "/config.json"});
  if (!access.authorities.empty()) words.insert(words.end(), {"--cert-dir", access.authorities});
}

LAMINA_COLD inline std::vector<std::string> first_words(const image_tool& tool,
                                                        const registry_access& access) {
  std::vector<std::string> words = {tool.path};
  if (tool.kind == "docker" && !access.configuration.empty())
    words.insert(words.end(), {"--config", access.configuration});
  return words;
}

}  // namespace detail

/// Returns the command that builds the image from a folder with a Containerfile. `access` is for a
/// base image in the same registry.
LAMINA_COLD inline std::vector<std::string> build_words(const image_tool& tool,
                                                        const std::string& image,
                                                        const std::string& folder,
                                                        const registry_access& access) {
  std::vector<std::string> words = detail::first_words(tool, access);
  words.push_back("build");
  detail::add_access(words, tool, access);
  words.insert(words.end(), {"--file", folder + "/Containerfile", "--tag", image, folder});
  return words;
}

/// Returns the command that pushes the image; buildah and podman write its digest to `digest_file`,
/// docker prints it.
LAMINA_COLD inline std::vector<std::string> push_words(const image_tool& tool,
                                                       const std::string& image,
                                                       const std::string& digest_file,
                                                       const registry_access& access) {
  std::vector<std::string> words = detail::first_words(tool, access);
  words.push_back("push");
  if (tool.kind == "docker") {
    words.push_back(image);
    return words;
  }
  // Overrides the system's configuration, which may allow this registry without TLS.
  words.push_back("--tls-verify=true");
  detail::add_access(words, tool, access);
  words.insert(words.end(), {"--digestfile", digest_file, image, "docker://" + image});
  return words;
}

namespace detail {

/// Encodes bytes in base 64 (RFC 4648, section 4).
LAMINA_COLD inline std::string base64(std::string_view bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 |
              (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : std::uint32_t{0});
    for (std::size_t k = 0; k < 4; ++k)
      out.push_back(i + k > bytes.size() ? '=' : letters[three >> (18 - 6 * k) & 63]);
  }
  return out;
}

}  // namespace detail

/// Returns a configuration file in docker's format that has the user's password for one registry.
/// Registry, user and token need no escapes: base 64 has no quotes.
LAMINA_COLD inline std::string registry_configuration(const std::string& registry,
                                                      const std::string& user,
                                                      const std::string& token) {
  // These files list docker.io under a special address.
  const std::string key = registry == "docker.io" ? "https://index.docker.io/v1/" : registry;
  return "{\"auths\": {\"" + key + "\": {\"auth\": \"" + detail::base64(user + ":" + token) +
         "\"}}}\n";
}

}}}  // namespace lamina::distributed

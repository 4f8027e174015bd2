// SPDX-License-Identifier: Apache-2.0
// lamina/launch/kubernetes_submission.hpp - submits a job to a cluster. Needs
// nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <nlohmann/json.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/launch/curl_submission.hpp>
#include <lamina/launch/job.hpp>
#include <lamina/launch/kubernetes_manifests.hpp>
#include <lamina/launch/launch_error.hpp>
#include <lamina/launch/private_file.hpp>
#include <lamina/launch/run_command.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

namespace detail {

/// Makes the paths of tokens and certificates absolute: in a configuration of kubectl, relative
/// paths would be relative to its folder. Throws lamina::error if a file does not exist.
LAMINA_COLD inline job with_whole_paths(job j) {
  for (std::string* const path : {&j.authority, &j.token_file, &j.certificate, &j.key}) {
    if (path->empty()) continue;
    char* const whole = ::realpath(path->c_str(), nullptr);
    if (whole == nullptr)
      throw error(text() << "lamina: launch: expected a file " << *path << ", found none");
    *path = whole;
    std::free(whole);
  }
  return j;
}

}  // namespace detail

/// Throws lamina::error unless a command can submit the job: kubectl, or curl for a job that names
/// its server.
LAMINA_COLD inline void require_submission(const job& j) {
  if (detail::find_command("kubectl").empty() &&
      (j.server.empty() || detail::find_command("curl").empty()))
    throw error(
        "lamina: launch: expected the command kubectl (or curl, for a job with `server`), "
        "found none");
}

/// Submits the objects of a job to the API server by kubectl, or by curl if there is no kubectl. An
/// existing claim, service or policy is kept or changed; an existing job with the same name is an
/// error, because its training may still run. Throws launch_error with code 64 if the server
/// refuses the user, one of the certificates or the name, 75 if it does not answer, or else
/// kubectl's exit code; throws lamina::error as require_submission does, and if a file that the
/// user names does not exist.
LAMINA_COLD inline void submit_to_kubernetes(const job& given) {
  require_submission(given);
  const job j = detail::with_whole_paths(given);
  if (detail::find_command("kubectl").empty()) return submit_by_curl(j);
  detail::manifest list = detail::manifest::parse(kubernetes_manifests(j)), jobs = list;
  jobs["items"] = detail::manifest::array({list["items"].back()});
  list["items"].erase(list["items"].size() - 1);
  std::vector<std::string> words = {"kubectl", "--request-timeout=60s"};
  std::optional<private_file> configuration;
  if (!j.server.empty()) {
    configuration.emplace(kubectl_configuration(j));
    words.insert(words.end(), {"--kubeconfig", configuration->path()});
  }
  const auto run = [&](const char* verb, const detail::manifest& objects) {
    if (objects["items"].empty()) return;
    std::vector<std::string> all = words;
    all.insert(all.end(), {verb, "-f", "-"});
    std::string said;
    const std::string input = objects.dump(2) + "\n";
    const int code = run_command(all, {.input = input, .said = &said});
    if (code == 0) return;
    const server_refusal refusal =
        server_refusal_in(said, "token_file, or certificate and key, or kubectl's configuration");
    if (!refusal.why.empty())
      throw launch_error(
          text() << "lamina: launch: " << (j.server.empty() ? "the API server" : j.server) << ": "
                 << refusal.why,
          refusal.code);
    throw launch_error(text() << "lamina: launch: expected kubectl " << verb
                              << " to succeed, found exit code " << code << " (see above)",
                       code);
  };
  run("apply", list);
  run("create", jobs);
}

}}}  // namespace lamina::distributed

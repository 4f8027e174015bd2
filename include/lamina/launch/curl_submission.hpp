// SPDX-License-Identifier: Apache-2.0
// lamina/launch/curl_submission.hpp - submits a job to a cluster by curl. Needs
// nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <nlohmann/json.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/launch/job.hpp>
#include <lamina/launch/kubernetes_manifests.hpp>
#include <lamina/launch/launch_error.hpp>
#include <lamina/launch/private_file.hpp>
#include <lamina/launch/run_command.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

namespace detail {

/// Returns the path of an API server that creates an object:
/// "/apis/batch/v1/namespaces/default/jobs".
LAMINA_COLD inline std::string collection_path(const manifest& object) {
  const std::string version = object["apiVersion"].get<std::string>();
  std::string names = object["kind"].get<std::string>();
  for (char& c : names) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (names.ends_with('y')) names.replace(names.size() - 1, 1, "ie");
  return (version == "v1" ? "/api/v1" : "/apis/" + version) + "/namespaces/" +
         object["metadata"]["namespace"].get<std::string>() + "/" + names + "s";
}

/// Escapes a path for curl's --cert, which takes text after a colon as a password.
LAMINA_COLD inline std::string curl_certificate(std::string_view path) {
  std::string word;
  for (const char c : path)
    word += c == ':' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return word;
}

/// The answer of an API server: the HTTP status code and the body.
struct api_answer {
  int code = 0;
  std::string body = {};
};

/// Divides the output of `curl --write-out "\n%{http_code}"` into body and status code.
LAMINA_COLD inline api_answer read_api_answer(const std::string& said) {
  const std::size_t end = said.rfind('\n');
  if (end == said.npos) return {};
  return {std::atoi(said.c_str() + end + 1), said.substr(0, end)};
}

}  // namespace detail

/// Submits the objects of a job to the API server `job.server` by curl, for machines without
/// kubectl. Objects that already exist are kept, but an existing job with the same name is an
/// error. If `job.authority` is given, curl trusts it alone; the token is stored in a file that
/// only the user can read and that is removed afterwards. Throws launch_error with code 64 if the
/// server refuses the user, one of the certificates, the name or an object, 75 if it does not
/// answer, or else curl's exit code; throws lamina::error if curl is missing.
LAMINA_COLD inline void submit_by_curl(const job& j) {
  const private_folder folder;
  std::vector<std::string> words = {"curl",          "--disable",
                                    "--globoff",     "--silent",
                                    "--show-error",  "--proto",
                                    "=https",        "--tlsv1.2",
                                    "--max-time",    "60",
                                    "--request",     "POST",
                                    "--header",      "Content-Type: application/json",
                                    "--write-out",   "\n%{http_code}",
                                    "--data-binary", "@-"};
  // An empty --capath keeps curl from also trusting the system's authorities.
  if (!j.authority.empty())
    words.insert(words.end(), {"--cacert", j.authority, "--capath", folder.path()});
  if (!j.certificate.empty())
    words.insert(words.end(), {"--cert", detail::curl_certificate(j.certificate), "--key", j.key});
  if (!j.token_file.empty()) {
    std::ifstream file(j.token_file, std::ios::binary);
    std::string token;
    if (!(file >> token)) detail::bad_option("token_file", "a token in the file", j.token_file);
    const std::string path = folder.write("header", "Authorization: Bearer " + token + "\n");
    words.insert(words.end(), {"--header", "@" + path});
  }
  const detail::manifest list = detail::manifest::parse(kubernetes_manifests(j));
  const auto fail = [&](const std::string& why, int code) {
    throw launch_error(text() << "lamina: launch: " << j.server << ": " << why, code);
  };
  for (const detail::manifest& object : list["items"]) {
    std::string server = j.server;
    while (server.ends_with('/')) server.pop_back();
    std::vector<std::string> all = words;
    all.push_back(server + detail::collection_path(object));
    std::string said;
    const int code = run_command(
        all, {.input = object.dump(), .said = &said, .all_output = true, .shows = false});
    const detail::api_answer answer = detail::read_api_answer(said);
    const bool is_job = &object == &list["items"].back();
    const std::string user = "token_file, or certificate and key";
    if (code != 0) {
      // curl prints advice after the line with the reason.
      const std::size_t first = (std::min)(said.find("curl: ("), said.size());
      const std::string why = said.substr(first, said.find('\n', first) - first);
      const server_refusal refusal = server_refusal_in(why, user);
      if (!refusal.why.empty()) fail(refusal.why, refusal.code);
      fail(text() << "expected curl to succeed, found exit code " << code << ": " << why, code);
    }
    if ((answer.code >= 200 && answer.code < 300) || (answer.code == 409 && !is_job)) continue;
    const char* const word = answer.code == 401                         ? "unauthorized"
                             : answer.code == 403                       ? "forbidden"
                             : answer.code == 409                       ? "already exists"
                             : answer.code == 429 || answer.code >= 500 ? "service unavailable"
                                                                        : "";
    const server_refusal refusal = server_refusal_in(word, user);
    if (!refusal.why.empty()) fail(refusal.why, refusal.code);
    fail(text() << "expected it to take a " << object["kind"].get<std::string>()
                << ", found HTTP code " << answer.code << ": " << answer.body,
         64);
  }
}

}}}  // namespace lamina::distributed

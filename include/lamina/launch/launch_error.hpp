// SPDX-License-Identifier: Apache-2.0
// lamina/launch/launch_error.hpp - why a job was not started, and its exit code.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Reports a job that was not started. `code()` is the exit code of the launcher: 64 if somebody
/// has to change something, 75 if another try may succeed, or the code of the tool that failed.
class launch_error : public error {
 public:
  LAMINA_COLD launch_error(const std::string& what, int code) : error(what), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// The reason, in one line, for which a tool could not use a server, and the exit code for it.
struct server_refusal {
  /// "expected X, found Y"; empty if the text does not report a refusal.
  std::string why = {};
  int code = 0;
};

/// Searches the last lines of output of a tool (kubectl, buildah, podman, docker) for the reason
/// for which a server could not be used: its certificate, the user, a name that is taken, or no
/// answer. `user` names the options that authenticate the user.
LAMINA_COLD inline server_refusal server_refusal_in(std::string_view said, std::string_view user) {
  // The error is in the last lines; earlier ones are output of programs that ran during the build.
  while (!said.empty() && said.back() == '\n') said.remove_suffix(1);
  std::size_t from = said.size();
  for (int lines = 0; lines < 6 && from != said.npos && from > 0; ++lines)
    from = said.rfind('\n', from - 1);
  const std::string_view end = from == said.npos ? said : said.substr(from);
  std::string low;
  for (const char c : end) low.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  const auto has = [&](std::initializer_list<std::string_view> words) {
    for (const std::string_view w : words)
      if (low.find(w) != low.npos) return true;
    return false;
  };
  if (has({"certificate has expired", "certificate is expired", "expired certificate",
           "certificate expired", "not yet valid"}))
    return {"expected certificates that are valid today, found one that is not", 64};
  if (has({"unknown authority", "x509:", "ssl certificate problem", "alert unknown ca",
           "unknown certificate authority", "certificate is not trusted", "bad certificate",
           "certificate required", "failed to verify certificate"}))
    return {"expected certificates that client and server trust, found another", 64};
  if (has({"unauthorized", "authentication required", "invalid username/password",
           "must be logged in", "asked for the client to provide credentials",
           "incorrect username or password", "no basic auth credentials"}))
    return {std::string(text() << "expected a user that the server knows by " << user
                               << ", found another"),
            64};
  if (has({"forbidden", "access to the resource is denied", "requested access"}))
    return {"expected a user who may do this, found one who may not", 64};
  if (has({"alreadyexists", "already exists"}))
    return {
        "expected a name that is free, found one that is taken: choose another, or delete the "
        "job of before",
        64};
  if (has({"connection refused", "no such host",
           "i/o timeout",        "handshake timeout",
           "client.timeout",     "timed out",
           "deadline exceeded",  "network is unreachable",
           "no route to host",   "connection reset",
           "unexpected eof",     "service unavailable",
           "bad gateway",        "too many requests",
           "could not resolve",  "temporary failure in name resolution",
           "server misbehaving", "unable to connect",
           "failed to connect",  "could not connect",
           "couldn't connect"}))
    return {"expected an answer of the server, found none; try again", 75};
  return {};
}

}}}  // namespace lamina::distributed

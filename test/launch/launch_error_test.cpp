// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <catch2/catch.hpp>

#include <lamina/launch/launch_error.hpp>

using lamina::distributed::server_refusal;
using lamina::distributed::server_refusal_in;

TEST_CASE("what a tool says last is the reason of its failure") {
  const auto code = [](const std::string& said) { return server_refusal_in(said, "u").code; };
  // From kubectl, buildah, podman and docker.
  for (const char* const said :
       {"Error: x: pinging r: tls: failed to verify certificate: x509: certificate has expired",
        "remote error: tls: unknown certificate authority",
        "Get \"https://h/?timeout=1m0s\": remote error: tls: expired certificate",
        "x509: certificate is valid for a, not b", "error: You must be logged in to the server",
        "unauthorized: authentication required", "denied: requested access to the resource",
        "Error from server (AlreadyExists): jobs.batch \"a\" already exists",
        "Error from server (Forbidden): jobs.batch is forbidden"})
    CHECK(code(said) == 64);
  for (const char* const said :
       {"dial tcp 127.0.0.1:1: connect: connection refused", "lookup h: no such host\n\n",
        "net/http: TLS handshake timeout", "read: connection reset by peer", "i/o timeout",
        "Service Unavailable"})
    CHECK(code(said) == 75);
  for (const char* const said : {"", "\n", "https://h/?timeout=60s", "no space left on device"}) {
    CHECK(code(said) == 0);
    CHECK(server_refusal_in(said, "u").why.empty());
  }
  // What was printed while an image was built is no reason.
  CHECK(code("connection refused\n1\n2\n3\n4\n5\nError: x\n") == 0);
  CHECK(server_refusal_in("unauthorized", "token_file").why ==
        "expected a user that the server knows by token_file, found another");
}

// SPDX-License-Identifier: Apache-2.0
// Checks that a program at edge values computes on the host in place of a device, by one thread and
// by a team of four, what the CPU engine computes.
#pragma once

#include <limits>
#include <vector>

#include "engine/cuda/edge_values.hpp"
#include "engine/cuda/host_backend.hpp"
#include "engine/edge_programs.hpp"
#include <catch2/catch.hpp>

namespace test::edges {

using serial = lamina::engine::cuda::host_backend<1>;
using team = lamina::engine::cuda::host_backend<4>;
inline constexpr double none = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Runs a program by one thread.
template <class P>
void check(P program, const std::vector<numbers>& given, int rows,
           const edge_options& options = {}) {
  CHECK(edges_apart<serial>(program, given, rows, options) == "");
}
/// Runs a program by one thread, then by a team.
template <class P>
void check_teams(P program, const std::vector<numbers>& given, int rows,
                 const edge_options& options = {}) {
  check(program, given, rows, options);
  CHECK(edges_apart<team>(program, given, rows, options) == "");
}

}  // namespace test::edges

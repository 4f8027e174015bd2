// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/block_error.hpp - the error messages of loops and branches.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/program/names.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Throws lamina::error for a loop that has not ended after `limit` iterations. `condition` is the
/// number of the loop's condition variable.
template <class Schedule>
[[noreturn]] LAMINA_COLD void fail_endless_loop(int condition, std::uint64_t limit) {
  text message("lamina: while: expected the condition '");
  std::string name(static_cast<std::size_t>(name_length(Schedule::program, condition)), ' ');
  name_writer w{name.data()};
  write_name(Schedule::program, condition, w);
  message << name << "' to be false after " << limit << " iterations, found true";
  throw error(message);
}

/// Throws lamina::error because the number of rows of a domain has changed from `expected` to
/// `found`.
template <class Schedule>
[[noreturn]] LAMINA_COLD void fail_changed_rows(int domain, int expected, int found) {
  text message("lamina: rows of '");
  const domain_desc& d = Schedule::program.domains[domain];
  message << (domain == batch::domain ? std::string_view("batch")
                                      : std::string_view(Schedule::program.characters + d.offset,
                                                         static_cast<std::size_t>(d.length)))
          << "': expected " << expected << ", found " << found;
  throw error(message);
}

}}}  // namespace lamina::engine

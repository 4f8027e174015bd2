// SPDX-License-Identifier: Apache-2.0
// lamina/program/variable_name.hpp - the name of a variable of a program as text.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/program/names.hpp>
#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the name of a variable of a program.
inline std::string variable_name(const program_view& p, int variable) {
  std::string text(static_cast<std::size_t>(name_length(p, variable)), ' ');
  name_writer w{text.data()};
  write_name(p, variable, w);
  return text;
}

}}  // namespace lamina

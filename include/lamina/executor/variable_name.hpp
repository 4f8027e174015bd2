// SPDX-License-Identifier: Apache-2.0
// lamina/executor/variable_name.hpp - the name of a variable of a program as text.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/program/names.hpp>
#include <lamina/program/program_desc.hpp>

namespace lamina::inline LAMINA_ABI {

/// The name of a variable as text.
inline std::string name_of(const program_view& program, int variable) {
  std::string text(static_cast<std::size_t>(name_length(program, variable)), ' ');
  name_writer w{text.data()};
  write_name(program, variable, w);
  return text;
}

}  // namespace lamina::inline LAMINA_ABI

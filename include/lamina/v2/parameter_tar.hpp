// SPDX-License-Identifier: Apache-2.0
// lamina/v2/parameter_tar.hpp - to_tar, from_tar and init_from_tar of v2's parameters, and
// save_parameter_to_tar of its trainer.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/files/file.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/v2/parameters.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::parameters {

/// Writes each parameter once; errors are those of lamina::to_tar.
template <program_type... P>
LAMINA_COLD void write_tar(const Parameters<P...>& from, const file_path& path) {
  named_tensors all;
  from.each([&](const parameter_info& info, const auto& m, int i) {
    all.emplace(info.name, m.get(i));
    return false;
  });
  to_tar(path, all);
}

/// Reads every parameter, or only those in the archive; errors are those of lamina::from_tar.
template <program_type... P>
LAMINA_COLD void read_tar(Parameters<P...>& to, const file_path& path, bool every) {
  const auto read = [&](auto& m) {
    if (every)
      lamina::from_tar(path, m);
    else
      lamina::init_from_tar(path, m);
  };
  to.apply([&](auto&... m) { (read(m), ...); });
}

}}}  // namespace lamina::v2::parameters

// SPDX-License-Identifier: Apache-2.0
// lamina/v2/parameter_tar.hpp - implements to_tar, from_tar and init_from_tar of v2's parameters,
// and save_parameter_to_tar of v2's trainer.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/files/file.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/v2/parameters.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::parameters {

/// Writes each parameter once to an archive. Errors are those of lamina::to_tar.
template <program_type... P>
LAMINA_COLD void write_tar(const Parameters<P...>& from, const file_path& path) {
  named_tensors all;
  from.each([&](const parameter_info& info, const auto& m, int i) {
    all.emplace(info.name, m.get(i));
    return false;
  });
  to_tar(path, all);
}

/// Reads all parameters from an archive or, if `every` is false, only those that the archive
/// contains. Errors are those of lamina::from_tar.
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

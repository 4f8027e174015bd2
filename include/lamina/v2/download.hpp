// SPDX-License-Identifier: Apache-2.0
// lamina/v2/download.hpp - downloads a file of a data set to the folder of v2.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <string>
#include <string_view>

#include <lamina/core/files/file.hpp>
#include <lamina/core/files/md5.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/v2/data_home.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::dataset::common {

namespace detail {

/// Throws lamina::error unless `part` is a name without a path, so that no file outside of the
/// folder can be written; `what` names it in the message.
LAMINA_COLD inline void require_file_name(const std::string& part, std::string_view what) {
  if (!lamina::detail::is_file_name(part))
    throw error(text() << "lamina: v2: download: expected a " << what << " that is a name, found '"
                       << part << "'");
}

/// Downloads a URL to a file with the command curl. Returns the exit code of curl. Throws
/// lamina::error if curl cannot be started.
LAMINA_COLD inline int run_curl(const std::string& url, const std::string& path) {
  const int status =
      lamina::detail::system::run_program({"curl", "--globoff", "--fail", "--location", "--silent",
                                           "--show-error", "--output", path, "--url", url});
  if (status < 0)
    throw error(text() << "lamina: v2: download: expected the command curl, found none: "
                       << reason_of(errno));
  return status;
}

/// Returns the MD5 sum of a file; an empty text if there is no such file.
LAMINA_COLD inline std::string sum_of(const std::string& path) {
  using lamina::detail::system::file_kind, lamina::detail::system::status_of;
  return status_of(path).kind != file_kind::missing ? md5file(path) : std::string();
}

}  // namespace detail

/// Returns the path DATA_HOME()/module_name/FILE of a file that has the MD5 sum `md5sum` (32
/// hexadecimal digits). FILE is `save_name` or, if that is empty, the last part of the URL. If the
/// file does not exist or has another MD5 sum, downloads it with the command curl, in at most three
/// attempts. A partly downloaded file never gets this path. Throws lamina::error if curl is
/// missing, and if the downloaded file has another MD5 sum. v2: dataset.common.download.
LAMINA_COLD inline std::string download(const std::string& url, const std::string& module_name,
                                        std::string_view md5sum, std::string save_name = "") {
  constexpr int most = 3;
  if (save_name.empty()) save_name = url.substr(url.rfind('/') + 1);
  detail::require_file_name(module_name, "module");
  detail::require_file_name(save_name, "file");
  if (md5sum.size() != 32 || md5sum.find_first_not_of("0123456789abcdef") != md5sum.npos)
    throw error(
        text() << "lamina: v2: download: expected an MD5 sum of 32 digits (0-9, a-f), found '"
               << md5sum << "'");
  const std::string folder = DATA_HOME() + "/" + module_name, path = folder + "/" + save_name;
  if (detail::sum_of(path) == md5sum) return path;
  make_directories(folder);
  // The name contains the id of this process, because another process may download the same file.
  const std::string part = text() << path << "." << lamina::detail::system::process_id() << ".part";
  std::string found = "nothing";
  for (int i = 0; i < most; ++i) {
    const int code = detail::run_curl(url, part);
    const std::string sum = code == 0 ? detail::sum_of(part) : std::string();
    if (code == 0 && sum == md5sum) {
      if (lamina::detail::system::rename_file(part, path)) return path;
      found = reason_of(errno);
      break;
    }
    found = code == 0 ? "a file with " + sum
                      : std::string(text() << "exit code " << code << " of curl");
  }
  lamina::detail::system::remove_path(part);
  throw error(text() << "lamina: v2: download: " << url << ": expected a file with the MD5 sum "
                     << md5sum << ", found " << found);
}

}}}  // namespace lamina::v2::dataset::common

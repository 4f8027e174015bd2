// SPDX-License-Identifier: Apache-2.0
// lamina/cli/pass_folder.hpp - the folders pass-00000, pass-00001 and so on in the folder of
// --save_dir.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include <lamina/cli/trainer_flags.hpp>
#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The folder of one pass, with these files:
///
///   model      the parameters, as model::save writes them
///   trainer    parameters, accumulators, step and pass, as trainer::save writes them
///   path.txt   the name of the configuration
///   done       the version of lamina; it is written last, so a folder without it is incomplete
class pass_folder {
 public:
  pass_folder(std::string_view save_dir, int pass) {
    char name[32];
    std::snprintf(name, sizeof name, "pass-%05d", pass);
    path_ = text() << save_dir << (save_dir.ends_with('/') ? "" : "/") << name;
  }

  const std::string& path() const { return path_; }
  std::string model() const { return path_ + "/model"; }
  std::string trainer() const { return path_ + "/trainer"; }

  /// Makes the folder if it does not exist, and removes its file `done`, so that it is incomplete
  /// until finish().
  LAMINA_COLD void begin() const {
    make_directories(path_);
    if (!detail::system::remove_path(done()) && errno != ENOENT)
      throw error(text() << "lamina: " << done() << ": cannot be removed: " << reason_of(errno));
  }
  /// Marks the folder as complete, after the model and the trainer were written.
  LAMINA_COLD void finish(const std::string& config) const {
    write(path_ + "/path.txt", config);
    write(done(), text() << "lamina " << LAMINA_VERSION_MAJOR << "." << LAMINA_VERSION_MINOR << "."
                         << LAMINA_VERSION_PATCH);
  }
  /// Throws lamina::error unless the folder is complete; the message begins with `who`.
  LAMINA_COLD void require_whole(const std::string& who) const {
    using detail::system::file_kind, detail::system::status_of;
    if (status_of(done()).kind != file_kind::missing) return;
    const bool is_there = status_of(path_).kind != file_kind::missing;
    throw error(text() << "lamina: " << who << ": expected the folder of a whole pass, " << path_
                       << ", found " << (is_there ? "one without the file done" : "none"));
  }
  /// Removes the four files, and the folder if it then is empty. Returns false, with errno set, if
  /// the operating system does not allow it.
  LAMINA_COLD bool remove() const {
    for (const char* const name : {"/done", "/path.txt", "/trainer", "/model"})
      if (!detail::system::remove_path(path_ + name) && errno != ENOENT && errno != ENOTDIR)
        return false;
    return detail::system::remove_folder(path_) || errno == ENOENT || errno == ENOTEMPTY ||
           errno == EEXIST;
  }

 private:
  std::string done() const { return path_ + "/done"; }
  LAMINA_COLD static void write(const std::string& path, const std::string& line) {
    binary_writer to(path);
    to.write(line);
    to.write("\n");
    to.finish();
  }

  std::string path_;
};

/// Returns the parameter file for the path of `--init_model_path`, which is such a file or the
/// folder of a pass.
LAMINA_COLD inline std::string model_file_at(const std::string& path) {
  if (detail::system::status_of(path).kind == detail::system::file_kind::folder)
    return path + "/model";
  return path;
}
/// Returns the parameter file with which a job begins: the file of --init_model_path, or the file
/// of the pass before --start_pass. Returns an empty text if neither flag is given. Throws
/// lamina::error if the folder of the pass is incomplete.
LAMINA_COLD inline std::string first_model(const trainer_flags& flags) {
  if (!flags.init_model_path.empty()) return model_file_at(flags.init_model_path);
  if (flags.start_pass == 0) return {};
  const std::string who = text() << "--start_pass=" << flags.start_pass;
  if (flags.save_dir.empty())
    throw error("lamina: " + who +
                ": expected --save_dir with the folder of the pass before, or "
                "--init_model_path, found neither");
  const pass_folder before(flags.save_dir, flags.start_pass - 1);
  before.require_whole(who);
  return before.model();
}
/// Returns the name of the configuration that wrote a folder; empty if the folder does not contain
/// the name.
LAMINA_COLD inline std::string configuration_of(const std::string& folder) {
  const open_file from(folder + "/path.txt");
  std::string name;
  if (!from.is_open() || !from.read_all(name)) return {};
  return name.substr(0, name.find_first_of("\r\n"));
}

}}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/checkpoint_directory.hpp - the option that names the directory for checkpoints.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <string>

namespace lamina { inline namespace LAMINA_ABI {

/// Pointers to the functions that write and read checkpoints
/// (lamina/train/checkpoints/checkpoint.hpp).
struct checkpoint_files;
inline const checkpoint_files& checkpoint_functions();

namespace optimizer {

/// The directory of a training run's checkpoints; empty if none are written. Only the constructor
/// from a path refers to the code for checkpoints, so a program that names no directory does not
/// contain this code.
class checkpoint_directory {
 public:
  checkpoint_directory() = default;
  template <class Path>
  requires(std::constructible_from<std::string, const Path&> &&
           !std::same_as<Path, checkpoint_directory>)
      checkpoint_directory(const Path& path)  // NOLINT: a path converts
      : path_(path), files_(&checkpoint_functions()) {}

  bool empty() const { return path_.empty(); }
  const std::string& string() const { return path_; }
  /// Returns null if no path was given.
  const checkpoint_files* files() const { return files_; }

 private:
  std::string path_;
  const checkpoint_files* files_ = nullptr;
};

}  // namespace optimizer
}}  // namespace lamina

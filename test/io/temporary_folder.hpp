// SPDX-License-Identifier: Apache-2.0
// A folder of one test, removed with it.
#pragma once

#include <filesystem>
#include <random>
#include <string>

class temporary_folder {
 public:
  temporary_folder() {
    std::random_device number;
    do
      path_ = (std::filesystem::temp_directory_path() / "lamina_io_").string() +
              std::to_string(number());
    while (!std::filesystem::create_directory(path_));
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

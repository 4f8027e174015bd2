// SPDX-License-Identifier: Apache-2.0
// test/dataset/temporary_file.hpp - files and damaged files for the tests of this folder.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace test {

/// A directory of its own, removed with all that is in it.
class temporary_directory {
 public:
  temporary_directory() {
    static std::atomic<int> count = 0;
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    path_ = std::filesystem::temp_directory_path() /
            ("lamina_test_" + std::to_string(now) + "_" + std::to_string(++count));
    std::filesystem::create_directories(path_);
  }
  temporary_directory(const temporary_directory&) = delete;
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path() const { return path_.string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

/// The least significant `count` bytes of a number, big end first.
inline std::string big(std::uint64_t value, int count = 4) {
  std::string bytes;
  for (int i = count - 1; i >= 0; --i) bytes += static_cast<char>(value >> (8 * i) & 255);
  return bytes;
}

/// The folder of real data sets, or empty: then the test says so and returns.
inline std::string real_data() {
  const char* folder = std::getenv("LAMINA_TEST_DATA");
  return folder ? folder : "";
}

}  // namespace test

/// Leaves a test case, loudly, where the real data are not at hand.
#define LAMINA_NEEDS_REAL_DATA(file)                                                             \
  if (test::real_data().empty() || !std::filesystem::exists(test::real_data() + "/" + (file))) { \
    WARN("SKIPPED: needs " << (file) << " in the folder LAMINA_TEST_DATA");                      \
    return;                                                                                      \
  }

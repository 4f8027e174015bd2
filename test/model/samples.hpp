// SPDX-License-Identifier: Apache-2.0
// test/model/samples.hpp - small data, files and questions that the tests of models and training
// share.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/numbers/philox.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/model.hpp>
#include <lamina/program/program.hpp>

namespace test {

/// Six numbers in [-1, 1) and one of three classes, which depends on them.
struct sample {
  std::array<float, 6> x;
  std::int64_t label;
};
inline std::vector<sample> samples(int count, std::uint64_t seed = 5) {
  std::vector<sample> made;
  for (int i = 0; i < count; ++i) {
    sample s{};
    for (std::size_t k = 0; k < s.x.size(); ++k)
      s.x[k] = 2 * lamina::uniform_at(seed, static_cast<std::uint64_t>(i), k) - 1;
    s.label = s.x[0] + s.x[1] > 0.3f ? 0 : s.x[2] - s.x[3] > 0 ? 1 : 2;
    made.push_back(s);
  }
  return made;
}

/// A directory of its own, removed with all that is in it.
class folder {
 public:
  folder() {
    static std::atomic<int> count = 0;
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    path_ = std::filesystem::temp_directory_path() /
            ("lamina_model_" + std::to_string(now) + "_" + std::to_string(++count));
    std::filesystem::create_directories(path_);
  }
  folder(const folder&) = delete;
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::string string() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
inline void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// All parameters of a model as the bytes of its file.
template <class P>
std::vector<std::string> bytes_of(const lamina::model<P>& m) {
  std::vector<std::string> all;
  for (const lamina::tensor_entry& e : m.entries()) all.emplace_back(e.bytes.view());
  return all;
}

/// The text of the lamina::error that a call throws; fails where it throws none.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const lamina::error& e) {
    return e.what();
  }
  FAIL("expected a lamina::error, found none");
  return {};
}

}  // namespace test

// SPDX-License-Identifier: Apache-2.0
// Readers divided over files and files divided over trainers, as by paddle.dataset.common.
#include <array>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/model/feeding/sample_files.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/reader/shuffle.hpp>

using Catch::Contains;

namespace {

struct sample {
  std::array<float, 2> x;
  std::int64_t label;
};
std::vector<sample> samples(int count) {
  std::vector<sample> all;
  for (int i = 0; i < count; ++i)
    all.push_back({{static_cast<float>(i), 0.5f * static_cast<float>(i)}, i % 3});
  return all;
}

}  // namespace

TEST_CASE("a reader is divided over files, and these over trainers") {
  const temporary_folder folder;
  CHECK(lamina::split_files(samples(23), 5, folder.path() + "/train-%05d.recordio") == 5);
  CHECK(lamina::read_samples<sample>(folder.path() + "/train-00004.recordio").size() == 3);
  const std::string all = folder.path() + "/train-*.recordio";
  std::multiset<float> seen;
  for (std::int64_t id = 0; id < 3; ++id) {
    const auto reader = lamina::cluster_files_reader<sample>(all, 3, id);
    CHECK(reader.files().size() == (id < 2 ? 2 : 1));
    std::vector<float> first;
    for (const sample& s : reader()) {
      CHECK(s.x[1] == 0.5f * s.x[0]);
      CHECK(s.label == static_cast<std::int64_t>(s.x[0]) % 3);
      seen.insert(s.x[0]);
      first.push_back(s.x[0]);
    }
    CHECK(first[0] == static_cast<float>(5 * id));
    std::size_t again = 0;
    auto batches = reader | lamina::reader::shuffle(100) | lamina::reader::batch(4);
    for (auto&& batch : lamina::reader::begin_pass(batches, 1)) again += batch.size();
    CHECK(again == first.size());
  }
  CHECK(seen.size() == 23);
  CHECK(std::set<float>(seen.begin(), seen.end()).size() == 23);
}

TEST_CASE("files of samples by functions of the user") {
  const temporary_folder folder;
  const auto dumper = [](const std::vector<int>& held, const std::string& path) {
    std::ofstream file(path);
    for (const int n : held) file << n << '\n';
  };
  const auto loader = [](const std::string& path) {
    std::ifstream file(path);
    std::vector<int> all;
    for (int n = 0; file >> n;) all.push_back(n);
    return all;
  };
  CHECK(lamina::split_files(std::vector<int>{7, 8, 9}, 2, folder.path() + "/%d.txt", dumper) == 2);
  std::vector<int> read;
  for (const int n : lamina::cluster_files_reader(folder.path() + "/*.txt", 1, 0, loader)())
    read.push_back(n);
  CHECK(read == std::vector<int>{7, 8, 9});
}

TEST_CASE("convert writes RecordIO") {
  const temporary_folder folder;
  CHECK(lamina::convert(folder.path(), samples(4), 4, "one") == 1);
  CHECK(lamina::read_samples<sample>(folder.path() + "/one-00000").size() == 4);
  CHECK_THROWS_WITH(lamina::convert(folder.path(), samples(1), 4, "%d"),
                    Contains("expected names without %"));
}

TEST_CASE("files of samples that cannot be written or read") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/%02d";
  for (const char* pattern : {"none", "%s", "%", "%5", "%d-%d", "%99d"})
    CHECK_THROWS_WITH(lamina::split_files(samples(2), 1, folder.path() + "/" + pattern),
                      Contains("expected one number such as %05d"));
  CHECK_THROWS_WITH(lamina::split_files(samples(2), 0, path), Contains("at least 1 sample"));
  CHECK_THROWS_WITH(lamina::split_files(samples(0), 1, path), Contains("found none"));
  CHECK_THROWS_WITH(lamina::split_files(samples(2), 1, folder.path() + "/none/%d"),
                    Contains("cannot be written"));
  CHECK(lamina::split_files(samples(6), 2, path) == 3);
  CHECK_THROWS_WITH(lamina::split_files(samples(4), 2, path),
                    Contains("/02', of an earlier and longer reader"));

  CHECK_THROWS_WITH(lamina::read_samples<float>(folder.path() + "/00"),
                    Contains("/00, offset 0") && Contains("expected a sample of the fields 'f4 '"));
  CHECK_THROWS_WITH(lamina::cluster_files_reader<sample>("x", 2, 2), Contains("found 2 of 2"));
  CHECK_THROWS_WITH(lamina::cluster_files_reader<sample>("x", 0, 0), Contains("found 0 of 0"));
  const auto reader = lamina::cluster_files_reader<sample>(folder.path() + "/0*", 4, 1);
  CHECK_THROWS_WITH(reader.files(), Contains("expected at least 4 files") && Contains("found 3"));
  std::ofstream(folder.path() + "/01", std::ios::app) << "x";
  CHECK_THROWS_AS(lamina::read_samples<sample>(folder.path() + "/01"), lamina::format_error);
}

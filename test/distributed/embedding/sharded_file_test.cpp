// SPDX-License-Identifier: Apache-2.0
// Files of tables that ranks divide are those of whole tables.

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/sharded_embedding.hpp"
#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/embedding/sharded_file.hpp>
#include <lamina/model/parameters/tensor_file.hpp>

namespace {

using lamina::dtype;
using lamina::distributed::peer_embedding;
using test::fill, test::has_row, test::two_tables, test::value;

}  // namespace

TEST_CASE("a file of sharded tables is that of whole ones, for any number of ranks", "[threads]") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "lamina_sharded_tables_test";
  std::filesystem::create_directories(folder);
  const std::string path = folder / "tables";
  const auto entries = [] {
    std::vector<lamina::tensor_entry> all;
    all.push_back({"words", dtype::float32, {101, 70}, {}});
    all.push_back(lamina::tensor_entry::letters("between", "text"));
    all.push_back({"users", dtype::float32, {3, 1}, {}});
    return all;
  };
  const auto arrays = [](const peer_embedding& tables) {
    return std::vector<lamina::embedding_array>{{0, "words", tables.memory(0)},
                                                {1, "users", tables.memory(1)}};
  };
  std::vector<lamina::tensor_entry> whole = entries();
  for (const int t : {0, 1}) {
    auto& e = whole[t == 0 ? 0 : 2];
    e.bytes = lamina::raw_bytes(e.dims[0] * e.dims[1] * sizeof(float));
    for (std::size_t r = 0; r < e.dims[0]; ++r)
      for (std::size_t c = 0; c < e.dims[1]; ++c)
        reinterpret_cast<float*>(e.bytes.data())[r * e.dims[1] + c] =
            value(t, static_cast<int>(r), static_cast<int>(c));
  }
  lamina::write_tensor_file(path + "_whole", whole);
  const auto bytes_of = [](const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  std::mutex mutex;
  for (const int ranks : {2, 3, 5}) {
    test::in_ranks(ranks, [&](test::thread_group& w) {
      peer_embedding tables(w, two_tables(), 0);
      fill(tables);
      tables.write(path, entries(), arrays(tables));
    });
    CHECK(bytes_of(path) == bytes_of(path + "_whole"));
    test::in_ranks(ranks == 5 ? 2 : ranks + 1, [&](test::thread_group& w) {
      peer_embedding tables(w, two_tables(), 0);
      const auto found = tables.read(path, arrays(tables));
      tables.read_rows(path, arrays(tables));
      const std::lock_guard lock(mutex);
      CHECK(found[1].bytes.view() == "text");
      CHECK(found[0].bytes.size() == 0);
      for (const int t : {0, 1})
        for (int r = tables.first(t); r < tables.end(t); ++r) CHECK(has_row(tables, t, r));
    });
  }
  // A byte of a table is another one: all ranks notice, and a file that cannot be written is an
  // error in all ranks.
  std::string damaged = bytes_of(path);
  damaged[damaged.size() / 2] ^= 1;
  std::ofstream(path, std::ios::binary) << damaged;
  int refused = 0;
  test::in_ranks(3, [&](test::thread_group& w) {
    peer_embedding tables(w, two_tables(), 0);
    try {
      (void)tables.read(path, arrays(tables));
    } catch (const lamina::format_error&) {
      const std::lock_guard lock(mutex);
      ++refused;
    }
    try {
      tables.write((folder / "none" / "tables").string(), entries(), arrays(tables));
    } catch (const lamina::error& e) {
      const std::lock_guard lock(mutex);
      ++refused;
      CHECK(std::string(e.what()).find("none/tables") != std::string::npos);
    }
  });
  CHECK(refused == 6);
  std::filesystem::remove_all(folder);
}

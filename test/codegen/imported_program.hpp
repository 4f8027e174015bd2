// SPDX-License-Identifier: Apache-2.0
// test/codegen/imported_program.hpp - compares the text of a saved program with a header of
// imported/, and what that header records with what was saved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <codegen/same_program.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/codegen/native_source.hpp>

namespace imported_program {

inline std::string path_of(const std::string& name) {
  return std::string(LAMINA_TEST_DIR) + "/codegen/imported/" + name + ".imported";
}
inline std::string text_of(const lamina::program_view& p, const std::string& name) {
  const lamina::loaded_program read(same_program::as_saved(p), name);
  return lamina::native_source(read, {.name = name, .origin = "the program of a test"});
}

inline lamina::tensor random_tensor(const lamina::tensor_shape& shape) {
  std::mt19937 numbers(5);
  std::vector<float> values(lamina::size_of(shape));
  for (float& v : values) v = static_cast<float>(numbers() % 2001) / 1000.f - 1;
  return lamina::tensor(shape, values);
}

/// The results of a program and of its copy, with the same parameters.
inline void check_same_bits(const lamina::program_view& p, const lamina::program_view& copy,
                            const lamina::feed_map& feed) {
  lamina::executor executor;
  lamina::scope parameters;
  executor.run_startup(p, parameters, 3);
  const auto run = [&](const lamina::program_view& q) {
    std::vector<std::string> fetches;
    for (int i = 0; i < q.count.outputs; ++i)
      fetches.push_back(lamina::variable_name(q, q.outputs[i]));
    return executor.run(q, parameters, feed, fetches);
  };
  const auto found = run(p), again = run(copy);
  REQUIRE(found.size() == again.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    REQUIRE(found[i].shape() == again[i].shape());
    CHECK(found[i].lod() == again[i].lod());
    const std::size_t bytes =
        found[i].size() * static_cast<std::size_t>(lamina::size_of(found[i].type()));
    CHECK(std::memcmp(found[i].data(), again[i].data(), bytes) == 0);
  }
}

template <class Program, class Copy>
void compare(const std::string& name, Program, Copy, const lamina::feed_map& feed) {
  INFO(name);
  CHECK(text_of(Program::view(), name) == lamina::read_file(path_of(name)));
  CHECK(same_program::comparison::of(same_program::as_saved(Program::view()),
                                     same_program::as_saved(Copy::view())) == "");
  check_same_bits(Program::view(), Copy::view(), feed);
}

}  // namespace imported_program

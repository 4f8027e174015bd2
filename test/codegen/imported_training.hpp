// SPDX-License-Identifier: Apache-2.0
// test/codegen/imported_training.hpp - compares programs that train, as saved, with what the
// headers of imported/ record and compute, and with what the executor computes of the file.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <codegen/imported_program.hpp>
#include <executor/shared_executor.hpp>

namespace imported_training {

/// A program with feed operators only for inputs of block 0; a reader has the others.
inline lamina::program_message saved(const lamina::program_view& p) {
  std::vector<std::string> feeds, fetches;
  for (int i = 0; i < p.count.data; ++i)
    if (p.variables[p.data[i]].block == 0) feeds.push_back(lamina::variable_name(p, p.data[i]));
  for (int i = 0; i < p.count.outputs; ++i)
    fetches.push_back(lamina::variable_name(p, p.outputs[i]));
  lamina::program_message m = lamina::to_program_message(p);
  lamina::add_feed_and_fetch(m, feeds, fetches);
  return m;
}
inline std::string text_of(const lamina::program_message& m, const std::string& name) {
  return lamina::native_source(
      lamina::loaded_program(lamina::from_proto(lamina::to_proto(m)), name),
      {.name = name, .origin = "the program of a test"});
}

/// The variables that outlive a run.
inline std::set<std::string> kept_by(const lamina::program_message& m) {
  std::set<std::string> names;
  for (const lamina::variable_message& v : m.blocks[0].variables)
    if (v.persistable) names.insert(v.name + (v.stop_gradient ? " is not trained" : ""));
  return names;
}

/// What a program starts a run with.
struct run_input {
  lamina::feed_map feed = {};
  std::function<lamina::run_options()> options = [] { return lamina::run_options{}; };
  int steps = 3;
};

/// All persistable variables and the results of some runs.
inline std::vector<lamina::lod_tensor> results_of(const lamina::program_view& p,
                                                  const lamina::program_view& first,
                                                  const run_input& input) {
  lamina::executor executor;
  lamina::scope variables;
  executor.run_startup(first, variables, 3);
  std::vector<lamina::lod_tensor> all;
  for (int step = 0; step < input.steps; ++step) {
    lamina::run_options options = input.options();
    for (const lamina::lod_tensor& t : executor.run(p, variables, input.feed, options))
      all.push_back(t);
  }
  for (int v = 0; v < first.count.variables; ++v)
    if (first.variables[v].persistable)
      all.push_back(variables.get(lamina::variable_name(first, v)));
  return all;
}

template <class Program, class Copy>
void compare(const std::string& name, Program, Copy, const run_input& input) {
  INFO(name);
  const lamina::program_view p = Program::view(), copy = Copy::view();
  CHECK(text_of(saved(p), name) == lamina::read_file(imported_program::path_of(name)));
  CHECK(same_program::comparison::of(saved(p), saved(copy)) == "");
  CHECK(kept_by(saved(p)) == kept_by(saved(copy)));
  const lamina::loaded_program file(saved(p), name);
  const auto found = results_of(p, p, input);
  for (const lamina::program_view& other : {copy, file.view()}) {
    const auto again = results_of(other, p, input);
    REQUIRE(found.size() == again.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      INFO(i);
      REQUIRE(found[i].type() == again[i].type());
      REQUIRE(found[i].shape() == again[i].shape());
      const std::size_t bytes =
          found[i].size() * static_cast<std::size_t>(lamina::size_of(found[i].type()));
      CHECK(std::memcmp(found[i].data(), again[i].data(), bytes) == 0);
    }
  }
}

}  // namespace imported_training

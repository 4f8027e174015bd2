// SPDX-License-Identifier: Apache-2.0
// laws/sequence_law.hpp - the law that every operator on sequences must obey: the result for a
// sample does not depend on other samples, so each sample alone gives the same result as in the
// whole batch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/program/program.hpp>

namespace laws {

/// Runs `program` on all of `feed`, then on each of its samples alone, and compares every output
/// that has rows, including the offsets of its sequences. All feeds have rows; their samples are
/// the sequences of the outermost level.
template <class P>
void check_each_sample_alone(P, const lamina::feed_map& feed, std::uint64_t seed = 1) {
  const lamina::program_view program = P::view();
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(program, scope, seed);
  const std::vector<lamina::lod_tensor> whole = executor.run(program, scope, feed);
  const std::size_t samples = feed.begin()->second.top_count();
  REQUIRE(samples > 1);
  std::vector<std::vector<lamina::lod_tensor>> parts(whole.size());
  for (std::size_t s = 0; s < samples; ++s) {
    lamina::feed_map one;
    for (const auto& [name, value] : feed) one[name] = value.slice(s, s + 1);
    std::vector<lamina::lod_tensor> found = executor.run(program, scope, one);
    for (std::size_t i = 0; i < found.size(); ++i) parts[i].push_back(std::move(found[i]));
  }
  int compared = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (program.variables[program.outputs[i]].rows == lamina::once::domain) continue;
    INFO("output " << i << ", variable " << lamina::variable_name(program, program.outputs[i]));
    const lamina::lod_tensor merged = lamina::lod_tensor::merge(parts[i]);
    CHECK(to_string(merged.lod()) == to_string(whole[i].lod()));
    REQUIRE(merged.shape() == whole[i].shape());
    const auto expected = merged.cast<double>(), is = whole[i].cast<double>();
    for (std::size_t k = 0; k < is.size(); ++k) CHECK(is.flat(k) == Approx(expected.flat(k)));
    ++compared;
  }
  CHECK(compared > 0);
}

}  // namespace laws

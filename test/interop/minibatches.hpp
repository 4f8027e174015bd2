// SPDX-License-Identifier: Apache-2.0
// Runs of programs that read mini-batches themselves: their values are in the feed of the case.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <lamina/executor/run_options.hpp>
#include <lamina/program/program_desc.hpp>
#include <lamina/program/variable_name.hpp>
#include <lamina/tensor/scope.hpp>

namespace interop {

inline constexpr std::size_t rows_of_minibatch = 3, different_minibatches = 4;
inline constexpr int first_pass = 64;  // mini-batches

/// The names of the variables that a program reads in mini-batches.
inline std::vector<std::string> fields_of(const lamina::program_view& p) {
  std::vector<std::string> names;
  for (int k = 0; k < p.count.operators; ++k) {
    const lamina::operator_desc& op = p.operators[k];
    if (!op.schema->facts.reads_minibatch) continue;
    for (int i = op.outputs + 1; i < op.end - 1; ++i)  // behind their number; the last is More
      names.push_back(lamina::variable_name(p, p.arguments[i]));
  }
  return names;
}
/// Whether operators of a program update parameters.
inline bool trains(const lamina::program_view& p) {
  bool found = false;
  for (int k = 0; k < p.count.operators; ++k)
    found = found || p.operators[k].role == lamina::op_role::optimize;
  return found;
}

/// Runs a program. Mini-batches are parts of the rows of its fields in `values`: 64 in the first
/// pass, so that the program takes all its branches, and one in each pass after it.
template <class Executor>
std::vector<lamina::lod_tensor> run_with_minibatches(Executor& executor,
                                                     const lamina::program_view& p,
                                                     lamina::scope& variables,
                                                     const lamina::feed_map& values,
                                                     const std::vector<std::string>& fetches) {
  lamina::feed_map feed = values, fields;
  for (const std::string& name : fields_of(p))
    if (auto found = feed.extract(name)) fields.insert(std::move(found));
  lamina::run_options options;
  if (!fields.empty())
    options.next_minibatch = [&fields, n = 0](lamina::feed_map& next) mutable {
      const std::size_t first =
          static_cast<std::size_t>(n) % different_minibatches * rows_of_minibatch;
      for (const auto& [name, value] : fields)
        next[name] = value.slice(first, first + rows_of_minibatch);
      return ++n < first_pass;
    };
  return executor.run(p, variables, feed, fetches, options);
}

/// Whether two values are the same bits.
inline bool same_bits(const lamina::lod_tensor& x, const lamina::lod_tensor& y) {
  if (!x.has_value() || !y.has_value()) return x.has_value() == y.has_value();
  const std::size_t bytes = x.size() * static_cast<std::size_t>(lamina::size_of(x.type()));
  return x.type() == y.type() && x.shape() == y.shape() && x.lod() == y.lod() &&
         std::memcmp(x.data(), y.data(), bytes) == 0;
}
/// The variables whose values are other bits in two scopes, or are missing in one of them.
inline std::vector<std::string> differing(const lamina::scope& one, const lamina::scope& other,
                                          const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const lamina::lod_tensor *x = one.find(name), *y = other.find(name);
    if (x == nullptr || y == nullptr || !same_bits(*x, *y)) found.push_back(name);
  }
  return found;
}

}  // namespace interop

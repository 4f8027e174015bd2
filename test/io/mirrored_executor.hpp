// SPDX-License-Identifier: Apache-2.0
// An executor that runs each program twice: as it was recorded, and as it is read back from
// protobuf bytes. Both must give the same bits. The tests of test/executor are compiled a second
// time with it: `basic_executor` in their text means this one.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>

namespace lamina {

/// Whether two values have one type, shape and LoD and equal elements; in double, where attributes
/// of files have fewer digits, nearly equal ones.
inline bool same_value(const lod_tensor& a, const lod_tensor& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a.has_value()) return true;
  if (a.type() != b.type() || a.shape() != b.shape() || !(a.lod() == b.lod())) return false;
  return a.visit([&]<class T>(const xt::xarray<T>& x) {
    const xt::xarray<T>& y = b.as<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T p = x.flat(i), q = y.flat(i);
      if (p == q || (p != p && q != q)) continue;
      if constexpr (__is_same(T, double)) {
        if (std::abs(p - q) <= 1e-6 * (std::abs(p) + 1e-3)) continue;
      }
      return false;
    }
    return true;
  });
}

template <class Real>
class mirrored_executor {
 public:
  void add_kernel(std::string_view type, kernel_function<Real> kernel) {
    recorded_.add_kernel(type, kernel);
    read_.add_kernel(type, kernel);
  }
  bool can_run(const operator_schema& schema) const { return recorded_.can_run(schema); }
  void run_startup(const program_view& program, scope& variables, std::uint64_t seed = 0) {
    recorded_.run_startup(program, variables, seed);
  }

  std::vector<lod_tensor> run(const program_view& program, scope& variables, const feed_map& feed,
                              const std::vector<std::string>& fetch,
                              const run_options& options = {}) {
    const loaded_program& again = read_back(program);
    scope copies;
    for (const std::string& name : variables.names()) copies.var(name) = *variables.find(name);
    // Updates whose numbers a training loop sets, and accumulators, are no part of a file.
    const bool whole = options.update_numbers.empty() && !has_accumulators(program);
    std::ostringstream second;
    run_options same = options;
    if (options.print_to != nullptr) same.print_to = &second;
    auto fetched = recorded_.run(program, variables, feed, fetch, options);
    if (!whole) return fetched;
    feed_map known;
    const std::vector<std::string> feeds = again.feed_names();
    for (const auto& [name, value] : feed)
      if (std::find(feeds.begin(), feeds.end(), name) != feeds.end()) known[name] = value;
    const auto mirrored = read_.run(again, copies, known, fetch, same);
    REQUIRE(fetched.size() == mirrored.size());
    for (std::size_t i = 0; i < fetched.size(); ++i) {
      INFO("fetched " << fetch[i] << ": " << to_string(fetched[i].shape()) << " "
                      << to_string(fetched[i].lod()) << ", read back "
                      << to_string(mirrored[i].shape()) << " " << to_string(mirrored[i].lod()));
      REQUIRE(same_value(fetched[i], mirrored[i]));
    }
    for (const std::string& name : variables.names()) {
      INFO("variable " << name);
      REQUIRE(same_value(*variables.find(name), *copies.find(name)));
    }
    return fetched;
  }
  std::vector<lod_tensor> run(const program_view& program, scope& variables, const feed_map& feed,
                              const run_options& options = {}) {
    std::vector<std::string> outputs;
    for (int i = 0; i < program.count.outputs; ++i)
      outputs.push_back(name_of(program, program.outputs[i]));
    return run(program, variables, feed, outputs, options);
  }

 private:
  static bool has_accumulators(const program_view& program) {
    for (int v = 0; v < program.count.variables; ++v)
      if (program.variables[v].kind == variable_kind::accumulator) return true;
    return false;
  }
  const loaded_program& read_back(const program_view& program) {
    const auto known = programs_.find(program.operators);
    if (known != programs_.end()) return known->second;
    operator_registry& operators = registries_.emplace_back();
    for (int k = 0; k < program.count.operators; ++k)
      if (operators.forms(program.operators[k].schema->type).empty())
        operators.add(*program.operators[k].schema);
    const program_message message = message_of(program);
    const std::string bytes = to_proto(message);
    program_message read = from_proto(bytes);
    REQUIRE(read == message);
    REQUIRE(to_proto(read) == bytes);
    return programs_.emplace(program.operators, loaded_program(std::move(read), "bytes", operators))
        .first->second;
  }

  basic_executor<Real> recorded_, read_;
  std::deque<operator_registry> registries_;
  std::map<const operator_desc*, loaded_program> programs_;
};

}  // namespace lamina

#define basic_executor mirrored_executor

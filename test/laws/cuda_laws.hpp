// SPDX-License-Identifier: Apache-2.0
// test/laws/cuda_laws.hpp - checks the law of CUDA kernels for one row of a table of operators: the
// bodies of the kernels, run on the host, compute the same results and gradients as the CPU engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/edge_values.hpp"
#include "engine/cuda/host_backend.hpp"
#include <catch2/catch.hpp>
#include <laws/operator_row.hpp>

#include <lamina/program/variable_name.hpp>

namespace laws {

/// Checks rows. The body of each kernel is run by one thread if Threads is 1, else by a team of
/// threads.
template <int Threads = 1>
class cuda_laws {
 public:
  template <class F>
  void write(const std::string& name, F recorded, const row_options& options = {}) const {
    INFO("row " << name);
    constexpr auto program = program_of<float>(recorded);
    const fed_numbers fed = numbers_of(program.view(), options);
    test::edge_options how{.tolerance = 1e-4, .margin = 2e-5, .lengths = fed.lengths};
    CHECK(test::edges_apart<lamina::engine::cuda::host_backend<Threads>>(
              program, fed.data, static_cast<int>(options.rows), how) == "");
  }

 private:
  /// Makes the numbers of each input, and the sequence lengths of each domain of inputs.
  struct fed_numbers {
    std::vector<std::vector<double>> data;
    std::vector<std::vector<int>> lengths;
  };

  static fed_numbers numbers_of(const lamina::program_view& p, const row_options& options) {
    fed_numbers fed;
    std::mt19937 random(5);
    constexpr int first = lamina::batch::domain + 1;
    constexpr int some[] = {2, 0, 3, 1, 4};  // different lengths, one of which is 0
    std::vector<int> count(static_cast<std::size_t>(std::max(first, p.count.domains)));
    count[lamina::batch::domain] = static_cast<int>(options.rows);
    for (int d = first; d < p.count.domains; ++d) {
      std::vector<int>& lengths = fed.lengths.emplace_back(given_lengths(p, options, d));
      const int parents = count[static_cast<std::size_t>(p.domains[d].parent)];
      for (int i = static_cast<int>(lengths.size()); i < parents; ++i)
        lengths.push_back(some[(i + d) % 5]);
      for (const int n : lengths) count[static_cast<std::size_t>(d)] += n;
    }
    for (int i = 0; i < p.count.data; ++i) {
      const lamina::variable_desc& v = p.variables[p.data[i]];
      std::vector<double>& to = fed.data.emplace_back();
      const auto given = options.feed.find(lamina::variable_name(p, p.data[i]));
      if (given != options.feed.end()) {
        const lamina::tensor same = given->second.cast(lamina::dtype::float64);
        to.assign(same.template as<double>().begin(), same.template as<double>().end());
        continue;
      }
      const int rows = v.rows > 0 ? count[static_cast<std::size_t>(v.rows)] : 1;
      const int numbers = rows * lamina::matrix_of(v, p.dims).columns;
      std::uniform_real_distribution<float> number(options.low, options.high);
      for (int k = 0; k < numbers; ++k)
        to.push_back(lamina::is_floating(v.type)
                         ? static_cast<double>(number(random))
                         : static_cast<double>(random() % static_cast<unsigned>(options.integers)));
    }
    return fed;
  }
  /// The sequence lengths of a given input in a domain; empty if it has no sequences there.
  static std::vector<int> given_lengths(const lamina::program_view& p, const row_options& options,
                                        int domain) {
    std::vector<int> lengths;
    for (int i = 0; i < p.count.data && lengths.empty(); ++i) {
      const auto given = options.feed.find(lamina::variable_name(p, p.data[i]));
      if (given == options.feed.end()) continue;
      std::size_t level = given->second.lod().levels();
      for (int d = p.variables[p.data[i]].rows; level > 0; d = p.domains[d].parent) {
        const lamina::lod::level& offsets = given->second.lod().offsets(--level);
        if (d != domain) continue;
        for (std::size_t k = 1; k < offsets.size(); ++k)
          lengths.push_back(static_cast<int>(offsets[k] - offsets[k - 1]));
      }
    }
    return lengths;
  }
};

}  // namespace laws

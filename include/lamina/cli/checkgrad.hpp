// SPDX-License-Identifier: Apache-2.0
// lamina/cli/checkgrad.hpp - adds --job=checkgrad to a program. It contains the interpreter, which
// computes the cost in double. One file of the program must include it; more files would only take
// longer to compile.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/cli/gradient_check.hpp>
#include <lamina/cli/trained_program.hpp>
#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/executor/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Converts the offsets of a mini-batch to the sequences of the rows of a domain.
LAMINA_COLD inline lod sequences_of(const program_view& p, int domain,
                                    const minibatch_arrays& batch) {
  std::vector<lod::level> levels;
  for (; domain > 0 && p.domains[domain].kind == domain_kind::sequence;
       domain = p.domains[domain].parent) {
    const int* const offsets = batch.offsets[domain];
    lod::level level;
    for (int i = 0; i <= batch.rows[p.domains[domain].parent]; ++i)
      level.push_back(static_cast<std::size_t>(offsets[i] - offsets[0]));
    levels.insert(levels.begin(), std::move(level));
  }
  return levels.empty() ? lod() : lod(std::move(levels));
}

/// Converts a mini-batch to the feeds of the interpreter.
LAMINA_COLD inline feed_map feeds_of(const program_view& p, const minibatch_arrays& batch) {
  feed_map feeds;
  for (int i = 0; i < p.count.data; ++i) {
    const variable_desc& v = p.variables[p.data[i]];
    tensor_shape shape;
    for (int d = 0; d < v.rank; ++d) {
      const int extent = p.dims[v.dims + d];
      shape.push_back(static_cast<std::size_t>(extent < 0 ? batch.rows[v.rows] : extent));
    }
    tensor values;
    engine::cpu::with_type(v.type, [&]<class T>(T) {
      values = tensor(shape, reinterpret_cast<const T*>(batch.data[i]));
    });
    feeds.emplace(variable_name(p, p.data[i]),
                  lod_tensor(std::move(values), sequences_of(p, v.rows, batch)));
  }
  return feeds;
}

/// Computes the cost of a mini-batch with the interpreter.
class interpreted_cost final : public exact_cost {
 public:
  LAMINA_COLD interpreted_cost(trained_program& program, std::uint64_t seed)
      : program_(program.program()) {
    const parameter_memory all = program.parameters();
    executor_.run_startup(program_, scope_, seed);
    for (int i = 0; i < all.list.size(); ++i) {
      const parameter_info info = all.list.describe(i);
      tensor_shape shape(info.shape.begin(), info.shape.end());
      std::vector<double> values(info.size());
      if (info.type == dtype::float64) {
        unpack_like(info, all.array[i], values.data());
      } else {
        std::vector<float> floats(info.size());
        unpack_like(info, all.array[i], floats.data());
        std::copy(floats.begin(), floats.end(), values.begin());
      }
      parameters_.push_back(&scope_.var(info.name));
      *parameters_.back() = tensor(shape, values);
    }
    feeds_ = feeds_of(program_, program.minibatch());
    options_.seed = seed;
  }

  double* values(int i) override {
    return parameters_[static_cast<std::size_t>(i)]->as<double>().data();
  }
  LAMINA_COLD double cost() override {
    return executor_
        .run(program_, scope_, feeds_, {variable_name(program_, program_.cost)}, options_)
        .at(0)
        .cast(dtype::float64)
        .as<double>()
        .flat(0);
  }

 private:
  const program_view program_;
  basic_executor<double> executor_;
  scope scope_;
  feed_map feeds_;
  run_options options_;
  std::vector<lod_tensor*> parameters_;
};

/// Its initialisation, before main begins, sets make_exact_cost. So it is enough that any file of
/// the program includes this header.
inline const bool has_checkgrad =
    (make_exact_cost = [](trained_program& program, std::uint64_t seed) {
      return std::unique_ptr<exact_cost>(std::make_unique<interpreted_cost>(program, seed));
    }) != nullptr;

}}}  // namespace lamina::detail

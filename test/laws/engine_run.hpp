// SPDX-License-Identifier: Apache-2.0
// A program with its gradients on the compiled engine and on the reference executor, with the same
// random feeds and parameters, for the laws of both.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cpu/schedule/machine.hpp>
#include <lamina/model/batch_view.hpp>
#include <lamina/transform/append_backward.hpp>

namespace lamina::law {

/// What the law feeds and how exact it is.
struct engine_law_options {
  float low = -1, high = 1;    // of floating feeds and of parameters
  int limit = 2;               // integers are 0 to limit - 1
  double tolerance = 2e-5;     // of the largest number of a variable, or of 1; 1e-12 in double
  bool rows_are_alone = true;  // a row of an output depends on the same row of the feeds alone
  std::vector<int> batches = {1, 3, 17};
  feed_map feed{};  // feeds that are given where a mini-batch has `given_rows` rows; else random
  int given_rows = 0;
  bool edges = true;  // also with edge values
};

/// Elements of a feed, one after the other as a user has them.
struct fed_values {
  std::vector<char> bytes;
  lod_tensor value;
};

/// A program with its gradients on the compiled engine, beside the same on the executor.
template <class P>
class engine_run {
 public:
  using program = with_backward<P, true>;
  using machine = engine::cpu::machine<program>;
  static constexpr auto desc = freeze<program::desc.count>(program::desc);
  static constexpr int domains = desc.count.domains;
  /// What the program computes in.
  using real = real_of<program>;
  static constexpr bool in_double = std::is_same_v<real, double>;
  /// How every variable lies.
  struct layout_table {
    variable_layout of[at_least_one(desc.count.variables)];
  };
  static constexpr layout_table layouts = [] {
    layout_table t{};
    for (int v = 0; v < desc.count.variables; ++v)
      t.of[v] = layout_of<plan<program>>(plan<program>::lowered.variables[v].root);
    return t;
  }();

  explicit engine_run(const engine_law_options& o) : options_(o), random_(7) {
    for (int i = 0; i < desc.count.parameters; ++i) {
      const int v = desc.parameters[i].variable;
      const parameter_layout& d = parameter_table<program>::table.of[i];
      std::vector<real> w(static_cast<std::size_t>(d.rows) * static_cast<std::size_t>(d.columns));
      for (real& x : w) x = number();
      memory_.emplace_back(static_cast<std::size_t>(d.rows) *
                           static_cast<std::size_t>(padded(d.columns)) *
                           (sizeof(real) / sizeof(float)));
      parameters_.push_back(memory_.back().data());
      real* to = reinterpret_cast<real*>(parameters_.back());
      if (d.panel)
        engine::cpu::pack(d.rows, d.columns, w.data(), to);
      else
        for (int r = 0; r < d.rows; ++r)
          std::memcpy(to + r * padded(d.columns), w.data() + r * d.columns,
                      static_cast<std::size_t>(d.columns) * sizeof(real));
      scope_.var(variable_name(program::view(), v)) = tensor(shape_of(v, 0), w);
    }
    for (int i = 0; i < desc.count.variables; ++i) keep_counter(i);
    machine_.emplace_back(external_buffers{parameters_.data(), nullptr, nullptr});
  }

  machine& engine() { return machine_.front(); }
  scope& variables() { return scope_; }

  /// New feeds of this many rows.
  void draw(int rows) {
    rows_ = engine::domain_rows<domains>(rows);
    given_ = rows == options_.given_rows;
    for (int i = 0; i < desc.count.data; ++i)
      if (const lod_tensor* const given = given_value(desc.data[i])) {
        int d = desc.variables[desc.data[i]].rows;
        const lod& levels = given->lod();
        for (std::size_t level = levels.levels(); level > 0; d = desc.domains[d].parent, --level)
          offsets_[d].assign(levels.offsets(level - 1).begin(), levels.offsets(level - 1).end());
      }
    for (int d = batch::domain + 1; d < domains; ++d) {
      if (!plan<program>::fed.of[d]) continue;
      if (has_given_offsets(d)) {
        rows_.count[d] = offsets_[d].back();
        rows_.offsets[d] = offsets_[d].data();
        continue;
      }
      // Lengths that differ, 0 among them.
      static constexpr int lengths[] = {2, 0, 3, 1, 4};
      std::vector<int>& offsets = offsets_[d];
      offsets.assign(1, 0);
      for (int i = 0; i < rows_.count[desc.domains[d].parent]; ++i)
        offsets.push_back(offsets.back() + lengths[(i + d) % 5]);
      rows_.count[d] = offsets.back();
      rows_.offsets[d] = offsets.data();
    }
    feeds_.clear();
    for (int i = 0; i < desc.count.data; ++i) feeds_.push_back(drawn(desc.data[i]));
  }
  fed_values& feed(int data) { return feeds_[static_cast<std::size_t>(data)]; }

  /// Runs the engine on rows [first, first + rows).
  void run_engine(int first, int rows, std::uint64_t seed = 3, std::uint64_t step = 5) {
    batch_view<program> whole;
    whole.rows = rows_;
    for (int i = 0; i < desc.count.data; ++i)
      whole.data[i] = reinterpret_cast<const std::byte*>(feed(i).bytes.data());
    const batch_view<program> part = whole.part(first, first + rows);
    now_ = part.rows;
    engine().bind(part.rows);
    for (int i = 0; i < desc.count.data; ++i) {
      const int d = desc.variables[desc.data[i]].rows;
      const std::size_t row =
          rows_.count[d] == 0 ? 0 : feed(i).bytes.size() / static_cast<std::size_t>(rows_.count[d]);
      // A copy of exactly these rows: what lies beyond them must not be read.
      const char* const from = reinterpret_cast<const char*>(part.data[i]);
      part_[i] = std::vector<char>(from, from + row * static_cast<std::size_t>(part.rows.count[d]));
      engine().feed(i, part_[i].data());
    }
    engine().run(~0ull, seed, step);
  }

  /// The values of variables on the executor.
  template <class Real>
  std::vector<lod_tensor> run_executor(const std::vector<int>& wanted) {
    basic_executor<Real> executor;
    feed_map feeds;
    for (int i = 0; i < desc.count.data; ++i)
      feeds[variable_name(program::view(), desc.data[i])] = feed(i).value;
    std::vector<std::string> names;
    for (int v : wanted) names.push_back(variable_name(program::view(), v));
    run_options o;
    o.seed = 3;
    o.step = 5;
    scope local(scope_);
    return executor.run(program::view(), local, feeds, names, o);
  }

  /// The outputs, and every gradient of a parameter or a feed.
  static std::vector<int> looked_at() {
    std::vector<int> v(desc.outputs, desc.outputs + desc.count.outputs);
    for (int i = 0; i < desc.count.variables; ++i) {
      const variable_desc& d = desc.variables[i];
      const bool gradient =
          d.kind == variable_kind::gradient || d.kind == variable_kind::selected_rows;
      if (!gradient || d.number >= 0 || d.block != 0) continue;
      const variable_kind of = desc.variables[d.of].kind;
      if (of == variable_kind::parameter || of == variable_kind::data) v.push_back(i);
    }
    return v;
  }

  /// The elements of a variable on the engine, row by row.
  std::vector<double> on_engine(int variable) {
    const variable_desc& d = desc.variables[variable];
    if (d.kind == variable_kind::selected_rows) return selected_on_engine(d);
    variable_layout p = layouts.of[variable];
    const float* data = engine().address(p);
    if (d.kind == variable_kind::gradient &&
        desc.variables[d.of].kind == variable_kind::parameter) {
      const int index = desc.variables[d.of].index;
      data = engine().gradient(index);
      p.panel = parameter_table<program>::table.of[index].panel;
      p.stride = padded(p.columns);
    }
    REQUIRE(data != nullptr);
    const int rows = p.rows < 0 ? engine().rows(-p.rows) : p.rows;
    std::vector<double> all;
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < p.columns; ++j) {
        const std::ptrdiff_t at = p.panel ? engine::cpu::panel_index<real>(p.rows, p.columns, r, j)
                                          : r * static_cast<std::ptrdiff_t>(p.stride) + j;
        all.push_back(engine::cpu::load_as<double>(data, p.type, at));
      }
    return all;
  }

  /// Whether an operator makes the rows of a variable, so that only a run tells how many they are.
  static bool makes_rows(int variable) {
    return !plan<program>::fed.of[desc.variables[variable].rows];
  }
  /// Rows of a variable in the whole mini-batch, and where those of the last run begin.
  int rows_of(int variable) const { return rows_.count[desc.variables[variable].rows]; }
  int first_row(int variable) const {
    return static_cast<int>(now_.first[desc.variables[variable].rows]);
  }

  /// The recorded shape with this many rows.
  static tensor_shape shape_of(int variable, int rows) {
    const variable_desc& v = desc.variables[variable];
    tensor_shape shape;
    for (int d = 0; d < v.rank; ++d) {
      const int extent = desc.dims[v.dims + d];
      shape.push_back(static_cast<std::size_t>(extent < 0 ? rows : extent));
    }
    return shape;
  }

 private:
  float number() {
    return std::uniform_real_distribution<float>(options_.low, options_.high)(random_);
  }
  /// The value of a feed that is given to this mini-batch; null where it is random.
  const lod_tensor* given_value(int variable) const {
    if (!given_) return nullptr;
    const auto found = options_.feed.find(variable_name(program::view(), variable));
    return found == options_.feed.end() ? nullptr : &found->second;
  }
  /// Whether a feed that is given has sequences in a domain.
  bool has_given_offsets(int domain) const {
    for (int i = 0; i < desc.count.data; ++i)
      if (given_value(desc.data[i]) != nullptr)
        for (int d = desc.variables[desc.data[i]].rows; d > batch::domain;
             d = desc.domains[d].parent)
          if (d == domain) return true;
    return false;
  }
  fed_values drawn(int variable) {
    const tensor_shape shape = shape_of(variable, rows_of(variable));
    fed_values f;
    engine::cpu::with_type(desc.variables[variable].type, [&]<class T>(T) {
      f.bytes.resize(size_of(shape) * sizeof(T));
      T* to = reinterpret_cast<T*>(f.bytes.data());
      if (const lod_tensor* const given = given_value(variable)) {
        REQUIRE(given->size() == size_of(shape));
        const tensor same = given->cast(dtype_of<T>);
        std::copy_n(same.template as<T>().data(), size_of(shape), to);
        f.value = tensor(shape, to);
        return;
      }
      for (std::size_t i = 0; i < size_of(shape); ++i)
        if constexpr (std::is_floating_point_v<T>)
          to[i] = static_cast<T>(number());
        else
          to[i] = static_cast<T>(static_cast<int>(random_() % 1000003u) % options_.limit);
      f.value = tensor(shape, to);
    });
    std::vector<lod::level> levels;
    for (int d = desc.variables[variable].rows; d > batch::domain; d = desc.domains[d].parent)
      levels.insert(levels.begin(), lod::level(offsets_[d].begin(), offsets_[d].end()));
    if (!levels.empty()) f.value.set_lod(lod(levels));
    return f;
  }
  std::vector<double> selected_on_engine(const variable_desc& d) {
    const auto* const rows = engine().gradient_rows(desc.variables[d.of].index);
    REQUIRE(rows != nullptr);
    const std::size_t width = static_cast<std::size_t>(rows->columns());
    std::vector<double> all(size_of(shape_of(d.of, 0)));
    for (int i = 0; i < rows->size(); ++i)
      for (std::size_t j = 0; j < width; ++j)
        all[static_cast<std::size_t>(rows->number(i)) * width + j] += rows->row(i)[j];
    return all;
  }
  // Counters such as those of auc begin at 0.
  void keep_counter(int i) {
    const variable_desc& v = desc.variables[i];
    if (v.persistable && v.kind != variable_kind::parameter)
      scope_.var(variable_name(program::view(), i)) = tensor::zeros(v.type, shape_of(i, 0));
  }

  engine_law_options options_;
  bool given_ = false;
  std::mt19937 random_;
  scope scope_;
  std::vector<engine::aligned_buffer> memory_;
  std::vector<float*> parameters_;
  std::vector<machine> machine_;
  std::vector<fed_values> feeds_;
  std::vector<char> part_[at_least_one(desc.count.data)];
  std::vector<int> offsets_[desc.count.domains];
  engine::domain_rows<desc.count.domains> rows_, now_;
};

}  // namespace lamina::law

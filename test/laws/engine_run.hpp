// SPDX-License-Identifier: Apache-2.0
// Runs a program with its gradients on the compiled engine and on the reference executor, with the
// same random feeds and parameters. The laws compare the two.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cpu/schedule/machine.hpp>
#include <lamina/model/feeding/batch_view.hpp>
#include <lamina/transform/append_backward.hpp>

namespace lamina::law {

/// Which values the law feeds, and which differences it allows.
struct engine_law_options {
  float low = -1, high = 1;  // the range of floating feeds and parameters
  int limit = 2;             // integers are 0 to limit - 1
  // relative to the largest number of a variable, or to 1; 1e-12 in double
  double tolerance = 2e-5;
  bool rows_are_alone = true;  // a row of an output depends on the same row of the feeds alone
  std::vector<int> batches = {1, 3, 17};
  // given feeds, used if a mini-batch has `given_rows` rows; else feeds are random
  feed_map feed{};
  int given_rows = 0;
  bool edges = true;  // also with edge values
};

/// The elements of a feed, one after the other, as a user stores them.
struct fed_values {
  std::vector<char> bytes;
  lod_tensor value;
};

/// The part of engine_run that does not depend on the type of the program. It is compiled once, not
/// once for each of hundreds of programs.
class engine_subject {
 public:
  program_view view;  // with gradients
  bool in_double;     // what the program computes in

  engine_subject(const engine_subject&) = delete;
  engine_subject& operator=(const engine_subject&) = delete;

  /// Makes new feeds with this many rows.
  void draw(int rows) {
    count_.assign(domains(), 0);
    offsets_of_.assign(domains(), nullptr);
    count_[batch::domain] = rows;
    given_ = rows == options_.given_rows;
    for (int i = 0; i < view.count.data; ++i)
      if (const lod_tensor* const given = given_value(view.data[i])) {
        int d = view.variables[view.data[i]].rows;
        const lod& levels = given->lod();
        for (std::size_t level = levels.levels(); level > 0; d = view.domains[d].parent, --level)
          offsets(d).assign(levels.offsets(level - 1).begin(), levels.offsets(level - 1).end());
      }
    for (int d = batch::domain + 1; d < view.count.domains; ++d) {
      if (!tables_.fed[d]) continue;
      if (!has_given_offsets(d)) {
        // Different lengths, one of which is 0.
        static constexpr int lengths[] = {2, 0, 3, 1, 4};
        offsets(d).assign(1, 0);
        for (int i = 0; i < count(view.domains[d].parent); ++i)
          offsets(d).push_back(offsets(d).back() + lengths[(i + d) % 5]);
      }
      count_[static_cast<std::size_t>(d)] = offsets(d).back();
      offsets_of_[static_cast<std::size_t>(d)] = offsets(d).data();
    }
    feeds_.clear();
    for (int i = 0; i < view.count.data; ++i) feeds_.push_back(drawn(view.data[i]));
  }
  fed_values& feed(int data) { return feeds_[static_cast<std::size_t>(data)]; }
  scope& variables() { return scope_; }

  /// Runs the engine on rows [first, first + rows).
  void run_engine(int first, int rows, std::uint64_t seed = 3, std::uint64_t step = 5) {
    now_.assign(domains(), bound_rows{});
    std::vector<const std::byte*> from(feeds_.size());
    for (std::size_t i = 0; i < feeds_.size(); ++i)
      from[i] = reinterpret_cast<const std::byte*>(feeds_[i].bytes.data());
    bind(first, rows, from.data());
    part_.resize(feeds_.size());
    for (std::size_t i = 0; i < feeds_.size(); ++i) {
      const int d = view.variables[view.data[i]].rows;
      const std::size_t row =
          count(d) == 0 ? 0 : feeds_[i].bytes.size() / static_cast<std::size_t>(count(d));
      // A copy of exactly these rows, because the engine must not read beyond them.
      const char* const begin = reinterpret_cast<const char*>(from[i]);
      part_[i].assign(begin, begin + row * static_cast<std::size_t>(now(d).count));
      feed_engine(static_cast<int>(i), part_[i].data());
    }
    run_bound(seed, step);
  }

  /// The values of variables as the executor computes them in `Real`.
  template <class Real>
  std::vector<lod_tensor> run_executor(const std::vector<int>& wanted) {
    basic_executor<Real> executor;
    feed_map feeds;
    for (int i = 0; i < view.count.data; ++i)
      feeds[variable_name(view, view.data[i])] = feed(i).value;
    std::vector<std::string> names;
    for (int v : wanted) names.push_back(variable_name(view, v));
    run_options o;
    o.seed = 3;
    o.step = 5;
    scope local(scope_);
    return executor.run(view, local, feeds, names, o);
  }
  /// The values as the executor computes them, in double if the program does, else in float.
  std::vector<lod_tensor> run_executor(const std::vector<int>& wanted) {
    return in_double ? run_executor<double>(wanted) : run_executor<float>(wanted);
  }

  /// The elements of a variable as the engine computed them, row by row.
  std::vector<double> on_engine(int variable) {
    const variable_desc& d = view.variables[variable];
    if (d.kind == variable_kind::selected_rows) {
      std::vector<double> all(size_of(shape_of(d.of, 0)));
      add_selected(view.variables[d.of].index, all);
      return all;
    }
    variable_layout p = tables_.layouts[variable];
    const float* data = address(p);
    if (d.kind == variable_kind::gradient &&
        view.variables[d.of].kind == variable_kind::parameter) {
      const int index = view.variables[d.of].index;
      data = gradient(index);
      p.panel = tables_.parameters[index].panel;
      p.stride = padded(p.columns);
    }
    REQUIRE(data != nullptr);
    const int rows = p.rows < 0 ? rows_on_engine(-p.rows) : p.rows;
    std::vector<double> all;
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < p.columns; ++j) {
        const std::ptrdiff_t at = !p.panel ? r * static_cast<std::ptrdiff_t>(p.stride) + j
                                  : in_double
                                      ? engine::cpu::panel_index<double>(p.rows, p.columns, r, j)
                                      : engine::cpu::panel_index<float>(p.rows, p.columns, r, j);
        all.push_back(engine::cpu::load_as<double>(data, p.type, at));
      }
    return all;
  }

  /// Whether an operator determines the number of rows of a variable, so that it is known only
  /// after a run.
  bool makes_rows(int variable) const { return !tables_.fed[view.variables[variable].rows]; }
  /// The number of rows of a variable in the whole mini-batch, and the first row of the last run.
  int rows_of(int variable) const { return count(view.variables[variable].rows); }
  int first_row(int variable) const {
    return now_[static_cast<std::size_t>(view.variables[variable].rows)].first;
  }

  /// The recorded shape of a variable, with this many rows.
  tensor_shape shape_of(int variable, int rows) const {
    const variable_desc& v = view.variables[variable];
    tensor_shape shape;
    for (int d = 0; d < v.rank; ++d) {
      const int extent = view.dims[v.dims + d];
      shape.push_back(static_cast<std::size_t>(extent < 0 ? rows : extent));
    }
    return shape;
  }

  /// The outputs of a program, and every gradient of a parameter or a feed.
  static std::vector<int> looked_at_in(const program_view& p) {
    std::vector<int> v(p.outputs, p.outputs + p.count.outputs);
    for (int i = 0; i < p.count.variables; ++i) {
      const variable_desc& d = p.variables[i];
      const bool gradient =
          d.kind == variable_kind::gradient || d.kind == variable_kind::selected_rows;
      if (!gradient || d.number >= 0 || d.block != 0) continue;
      const variable_kind of = p.variables[d.of].kind;
      if (of == variable_kind::parameter || of == variable_kind::data) v.push_back(i);
    }
    return v;
  }

 protected:
  /// The parts of a program's plan that a run needs, by variable, parameter and domain.
  struct plan_tables {
    const variable_layout* layouts;
    const parameter_layout* parameters;
    const bool* fed;
  };
  /// The rows of a domain in the last run of the engine: their number, and the index of the first
  /// in the mini-batch.
  struct bound_rows {
    int count = 0, first = 0;
  };

  engine_subject(const program_view& program, bool doubles, const plan_tables& tables,
                 const engine_law_options& o)
      : view(program), in_double(doubles), tables_(tables), options_(o), random_(7) {
    offsets_.resize(domains());
    for (int i = 0; i < view.count.parameters; ++i)
      if (in_double)
        make_parameter<double>(i);
      else
        make_parameter<float>(i);
    for (int i = 0; i < view.count.variables; ++i) keep_counter(i);
  }
  ~engine_subject() = default;

  float* const* parameters() const { return parameters_.data(); }
  int count(int domain) const { return count_[static_cast<std::size_t>(domain)]; }
  const int* offsets_of(int domain) const { return offsets_of_[static_cast<std::size_t>(domain)]; }
  bound_rows& now(int domain) { return now_[static_cast<std::size_t>(domain)]; }

  /// Binds the engine to rows of the mini-batch, sets now() of each domain, and moves the address
  /// of each feed to the first of its rows.
  virtual void bind(int first, int rows, const std::byte** feeds) = 0;
  virtual void feed_engine(int data, const void* from) = 0;
  virtual void run_bound(std::uint64_t seed, std::uint64_t step) = 0;
  virtual int rows_on_engine(int domain) = 0;
  virtual const float* address(const variable_layout& layout) = 0;
  virtual const float* gradient(int parameter) = 0;
  /// Adds the rows of the gradient of a parameter to all of its elements.
  virtual void add_selected(int parameter, std::vector<double>& all) = 0;

 private:
  std::size_t domains() const { return static_cast<std::size_t>(bound(view.count.domains)); }
  std::vector<int>& offsets(int domain) { return offsets_[static_cast<std::size_t>(domain)]; }
  float number() {
    return std::uniform_real_distribution<float>(options_.low, options_.high)(random_);
  }
  template <class Real>
  void make_parameter(int i) {
    const int v = view.parameters[i].variable;
    const parameter_layout& d = tables_.parameters[i];
    std::vector<Real> w(static_cast<std::size_t>(d.rows) * static_cast<std::size_t>(d.columns));
    for (Real& x : w) x = number();
    memory_.emplace_back(static_cast<std::size_t>(d.rows) *
                         static_cast<std::size_t>(padded(d.columns)) *
                         (sizeof(Real) / sizeof(float)));
    parameters_.push_back(memory_.back().data());
    Real* const to = reinterpret_cast<Real*>(parameters_.back());
    if (d.panel)
      engine::cpu::pack(d.rows, d.columns, w.data(), to);
    else
      for (int r = 0; r < d.rows; ++r)
        std::memcpy(to + r * padded(d.columns), w.data() + r * d.columns,
                    static_cast<std::size_t>(d.columns) * sizeof(Real));
    scope_.var(variable_name(view, v)) = tensor(shape_of(v, 0), w);
  }
  /// The given value of a feed in this mini-batch; null if the feed is random.
  const lod_tensor* given_value(int variable) const {
    if (!given_) return nullptr;
    const auto found = options_.feed.find(variable_name(view, variable));
    return found == options_.feed.end() ? nullptr : &found->second;
  }
  /// Whether a given feed has sequences in a domain.
  bool has_given_offsets(int domain) const {
    for (int i = 0; i < view.count.data; ++i)
      if (given_value(view.data[i]) != nullptr)
        for (int d = view.variables[view.data[i]].rows; d > batch::domain;
             d = view.domains[d].parent)
          if (d == domain) return true;
    return false;
  }
  fed_values drawn(int variable) {
    const tensor_shape shape = shape_of(variable, rows_of(variable));
    fed_values f;
    engine::cpu::with_type(view.variables[variable].type, [&]<class T>(T) {
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
    for (int d = view.variables[variable].rows; d > batch::domain; d = view.domains[d].parent)
      levels.insert(levels.begin(), lod::level(offsets(d).begin(), offsets(d).end()));
    if (!levels.empty()) f.value.set_lod(lod(levels));
    return f;
  }
  // Counters, such as those of auc, begin at 0.
  void keep_counter(int i) {
    const variable_desc& v = view.variables[i];
    if (v.persistable && v.kind != variable_kind::parameter)
      scope_.var(variable_name(view, i)) = tensor::zeros(v.type, shape_of(i, 0));
  }

  plan_tables tables_;
  engine_law_options options_;
  bool given_ = false;
  std::mt19937 random_;
  scope scope_;
  std::vector<engine::aligned_buffer> memory_;
  std::vector<float*> parameters_;
  std::vector<fed_values> feeds_;
  std::vector<std::vector<char>> part_;
  std::vector<int> count_;                 // by domain
  std::vector<std::vector<int>> offsets_;  // by domain
  std::vector<const int*> offsets_of_;     // by domain; null for domains without sequences
  std::vector<bound_rows> now_;            // by domain
};

template <class P>
class engine_run final : public engine_subject {
 public:
  using program = with_backward<P, true>;
  using machine = engine::cpu::machine<program>;
  static constexpr program_view desc = program::view();
  /// The type in which the program computes.
  using real = real_of<program>;

  explicit engine_run(const engine_law_options& o)
      : engine_subject(desc, std::is_same_v<real, double>,
                       {layouts.of, parameter_table<program>::table.of, plan<program>::fed.of}, o),
        machine_({parameters(), nullptr, nullptr}) {}

  machine& engine() { return machine_; }
  static std::vector<int> looked_at() { return looked_at_in(desc); }

 private:
  static constexpr int domains = counts_of<program>.domains;
  static constexpr int variables_of_plan = counts_of<program>.variables;
  /// The memory layout of every variable.
  struct layout_table {
    variable_layout of[at_least_one(variables_of_plan)];
  };
  static constexpr layout_table layouts = [] {
    layout_table t{};
    for (int v = 0; v < variables_of_plan; ++v)
      t.of[v] = layout_of<plan<program>>(plan<program>::lowered.variables[v].root);
    return t;
  }();

  void bind(int first, int rows, const std::byte** feeds) override {
    batch_view<program> whole;
    std::copy_n(feeds, whole.layers, whole.data);
    for (int d = 0; d < domains; ++d) {
      whole.rows.count[d] = count(d);
      whole.rows.offsets[d] = offsets_of(d);
    }
    const batch_view<program> part = whole.part(first, first + rows);
    std::copy_n(part.data, part.layers, feeds);
    for (int d = 0; d < domains; ++d)
      now(d) = {part.rows.count[d], static_cast<int>(part.rows.first[d])};
    machine_.bind(part.rows);
  }
  void feed_engine(int data, const void* from) override { machine_.feed(data, from); }
  void run_bound(std::uint64_t seed, std::uint64_t step) override {
    machine_.run(~0ull, seed, step);
  }
  int rows_on_engine(int domain) override { return machine_.rows(domain); }
  const float* address(const variable_layout& layout) override { return machine_.address(layout); }
  const float* gradient(int parameter) override { return machine_.gradient(parameter); }
  void add_selected(int parameter, std::vector<double>& all) override {
    const auto* const rows = machine_.gradient_rows(parameter);
    REQUIRE(rows != nullptr);
    const std::size_t width = static_cast<std::size_t>(rows->columns());
    for (int i = 0; i < rows->size(); ++i)
      for (std::size_t j = 0; j < width; ++j)
        all[static_cast<std::size_t>(rows->number(i)) * width + j] += rows->row(i)[j];
  }

  machine machine_;
};

}  // namespace lamina::law

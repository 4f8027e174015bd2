// SPDX-License-Identifier: Apache-2.0
// Runs one engine kernel at a time, without a program. Variables may belong to any domain, kernels
// may set the number of rows of a domain, and when they do, the arrays of its variables move to new
// addresses.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/operators/operator_definition.hpp>

namespace lamina::law {

/// The value of an attribute.
struct bench_attribute {
  double number = 0;
  std::vector<int> list{};
  std::string text{};

  bench_attribute(double n) : number(n) {}
  bench_attribute(int n) : number(n) {}
  bench_attribute(bool n) : number(n ? 1 : 0) {}
  bench_attribute(std::vector<int> l) : list(std::move(l)) {}
  bench_attribute(const char* t) : text(t) {}
};

/// The domains and variables on which a test calls kernels. Both are identified by numbers.
class kernel_bench {
 public:
  kernel_bench() {
    add_domain(domain_kind::once, -1);
    add_domain(domain_kind::batch, once::domain);
  }

  /// Adds a domain. Its rows are set by a kernel, or by feed_rows() or feed_lengths().
  int add_domain(domain_kind kind, int parent) {
    domains_.push_back({kind, parent, 0, 0, -1});
    rows_.push_back(0);
    lengths_.emplace_back();
    offsets_.push_back(nullptr);
    return static_cast<int>(domains_.size()) - 1;
  }
  void feed_rows(int domain, int rows) { set_rows(this, domain, rows); }
  void feed_lengths(int domain, const std::vector<int>& lengths) {
    int* const to = make_offsets(this, domain, static_cast<int>(lengths.size()));
    to[0] = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) to[i + 1] = to[i] + lengths[i];
    set_rows(this, domain, to[lengths.size()]);
  }
  /// From now on the number of rows of this domain stays the same, and a check fails if a kernel
  /// sets a larger one.
  void keep_rows(int domain) { kept_ = domain; }
  int rows(int domain) const { return rows_[static_cast<std::size_t>(domain)]; }
  std::vector<int> lengths(int domain) const {
    const std::vector<int>& o = *lengths_[static_cast<std::size_t>(domain)];
    std::vector<int> found;
    for (std::size_t i = 1; i < o.size(); ++i) found.push_back(o[i] - o[i - 1]);
    return found;
  }

  /// Adds a variable. If it has the rows of a domain, `extents` are its inner dimensions; otherwise
  /// they are all of its dimensions.
  template <class T>
  int add(int domain, std::vector<int> extents, bool unpadded = false) {
    variable v;
    v.domain = domain;
    v.type = dtype_of<T>;
    v.dims = static_cast<int>(dims_.size());
    if (domain > 0) extents.insert(extents.begin(), -1);
    v.rank = static_cast<int>(extents.size());
    for (std::size_t d = 0; d < extents.size(); ++d) {
      dims_.push_back(extents[d]);
      if (d > 0) v.columns *= extents[d];
    }
    if (domain == 0 && v.rank > 1) v.fixed_rows = extents[0];
    if (domain == 0 && v.rank == 1) v.columns = extents[0];
    v.stride =
        unpadded ? v.columns : padded(v.columns * size_of(v.type) / 4 + 1) * 4 / size_of(v.type);
    variables_.push_back(std::move(v));
    move(variables_.back());
    return static_cast<int>(variables_.size()) - 1;
  }
  /// Adds an array of such variables.
  template <class T>
  int add_array(int domain, std::vector<int> extents) {
    const int made = add<T>(domain, std::move(extents));
    variables_.back().array = std::make_unique<engine::cpu::tensor_array>();
    return made;
  }
  engine::cpu::tensor_array& array(int v) { return *at(v).array; }

  template <class T>
  void set(int v, const std::vector<T>& values) {
    REQUIRE(at(v).type == dtype_of<T>);
    REQUIRE(static_cast<int>(values.size()) == rows_of(at(v)) * at(v).columns);
    std::size_t i = 0;
    for (int r = 0; r < rows_of(at(v)); ++r)
      for (int j = 0; j < at(v).columns; ++j)
        reinterpret_cast<T*>(at(v).bytes.get())[r * at(v).stride + j] = values[i++];
  }
  template <class T>
  std::vector<T> get(int v) {
    return elements<T>(at(v), at(v).bytes.get(), rows_of(at(v)));
  }
  /// Element i of an array.
  template <class T>
  std::vector<T> get(int v, int i) {
    REQUIRE(array(v).holds(i));
    return elements<T>(at(v), array(v).data(i), array(v).rows(i));
  }

  /// Runs the kernel of Op. A variable that is absent is -1. `counts` contains the number of
  /// variables in each duplicable slot, the inputs first.
  template <class Op>
  void call(const std::vector<int>& inputs, const std::vector<int>& outputs,
            const std::vector<bench_attribute>& attributes = {},
            const std::vector<int>& counts = {}) {
    std::vector<attribute_value> values;
    std::vector<int> integers;
    std::string characters;
    for (const bench_attribute& a : attributes) {
      const bool is_text = !a.text.empty();
      values.push_back({a.number, static_cast<int>(is_text ? characters.size() : integers.size()),
                        static_cast<int>(is_text ? a.text.size() : a.list.size())});
      integers.insert(integers.end(), a.list.begin(), a.list.end());
      characters += a.text;
    }
    std::vector<int> arguments;
    std::size_t count = 0;
    const auto list = [&](const auto& slots, const std::vector<int>& given) {
      std::size_t i = 0;
      for (const slot_desc& s : slots) {
        const int n = s.duplicable ? counts[count++] : 1;
        if (s.duplicable) arguments.push_back(n);
        for (int k = 0; k < n; ++k) arguments.push_back(given[i++]);
      }
    };
    list(Op::inputs, inputs);
    const int outputs_at = static_cast<int>(arguments.size());
    list(Op::outputs, outputs);
    const operator_desc op = {&schema_of<Op>(),
                              0,
                              outputs_at,
                              static_cast<int>(arguments.size()),
                              attributes.empty() ? -1 : 0,
                              0,
                              op_role::forward};
    program_view program{};
    program.operators = &op;
    program.arguments = arguments.data();
    program.attributes = values.data();
    program.integers = integers.data();
    program.characters = characters.data();
    program.dims = dims_.data();
    program.domains = domains_.data();
    called_ = inputs;
    called_.insert(called_.end(), outputs.begin(), outputs.end());
    std::vector<engine::cpu::argument_info> info;
    for (const int v : called_) {
      if (v < 0) {
        info.push_back({1, 1, 1, dtype::float32, false, false, 0, 0});
        continue;
      }
      const variable& d = at(v);
      info.push_back({d.domain > 0 ? -d.domain : d.fixed_rows, d.columns,
                      static_cast<int>(d.stride), d.type, false, false, d.dims, d.rank});
    }
    place();
    const engine::row_allocator allocator{this, &kernel_bench::set_rows,
                                          &kernel_bench::make_offsets};
    const std::vector<std::int64_t> first(domains_.size());
    engine::cpu::run_context run{rows_.data(), offsets_.data(), first.data(), 0, 0,
                                 nullptr,      &allocator};
    const engine::cpu::group_info group{
        1, 1, 1, false, false, static_cast<int>(called_.size()), op.schema->bare, &op};
    const engine::cpu::call_context context(program, addresses_.data(), info.data(), group, run);
    const running here(*this, run);
    if constexpr (requires { engine::cpu::call_kernel<Op>::scratch(context); })
      scratch_floats_ = engine::cpu::call_kernel<Op>::scratch(context);
    new_scratch();
    engine::cpu::call_kernel<Op>::run(context);
    laws::note_compared_operator("compiled", op.schema->type);
  }

 private:
  struct variable {
    int domain = 0, fixed_rows = 1, columns = 1;
    std::ptrdiff_t stride = 0;
    dtype type = dtype::float32;
    int dims = 0, rank = 0;
    std::unique_ptr<char[]> bytes{};
    std::unique_ptr<engine::cpu::tensor_array> array{};
  };

  // Sets run_ while a kernel runs, and resets it even if the kernel throws.
  class running {
   public:
    running(kernel_bench& bench, engine::cpu::run_context& run) : bench_(bench) {
      bench.run_ = &run;
    }
    ~running() {
      bench_.run_ = nullptr;
      bench_.called_.clear();
    }
    running(const running&) = delete;
    running& operator=(const running&) = delete;

   private:
    kernel_bench& bench_;
  };

  variable& at(int v) { return variables_[static_cast<std::size_t>(v)]; }
  int rows_of(const variable& v) const { return v.domain > 0 ? rows(v.domain) : v.fixed_rows; }
  template <class T>
  static std::vector<T> elements(const variable& v, const void* data, int rows) {
    std::vector<T> found;
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < v.columns; ++j)
        found.push_back(static_cast<const T*>(data)[r * v.stride + j]);
    return found;
  }
  // Gives a variable new memory of exactly the size of its rows, filled with a value that no result
  // can be confused with.
  void move(variable& v) {
    const std::size_t n =
        static_cast<std::size_t>(rows_of(v) * v.stride) * static_cast<std::size_t>(size_of(v.type));
    v.bytes.reset(new char[n + (n == 0 ? 1 : 0)]);
    std::memset(v.bytes.get(), 0x5a, n);
  }
  void place() {
    addresses_.assign(called_.size(), nullptr);
    for (std::size_t i = 0; i < called_.size(); ++i)
      if (called_[i] >= 0)
        addresses_[i] = at(called_[i]).array != nullptr
                            ? reinterpret_cast<float*>(at(called_[i]).array.get())
                            : reinterpret_cast<float*>(at(called_[i]).bytes.get());
  }
  // Makes scratch memory of the size that the kernel asked for, filled with zeros as in a machine.
  void new_scratch() {
    scratch_.reset(new float[static_cast<std::size_t>(scratch_floats_) + 1]());
    run_->scratch = scratch_.get();
  }
  static void set_rows(void* self, int domain, int rows) {
    kernel_bench& bench = *static_cast<kernel_bench*>(self);
    int& known = bench.rows_[static_cast<std::size_t>(domain)];
    if ((domain == batch::domain && known != 0) || domain == bench.kept_) {
      CHECK(rows <= known);
      return;
    }
    if (known == rows) return;
    known = rows;
    if (bench.run_ != nullptr) bench.new_scratch();
    for (variable& v : bench.variables_)
      if (v.domain == domain) bench.move(v);
    for (std::size_t i = 0; i < bench.called_.size(); ++i)
      if (bench.called_[i] >= 0 && bench.at(bench.called_[i]).array == nullptr)
        bench.addresses_[i] = reinterpret_cast<float*>(bench.at(bench.called_[i]).bytes.get());
  }
  static int* make_offsets(void* self, int domain, int sequences) {
    kernel_bench& bench = *static_cast<kernel_bench*>(self);
    auto& to = bench.lengths_[static_cast<std::size_t>(domain)];
    to = std::make_unique<std::vector<int>>(static_cast<std::size_t>(sequences) + 1, -1);
    bench.offsets_[static_cast<std::size_t>(domain)] = to->data();
    return to->data();
  }

  std::vector<domain_desc> domains_;
  std::vector<int> rows_;
  std::vector<std::unique_ptr<std::vector<int>>> lengths_;
  std::vector<const int*> offsets_;
  std::vector<variable> variables_;
  std::vector<int> dims_;
  std::vector<int> called_;
  std::vector<float*> addresses_;
  int kept_ = -1;
  engine::cpu::run_context* run_ = nullptr;
  std::ptrdiff_t scratch_floats_ = 0;
  std::unique_ptr<float[]> scratch_{};
};

}  // namespace lamina::law

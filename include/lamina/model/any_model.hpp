// SPDX-License-Identifier: Apache-2.0
// lamina/model/any_model.hpp - a type for models of all programs, so that an application can choose
// the program at run time.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/dtype.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/feeding/any_feed.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/names/domain_of_level.hpp>
#include <lamina/plan/feed_mask.hpp>
#include <lamina/tensor/array.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// The elements of a variable in a machine's memory after a run.
struct any_values {
  dtype type;
  std::vector<std::size_t> shape;
  const std::byte* from;
  std::size_t rows, row_bytes, stride_bytes;
};

/// The interface by which any_evaluator runs a program. The derived class is a template on the
/// program.
class any_run {
 public:
  virtual ~any_run() = default;
  virtual void forward(std::span<const any_feed> feeds) = 0;
  virtual any_values values(std::string_view name) = 0;
  virtual std::vector<int> lengths(std::string_view name, int level) = 0;
};

/// The interface by which any_model uses a model. The derived class is a template on the program.
class any_model_base {
 public:
  virtual ~any_model_base() = default;
  virtual program_view program() const = 0;
  virtual std::unique_ptr<any_run> run() const = 0;
  virtual stored_arrays arrays() const = 0;
};

LAMINA_API_COLD any_variable describe_variable(const program_view& p, int v, std::string_view name);
LAMINA_API_COLD std::string layer_name(const program_view& p, int name);
LAMINA_API_COLD std::string names_of(const std::vector<any_variable>& all);
LAMINA_API_COLD std::vector<any_variable> inputs_of(const program_view& p);
/// Returns the layers that the user named, and the variables that the program returns.
LAMINA_API_COLD std::vector<any_variable> outputs_of(const program_view& p);

/// By variable of variable_table: the bit mask of the data layers on which it depends.
template <class Program>
struct needed_feeds {
  using variables = variable_table<Program>;
  struct table_type {
    unsigned long long of[bound(variables::count)];
  };
  static constexpr table_type table = [] {
    table_type t{};
    for (int i = 0; i < variables::count; ++i)
      t.of[i] = plan<Program>::lowered.variables[variables::table.ids[i]].feeds;
    return t;
  }();
};

template <program_type P>
class any_run_of final : public any_run {
  using program = for_test<P>;
  using machine = engine::cpu::machine<program>;
  static constexpr int layers = counts_of<P>.data;
  static constexpr int domains = counts_of<P>.domains;

 public:
  LAMINA_COLD explicit any_run_of(const model<P>& m) : machine_({m.memory(), nullptr, nullptr}) {
    initialise_state<P>(machine_);
  }

  LAMINA_COLD void forward(std::span<const any_feed> feeds) override {
    const program_view& p = run_time_program<P>::view;
    given_ = 0;
    bool fed[bound(layers)] = {};
    engine::domain_rows<domains> rows;
    rows.count[batch::domain] = -1;
    const void* values[bound(layers)] = {};
    for (const any_feed& f : feeds) {
      const int i = layer_of(f);
      if (fed[i]) fail(f, text() << "expected one feed, found two");
      values[i] = f.values;
      count_rows(f, i, rows);
      fed[i] = true;
    }
    if (feeds.empty())
      throw error(text() << "lamina: any_model: forward: expected a feed of "
                         << names_of(inputs_of(p)) << ", found none");
    given_ = feed_mask(fed, layers);
    if (rows.count[batch::domain] < 0) rows.count[batch::domain] = 1;  // only feeds of data_once
    machine_.bind(rows);
    for (int i = 0; i < layers; ++i)
      if (values[i] != nullptr) machine_.feed(i, values[i]);
    machine_.run(given_, 0, 0);
  }

  LAMINA_COLD std::vector<int> lengths(std::string_view name, int level) override {
    const program_view& p = run_time_program<P>::view;
    const int domain = domain_of_level(p, p.variables[computed(name)].rows, level);
    if (domain < 0)
      throw error(text() << "lamina: any_model: lengths " << name
                         << ": expected a level of its sequences, found " << level);
    const auto& now = machine_.memory().rows();
    const engine::sequence_rows rows{now.offsets[domain], now.count[p.domains[domain].parent]};
    std::vector<int> all;
    for (int i = 0; i < rows.count; ++i) all.push_back(rows.length(i));
    return all;
  }

  LAMINA_COLD any_values values(std::string_view name) override {
    const program_view& p = run_time_program<P>::view;
    const int v = computed(name);
    const variable_layout* const lies = machine::layout(v);
    const variable_desc& d = p.variables[v];
    any_values made{d.type, {}, nullptr, 1, static_cast<std::size_t>(size_of(d.type)), 0};
    std::size_t columns = 1;
    for (int k = 0; k < d.rank; ++k) {
      const bool has_rows = k == 0 && d.rows != 0;
      made.shape.push_back(
          static_cast<std::size_t>(has_rows ? machine_.rows(d.rows) : p.dims[d.dims + k]));
      if (k == 0 && (has_rows || d.rank > 1))
        made.rows = made.shape[0];
      else
        columns *= made.shape[static_cast<std::size_t>(k)];
    }
    made.stride_bytes = made.row_bytes * static_cast<std::size_t>(lies->stride);
    made.row_bytes *= columns;
    made.from = reinterpret_cast<const std::byte*>(machine_.address(*lies));
    return made;
  }

 private:
  [[noreturn]] LAMINA_COLD static void fail(const any_feed& f, const text& what) {
    throw error(text() << "lamina: any_model: feed " << f.name << ": " << what);
  }
  /// Returns the variable with this name. Throws lamina::error if there is none or the last run has
  /// not computed it.
  int computed(std::string_view name) const {
    const program_view& p = run_time_program<P>::view;
    const int v = find_variable(p, p.names, p.count.names, p.count.variables, name);
    const variable_layout* const lies = v < 0 ? nullptr : machine::layout(v);
    if (lies == nullptr || p.variables[v].kind != variable_kind::temporary)
      throw error(text() << "lamina: any_model: activation: expected one of "
                         << names_of(outputs_of(p)) << ", found '" << name << "'");
    const unsigned long long missing =
        needed_feeds<program>::table.of[lies - variable_table<program>::table.of] & ~given_;
    if (missing != 0) {
      int i = 0;
      while ((missing >> i & 1) == 0) ++i;
      text why("lamina: activation ");
      why << variable_name(p, v) << ": expected a feed of " << variable_name(p, p.data[i]);
      for (i += 64; i < layers; i += 64) why << " and " << variable_name(p, p.data[i]);
      throw error(why << " in the last forward(), found none");
    }
    return v;
  }
  static int layer_of(const any_feed& f) {
    const program_view& p = run_time_program<P>::view;
    int i = 0;
    while (i < layers && !has_name(p, p.data[i], f.name)) ++i;
    if (i == layers)
      throw error(text() << "lamina: any_model: feed: expected one of " << names_of(inputs_of(p))
                         << ", found '" << f.name << "'");
    const dtype wanted = p.variables[p.data[i]].type;
    if (f.type != wanted)
      fail(f, text() << "expected " << name_of(wanted) << ", found " << name_of(f.type));
    return i;
  }
  /// Sets the number of rows, and the sequences, that a feed gives to the run.
  void count_rows(const any_feed& f, int i, engine::domain_rows<domains>& rows) {
    const data_layer& l = data_layers_of<P>.of[i];
    const auto columns = static_cast<std::size_t>(l.columns);
    if (f.count % columns != 0)
      fail(f, text() << "expected a multiple of " << columns << " values, found " << f.count);
    const int count = static_cast<int>(f.count / columns);
    if (l.parent < 0 && !f.lengths.empty())
      fail(f, text() << "expected no lengths, found " << f.lengths.size());
    if (l.grandparent < 0 && !f.inner.empty())
      fail(f, text() << "expected no lengths of inner sequences, found " << f.inner.size());
    if (l.grandparent >= 0) {
      count_sequences(f, l.domain, f.inner, count, "lengths of inner sequences", rows);
      count_sequences(f, l.parent, f.lengths, static_cast<int>(f.inner.size()), "lengths", rows);
    } else if (l.parent >= 0) {
      count_sequences(f, l.domain, f.lengths, count, "lengths", rows);
    }
    if (l.domain == once::domain) {
      if (count != 1) fail(f, text() << "expected " << columns << " values, found " << f.count);
      return;
    }
    const int samples = l.parent < 0 ? count : static_cast<int>(f.lengths.size());
    int& batch_rows = rows.count[batch::domain];
    if (batch_rows >= 0 && batch_rows != samples)
      fail(f,
           text() << "expected " << batch_rows << " rows as in the other feeds, found " << samples);
    batch_rows = samples;
  }

  /// Sets the sequences of a domain to sequences with these lengths. Throws lamina::error unless
  /// the lengths add up to `count`; `what` names the lengths in the error.
  void count_sequences(const any_feed& f, int domain, std::span<const int> lengths, int count,
                       const char* what, engine::domain_rows<domains>& rows) {
    std::int64_t sum = 0;
    for (const int n : lengths) {
      if (n < 0) fail(f, text() << "expected " << what << " of at least 0, found " << n);
      sum += n;
    }
    if (sum != count)
      fail(f, text() << "expected " << what << " with the sum " << count << ", found " << sum);
    std::vector<int> ends{0};
    for (const int n : lengths) ends.push_back(ends.back() + n);
    std::vector<int>& kept = ends_[static_cast<std::size_t>(domain)];
    if (rows.offsets[domain] != nullptr && kept != ends)
      fail(f, text() << "expected the lengths of another feed of these sequences, found others");
    kept = std::move(ends);
    rows.offsets[domain] = kept.data();
    rows.count[domain] = count;
  }

  machine machine_;
  std::vector<int> ends_[bound(domains)];  // by domain: the offsets of its sequences
  unsigned long long given_ = 0;           // bit mask of the data that the last run received
};

template <program_type P>
class any_model_of final : public any_model_base {
 public:
  explicit any_model_of(model<P>&& m) : model_(std::move(m)) {}
  program_view program() const override { return run_time_program<P>::view; }
  std::unique_ptr<any_run> run() const override { return std::make_unique<any_run_of<P>>(model_); }
  stored_arrays arrays() const override { return model_.arrays(); }

 private:
  model<P> model_;
};

#if LAMINA_DEFINES

any_variable describe_variable(const program_view& p, int v, std::string_view name) {
  const variable_desc& d = p.variables[v];
  any_variable made{std::string(name), d.type, {}, d.rows == 0 ? 0 : lod_level_of(p, d.rows)};
  for (int i = 0; i < d.rank; ++i)
    made.shape.push_back(d.rows != 0 && i == 0 ? -1 : p.dims[d.dims + i]);
  return made;
}

std::string layer_name(const program_view& p, int name) {
  name_writer count{nullptr};
  write_base(p, p.names, name, count);
  std::string made(static_cast<std::size_t>(count.length), ' ');
  name_writer w{made.data()};
  write_base(p, p.names, name, w);
  return made;
}

std::string names_of(const std::vector<any_variable>& all) {
  text made;
  for (const any_variable& v : all) made << (&v == all.data() ? "" : ", ") << v.name;
  return all.empty() ? std::string("none") : std::string(made);
}

std::vector<any_variable> inputs_of(const program_view& p) {
  std::vector<any_variable> all;
  for (int i = 0; i < p.count.data; ++i)
    all.push_back(describe_variable(p, p.data[i], variable_name(p, p.data[i])));
  return all;
}

std::vector<any_variable> outputs_of(const program_view& p) {
  std::vector<any_variable> all;
  std::vector<bool> told(static_cast<std::size_t>(p.count.variables));
  for (int i = 0; i < p.count.names; ++i) {
    const int v = p.names[i].output;
    if (p.names[i].key != nullptr || v < 0 || p.variables[v].kind != variable_kind::temporary ||
        p.variables[v].block != 0)
      continue;
    told[static_cast<std::size_t>(v)] = true;
    all.push_back(describe_variable(p, v, layer_name(p, i)));
  }
  for (int i = 0; i < p.count.outputs; ++i)
    if (!told[static_cast<std::size_t>(p.outputs[i])])
      all.push_back(describe_variable(p, p.outputs[i], variable_name(p, p.outputs[i])));
  return all;
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Computes activations of an any_model. It keeps the model alive. Only one thread at a time may
/// use an any_evaluator; several threads need one each.
class any_evaluator {
 public:
  /// Computes all activations that depend only on the given data layers: `e.forward({{"image",
  /// pixels}})`. The values are read during the call only. Throws lamina::error for an unknown
  /// name, for another element type than the layer's, and for numbers of values that do not match
  /// the layer or the other feeds.
  void forward(std::initializer_list<any_feed> feeds) {
    run_->forward({feeds.begin(), feeds.size()});
  }
  void forward(std::span<const any_feed> feeds) { run_->forward(feeds); }

  /// Returns a copy of the activation of a layer or variable of any_model::outputs(): `auto scores
  /// = e.activation("output")`, or `activation<std::int64_t>("best")` for elements of another type.
  /// `activation<bool>` returns 0 and 1 as std::uint8_t.
  template <element T = float>
  auto activation(std::string_view name) {
    // std::vector<bool> has no addresses of elements.
    using stored = std::conditional_t<__is_same(T, bool), std::uint8_t, T>;
    const detail::any_values v = run_->values(name);
    if (v.type != dtype_of<T>)
      throw error(text() << "lamina: any_model: activation " << name << ": expected elements of "
                         << name_of(v.type) << ", found " << name_of(dtype_of<T>));
    array<stored> made(v.shape);
    for (std::size_t r = 0; r < v.rows && v.row_bytes > 0; ++r)
      std::memcpy(reinterpret_cast<std::byte*>(made.data()) + r * v.row_bytes,
                  v.from + r * v.stride_bytes, v.row_bytes);
    return made;
  }
  /// Returns the lengths of the sequences that the rows of an activation form. Level 0 is the
  /// outermost level, and -1 the innermost: for nested sequences, level 0 has the number of inner
  /// sequences of each sample, and level 1 the length of each inner sequence.
  std::vector<int> lengths(std::string_view name, int level = -1) {
    return run_->lengths(name, level);
  }

 private:
  friend class any_model;
  explicit any_evaluator(std::shared_ptr<const detail::any_model_base> of)
      : model_(std::move(of)), run_(model_->run()) {}

  std::shared_ptr<const detail::any_model_base> model_;
  std::unique_ptr<detail::any_run> run_;
};

/// A model whose type does not depend on its program. Use it if the application chooses a program
/// at run time, and for plugins. Copies share the parameters.
///   lamina::any_model open(std::string_view size) {
///     if (size == "small") return lamina::model{small};
///     return lamina::model{large};
///   }
class any_model {
 public:
  /// Takes ownership of a model: `any_model a{std::move(m)}`. If another model must share the
  /// parameters, construct it with share_parameters_of before this.
  template <program_type P>
  any_model(model<P>&& m)  // NOLINT: a model converts
      : model_(std::make_shared<detail::any_model_of<P>>(std::move(m))) {}
  template <program_type P>
  any_model(const model<P>&) = delete;  // it takes ownership: std::move(m)

  any_model(const any_model&) = default;  // a move copies, so the source stays valid
  any_model& operator=(const any_model&) = default;

  /// Describes the data layers, in the order of their recording.
  LAMINA_API LAMINA_COLD std::vector<any_variable> inputs() const;
  /// Describes the layers with a name, and the variables that the program returns.
  LAMINA_API LAMINA_COLD std::vector<any_variable> outputs() const;
  /// Describes the parameters, in the order of creation.
  LAMINA_API LAMINA_COLD std::vector<any_variable> parameters() const;

  /// Makes an evaluator of this model. Threads that each have their own evaluator may compute at
  /// the same time without a lock.
  any_evaluator evaluator() const { return any_evaluator(model_); }

  /// save() and load() do the same as model::save and model::load.
  template <file_part... Parts>
  void save(const file_path& path, const Parts&... parts) const {
    std::vector<tensor_entry> all;
    model_->arrays().append_to(all);
    write_tensor_file(path, detail::with_parts(std::move(all), parts...));
  }
  template <file_part... Parts>
  void load(const file_path& path, Parts&... parts) {
    const std::vector<tensor_entry> from = read_tensor_file(path);
    const auto assign = [&] {
      model_->arrays().check_entries(from, path.string());
      stored_arrays::assign(model_->arrays().find_all(from));
    };
    detail::read_parts(from, path.string(), assign, parts...);
  }

 private:
  std::shared_ptr<detail::any_model_base> model_;
};

#if LAMINA_DEFINES

std::vector<any_variable> any_model::inputs() const { return detail::inputs_of(model_->program()); }

std::vector<any_variable> any_model::outputs() const {
  return detail::outputs_of(model_->program());
}

std::vector<any_variable> any_model::parameters() const {
  const program_view p = model_->program();
  std::vector<any_variable> all;
  for (int i = 0; i < p.count.parameters; ++i) {
    const int v = p.parameters[i].variable;
    all.push_back(detail::describe_variable(p, v, variable_name(p, v)));
  }
  return all;
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina

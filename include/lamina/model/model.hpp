// SPDX-License-Identifier: Apache-2.0
// lamina/model/model.hpp - a program together with its parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <memory>
#include <string>
#include <vector>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/model/names/program_names.hpp>
#include <lamina/model/parameters/copy_arrays.hpp>
#include <lamina/model/parameters/file_part.hpp>
#include <lamina/model/parameters/initialize.hpp>
#include <lamina/model/parameters/moving_statistics.hpp>
#include <lamina/model/parameters/shared_parameters.hpp>
#include <lamina/model/parameters/stored_arrays.hpp>
#include <lamina/model/parameters/tensor_file.hpp>
#include <lamina/model/refused/refused_model.hpp>
#include <lamina/model/sharded/model_embedding.hpp>
#include <lamina/model/training_memory.hpp>
#include <lamina/plan/run_time_tables.hpp>
#include <lamina/tensor/array.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The parameters of a program. Training changes them. Evaluators only read them, so any number of
/// threads may compute with one model at the same time, each with its own evaluator. A model can be
/// moved but not copied; it may share parameters with other models. The design document of
/// PaddlePaddle: Model.
template <program_type P>
requires(P::desc.count.variables >= 0) class model<P> {
 public:
  using program = P;
  /// The type of parameters: float, or double for a program in double.
  using real = real_of<P>;

  /// Makes a model and runs the startup program, which sets every parameter to its initial value.
  /// Equal seeds give equal values.
  explicit model(P, std::uint64_t seed = 1) {
    create();
    initialise(seed);
  }

  /// Does the same in one of the processes of a world, such as `distributed::session`. The rows of
  /// embedding tables with is_distributed are divided over the processes. All processes must
  /// construct the model, because each owns a shard of the rows.
  template <class World>
  requires(detail::shards_embeddings<World>) model(P, World& world, std::uint64_t seed = 1) {
    if constexpr (has_distributed_tables<P>) tables_.divide(world, seed, pointers_.get());
    create();
    initialise(seed);
  }

  /// Does the same, but shares each parameter that `other` has under the same name, so that
  /// training one of the models changes the parameter of both. Further models and a seed may
  /// follow: `model m{program, share_parameters_of<"words">(a), share_parameters_of(b), 7}`. A
  /// parameter is shared with the first of these models that has it. It is a compile-time error if
  /// parameters with equal names have different shapes, and if one of the models has no parameter
  /// for a name in share_parameters_of<...>.
  template <program_type Q, fixed_string... Layers, class... More>
  model(P net, shared_parameters<Q, Layers...> other, const More&... more)
      : model(net, as_argument(more)...) {
    using all = std::make_integer_sequence<int, counts_of<P>.parameters>;
    using chosen = shared_parameters<Q, Layers...>;
    constexpr int wrong = sharing::template first_mismatch<chosen>(all{});
    static_assert(check<(wrong < 0), typename sharing::template mismatch<Q, wrong>::type>,
                  "lamina: model: parameters that models share have one shape and type");
    constexpr bool known =
        is_faulty<P> || is_faulty<Q> || (sharing::template shares<Q, Layers>(all{}) && ...);
    static_assert(check<known, detail::name_letters<Layers>...>,
                  "lamina: share_parameters_of: expected names of layers or parameters that both "
                  "models have");
    if constexpr (wrong < 0) share_each<chosen>(other.from, all{});
  }

  /// Reports a construction without a program with a one-line error.
  template <class... Given>
  requires(std::is_same_v<P, detail::no_program>) explicit model(const Given&...) {
    static_assert(check<never<P, Given...>, gets_type<Given...>>,
                  "lamina: model: expected a program, lamina::model m{program}");
  }
  /// Reports a program that is not the program of the model's type with a one-line error.
  template <program_type Q, class... More>
  requires(!std::is_convertible_v<Q, P>) explicit model(Q, const More&...) : model(own_memory{}) {
    static_assert(check<is_faulty<Q>, expects_type<P>, gets_type<Q>>,
                  "lamina: model: expected the program of its type, found another one");
  }
  /// Reports further arguments that are neither a seed nor shared parameters with a one-line error.
  template <class Given, class... More>
  requires(!std::is_convertible_v<Given, std::uint64_t> && !is_shared_parameters<Given> &&
           !detail::shards_embeddings<Given>) model(P, const Given&, const More&...) {
    static_assert(check<never<P, Given>, gets_type<Given>>,
                  "lamina: model: expected a seed after the program, model m{program, 7}, or "
                  "share_parameters_of(other)");
  }

#ifdef LAMINA_NAMES_OPTIONS
  template <class = void>
  requires(__is_same(P, detail::no_program)) model(anything, ...)
  = delete;  // model m{program}
#endif

  model(const model&) = delete;
  model& operator=(const model&) = delete;
  model(model&&) = default;
  model& operator=(model&&) = default;

  /// Returns a model with the same values in separate memory, even if this model shares parameters
  /// with others. To store the best parameters of a training: `auto best = m.clone()`, then
  /// `best.copy_parameters(m)` after each improvement.
  model clone() const {
    (void)memory();
    model made{own_memory{}};
    made.copy_parameters(*this);
    return made;
  }

  /// Sets every parameter to the value of the parameter with the same name in `from`, which may
  /// have another program. Further parameters of `from` are ignored. Throws lamina::error, and
  /// changes nothing, if `from` lacks a parameter or has it with another shape or type.
  template <program_type Q>
  void copy_parameters(const model<Q>& from) {
    copy_from(from, 1, nullptr, 0);
  }
  /// Moves every parameter p towards the parameter q with the same name in `from`: p = (1 - tau) p
  /// + tau q with 0 <= tau <= 1. Use it for target networks and averages of models. Parameters that
  /// the program itself changes in training (the moving statistics of batch_norm) are copied if tau
  /// > 0, because they describe the mini-batches that `from` has seen. Parameters that both models
  /// share are not changed. If both models have the same program, it allocates no memory.
  template <program_type Q>
  void copy_parameters(const model<Q>& from, double tau) {
    using written = detail::written_parameters<P>;
    copy_from(from, tau, written::all.of, written::all.count);
  }

  /// Returns the number of parameters.
  static constexpr int parameter_arrays() { return counts_of<P>.parameters; }

  /// Returns a copy of a parameter, with the parameter's shape: `m.parameter<"fc_0.w_0">()`.
  template <fixed_string Name>
  array<real> parameter() const {
    constexpr int found = parameter_named<P>(Name.view());
    constexpr bool known = found >= 0 || is_faulty<P> || Name.is_refused();
    using all = detail::known_parameters<P, !known>;
    static_assert(check<known, detail::name_letters<Name>, all>,
                  "lamina: parameter: the program has no parameter of this name");
    return get(found < 0 ? 0 : found);
  }
  /// Reports a name among the function arguments with a one-line error.
  template <class Text>
  array<real> parameter(const Text&) const {
    static_assert(never<Text>,
                  "lamina: parameter: expected the name as a template argument, "
                  "parameter<\"fc_0.w_0\">()");
    return {};
  }
  /// Sets a parameter. Throws lamina::error if `value` has another shape than the parameter.
  template <fixed_string Name>
  void set_parameter(const array<real>& value) {
    constexpr int found = parameter_named<P>(Name.view());
    constexpr bool known = found >= 0 || is_faulty<P> || Name.is_refused();
    using all = detail::known_parameters<P, !known>;
    static_assert(check<known, detail::name_letters<Name>, all>,
                  "lamina: parameter: the program has no parameter of this name");
    set(found < 0 ? 0 : found, value);
  }

  /// get() and set() do the same for the parameter with index i, in the order of creation.
  LAMINA_COLD array<real> get(int i) const {
    const parameter_info info = describe(i);
    array<real> value(info.shape);
    export_values(i, value.data());
    return value;
  }
  LAMINA_COLD void set(int i, const array<real>& value) {
    const parameter_info info = describe(i);
    if (value.shape() != info.shape)
      LAMINA_THROW error(text() << "lamina: parameter " << info.name << ": expected "
                                << text().list(info.shape) << ", found "
                                << text().list(value.shape()));
    import_values(i, value.data());
  }

  /// Sets each parameter i to the row-major elements at values[i]; null leaves a parameter
  /// unchanged. If it throws, no parameter is changed. Discards the training state, as load() does.
  LAMINA_COLD void set_all(const real* const* values) {
    std::vector<stored_arrays::assignment> all;
    for (int i = 0; i < parameter_arrays(); ++i)
      all.push_back({describe(i), values[i], memory()[i]});
    stored_arrays::assign(all);
    forget_training();
  }

  /// Returns name, shape and layout of parameter i.
  static parameter_info describe(int i) { return parameters_in<P>().describe(i); }

  /// Writes all parameters and `parts` (see file_part) to a file. If writing fails, an existing
  /// file stays as it was. If a table is divided over processes, all processes must call save() and
  /// load(), and rank 0 writes the file.
  template <file_part... Parts>
  void save(const file_path& path, const Parts&... parts) const {
    if constexpr (has_distributed_tables<P>)
      if (embedding())
        return tables_.save(path.string(), memory_of_all(), detail::with_parts({}, parts...));
    write_tensor_file(path, detail::with_parts(entries(), parts...));
  }
  /// Replaces all parameters and parts by the contents of a file of save(). Throws format_error if
  /// the file is damaged, and lamina::error if it is from another program or lacks a part; nothing
  /// is changed then. Discards the training state, so that the next call of `train` starts with new
  /// states of the optimizer.
  template <file_part... Parts>
  void load(const file_path& path, Parts&... parts) {
    const std::vector<tensor_entry> from = read(path);
    const auto take = [&] {
      if constexpr (has_distributed_tables<P>)
        if (embedding())
          return tables_.assign(from, path.string(), memory_of_all()), forget_training();
      assign(from, path.string());
    };
    detail::read_parts(from, path.string(), take, parts...);
  }

  /// Returns copies of all parameters as named arrays.
  std::vector<tensor_entry> entries() const {
    std::vector<tensor_entry> all;
    arrays().append_to(all);
    return all;
  }
  /// Sets all parameters to the entries with their names; further entries are ignored. Throws
  /// lamina::error, and changes nothing, if an entry is missing or has another shape or type;
  /// `source` names the entries in the error. Discards the training state, as load() does.
  void assign(const std::vector<tensor_entry>& from, const std::string& source) {
    arrays().check_entries(from, source);
    stored_arrays::assign(arrays().find_all(from));
    forget_training();
  }
  /// Returns the parameters in the form in which they are written to files.
  stored_arrays arrays() const { return parameters_for_files<P>(memory()); }

  /// Returns the training state that `train` leaves in the model: the optimizer's accumulators and
  /// the numbers of steps and passes. With it, a second call of `train` with the same type of
  /// optimizer continues the training. forget_training() discards the state and frees its memory;
  /// the next call then starts with new states.
  training_memory& training() { return training_; }
  void forget_training() { training_.forget(); }

  /// Returns one pointer per parameter, to its memory in the engine's layout. Throws lamina::error
  /// if the model was moved from, and if rows of a table are in other processes.
  float* const* memory() const {
    if constexpr (has_distributed_tables<P>) tables_.require_whole();
    return memory_of_all();
  }
  /// Does the same even if rows of a table are in other processes; the memory of the table then
  /// does not have these rows.
  float* const* memory_of_all() const {
    if (!pointers_) fail_moved();
    return pointers_.get();
  }
  /// Returns the tables that are sharded over processes; null if there are none.
  sharded_embedding* embedding() const {
    if constexpr (has_distributed_tables<P>)
      return tables_.get();
    else
      return nullptr;
  }
  const detail::model_embedding<P>& tables() const { return tables_; }
  /// is_sharded() tells whether parameter i is divided over processes; table_of() returns its
  /// number among the sharded tables.
  bool is_sharded(int i) const {
    if constexpr (has_distributed_tables<P>)
      return tables_.has(i);
    else
      return false;
  }
  static int table_of(int i) { return distributed_tables<P>::all.table_of[i]; }
  /// Returns the object that owns the memory of parameter i.
  const std::shared_ptr<engine::aligned_buffer>& owner(int i) const { return memory(), owners_[i]; }

 private:
  [[noreturn]] LAMINA_COLD static void fail_moved() {
    LAMINA_THROW error("lamina: model: expected parameters, found a model that was moved from");
  }
  LAMINA_COLD void create() {
    for (int i = 0; i < parameter_arrays(); ++i) {
      if (pointers_[i] != nullptr) continue;  // a sharded table is not allocated here
      owners_[i] = std::make_shared<engine::aligned_buffer>(parameters_in<P>().floats(i));
      pointers_[i] = owners_[i]->data();
    }
  }
  std::vector<tensor_entry> read(const file_path& path) const {
    if constexpr (has_distributed_tables<P>)
      if (embedding()) return tables_.read(path.string(), memory_of_all());
    return read_tensor_file(path);
  }
  /// Returns an argument for another constructor, with a seed of any integer type converted to
  /// std::uint64_t.
  template <class T>
  static decltype(auto) as_argument(const T& argument) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<std::uint64_t>(argument);
    else
      return (argument);
  }

  LAMINA_COLD void initialise(std::uint64_t seed) {
    constexpr const program_view& p = run_time_program<P>::view;
    for (int k = 0; k < p.count.startup; ++k) {
      const variable_desc& v = p.variables[p.arguments[p.startup[k].outputs]];
      if (v.kind != variable_kind::parameter) continue;
      if constexpr (has_distributed_tables<P>)
        if (tables_.initialise(v.index, p, p.startup[k], seed)) continue;
      const std::vector<real> values =
          initial_values<real>(p, p.startup[k], seed, static_cast<std::uint64_t>(v.index));
      import_values(v.index, values.data());
    }
  }
  using sharing = detail::parameter_sharing<P>;
  struct own_memory {};
  /// Makes a model with its own memory, without values.
  explicit model(own_memory) { create(); }

  template <program_type Q>
  LAMINA_COLD void copy_from(const model<Q>& from, double tau, const int* copied, int count) {
    std::vector<int> counterparts;
    if constexpr (!std::is_same_v<P, Q>)
      counterparts = detail::counterparts(parameters_in<P>(), parameters_in<Q>());
    detail::copy_arrays({parameters_in<P>(), memory()}, {parameters_in<Q>(), from.memory()},
                        std::is_same_v<P, Q> ? nullptr : counterparts.data(), tau, copied, count);
  }

  template <class Shared, class Q, int... Index>
  void share_each(const model<Q>& other, std::integer_sequence<int, Index...>) {
    // An array replaces a fold expression, because clang accepts at most 256 operands in a fold.
    const int each[] = {0, (share_one<Shared, Q, Index>(other), 0)...};
    (void)each;
  }
  template <class Shared, class Q, int Index>
  void share_one(const model<Q>& other) {
    constexpr int k = sharing::template counterpart_of<Shared, Q, Index>;
    if constexpr (k >= 0) {
      owners_[Index] = other.owner(k);
      pointers_[Index] = owners_[Index]->data();
    }
  }

  void export_values(int i, real* to) const { unpack_like(describe(i), memory_of(i), to); }
  void import_values(int i, const real* from) { pack_like(describe(i), from, memory_of(i)); }
  float* memory_of(int i) const {
    if constexpr (has_distributed_tables<P>)
      if (tables_.has(i)) tables_.require_whole();
    return memory_of_all()[i];
  }

  static constexpr std::size_t at_least = at_least_one(counts_of<P>.parameters);
  using owner_type = std::shared_ptr<engine::aligned_buffer>;
  owned_array<owner_type> owners_{at_least};
  owned_array<float*> pointers_{at_least};  // evaluators store the address of this array
  training_memory training_;
  [[no_unique_address]] detail::model_embedding<P> tables_;
};

// There is a single deduction guide, which also accepts, and thereby reports, options in braces.
// Its parameters are on one line, because clang prints each line of it in an error.
// clang-format off
template <class P = left_out, class Seed = std::uint64_t, class... More>
model(const P& = {}, const Seed& = 1, const More&...) -> model<detail::modelled_in<P>>;
// clang-format on
#ifdef LAMINA_NAMES_OPTIONS
model(...)->model<detail::no_program>;
#endif

/// The model type of a program, for a member of a class: `lamina::model_of<net> model_{net}`.
template <const auto& Net>
using model_of = model<std::remove_cvref_t<decltype(Net)>>;

}}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/model/model.hpp - a program together with its parameters.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <lamina/core/config.hpp>
#include <lamina/engine/cpu/aligned_buffer.hpp>
#include <lamina/engine/cpu/panel.hpp>
#include <lamina/model/initialize.hpp>
#include <lamina/model/program_names.hpp>
#include <lamina/model/tensor_file.hpp>
#include <lamina/plan/run_time_tables.hpp>
#include <lamina/tensor/xtensor.hpp>

namespace lamina {

/// What every parameter is, for code that knows no program.
struct parameter_info {
  std::string name;
  std::vector<std::size_t> shape;
  int rows, columns;
  bool panel;  // in the engine's panel layout
};

template <program_type P>
class model;

/// Names the model whose parameters a new model shares: `model m{program, share_parameters_of(n)}`.
template <program_type Q>
struct shared_parameters {
  const model<Q>& from;
};
template <program_type Q>
shared_parameters<Q> share_parameters_of(const model<Q>& from) {
  return {from};
}

/// From the engine's layout of a parameter, which its gradient and its accumulators share, to
/// row-major without padding; and back. The only doors between the two.
LAMINA_COLD inline void unpack_like(const parameter_info& info, const float* from, float* to) {
  if (info.panel) return engine::cpu::unpack(info.rows, info.columns, from, to);
  for (int r = 0; r < info.rows; ++r)
    std::memcpy(to + static_cast<std::ptrdiff_t>(r) * info.columns,
                from + static_cast<std::ptrdiff_t>(r) * padded(info.columns),
                static_cast<std::size_t>(info.columns) * sizeof(float));
}
LAMINA_COLD inline void pack_like(const parameter_info& info, const float* from, float* to) {
  if (info.panel) return engine::cpu::pack(info.rows, info.columns, from, to);
  for (int r = 0; r < info.rows; ++r)
    std::memcpy(to + static_cast<std::ptrdiff_t>(r) * padded(info.columns),
                from + static_cast<std::ptrdiff_t>(r) * info.columns,
                static_cast<std::size_t>(info.columns) * sizeof(float));
}

/// Model = {program, parameters} of PaddlePaddle's design: what training changes and serving reads.
/// Evaluators only read it, so any number of threads may each own one over the same model. Not
/// copied, but moved; parameters may be shared with other models.
template <program_type P>
class model {
 public:
  using program = P;

  /// Runs the startup program: every parameter gets its initial value. Equal seeds give equal
  /// values.
  explicit model(P, std::uint64_t seed = 1) {
    create();
    initialise(seed);
  }

  /// As above, but parameters that `other` has too, by name, are the very ones of `other`: training
  /// one model changes both. A parameter of equal name and another shape is a compile-time error.
  template <program_type Q>
  model(P, shared_parameters<Q> other, std::uint64_t seed = 1) {
    create();
    initialise(seed);
    using all = std::make_integer_sequence<int, P::desc.count.parameters>;
    constexpr int wrong = first_mismatch<Q>(all{});
    static_assert(check<(wrong < 0), typename mismatch<Q, wrong>::type>,
                  "lamina: model: parameters that models share have one shape and type");
    if constexpr (wrong < 0) share_each(other.from, all{});
  }

  model(const model&) = delete;
  model& operator=(const model&) = delete;
  model(model&&) = default;
  model& operator=(model&&) = default;

  /// How many parameters there are.
  static constexpr int parameter_arrays() { return P::desc.count.parameters; }

  /// The value of a parameter in its own shape: `m.parameter<"fc_0.w_0">()`.
  template <fixed_string Name>
  xt::xarray<float> parameter() const {
    constexpr int found = parameter_named<P>(Name.view());
    using known = detail::known_parameters<P, (found < 0)>;
    static_assert(check<found >= 0, detail::name_letters<Name>, known>,
                  "lamina: parameter: the program has no parameter of this name");
    return get(found < 0 ? 0 : found);
  }
  /// Sets a parameter; throws lamina::error unless the shape is the parameter's.
  template <fixed_string Name>
  void set_parameter(const xt::xarray<float>& value) {
    constexpr int found = parameter_named<P>(Name.view());
    using known = detail::known_parameters<P, (found < 0)>;
    static_assert(check<found >= 0, detail::name_letters<Name>, known>,
                  "lamina: parameter: the program has no parameter of this name");
    set(found < 0 ? 0 : found, value);
  }

  /// The same by number, in the order of creation.
  LAMINA_COLD xt::xarray<float> get(int i) const {
    const parameter_info info = describe(i);
    xt::xarray<float> value = xt::xarray<float>::from_shape(info.shape);
    export_values(i, value.data());
    return value;
  }
  LAMINA_COLD void set(int i, const xt::xarray<float>& value) {
    const parameter_info info = describe(i);
    if (!std::equal(info.shape.begin(), info.shape.end(), value.shape().begin(),
                    value.shape().end()))
      throw error("lamina: parameter " + info.name + ": expected " + text_of(info.shape) +
                  ", found " + text_of({value.shape().begin(), value.shape().end()}));
    import_values(i, value.data());
  }

  /// Name, shape and layout of parameter i.
  LAMINA_COLD static parameter_info describe(int i) {
    constexpr const program_view& p = run_time_program<P>::view;
    const int v = p.parameters[i].variable;
    const variable_desc& d = p.variables[v];
    const parameter_place& lies = parameter_table<P>::table.of[i];
    parameter_info info{variable_name(p, v), {}, lies.rows, lies.columns, lies.panel};
    for (int k = 0; k < d.rank; ++k)
      info.shape.push_back(static_cast<std::size_t>(p.dims[d.dims + k]));
    return info;
  }

  /// Writes all parameters to a file. A failed write leaves the old file whole.
  void save(const std::filesystem::path& path) const { write_tensor_file(path, entries()); }

  /// Replaces all parameters by those of a file that save() wrote. Throws format_error for a
  /// damaged or foreign file and lamina::error when names or shapes differ from the program's; the
  /// model is unchanged then.
  void load(const std::filesystem::path& path) { assign(read_tensor_file(path), path.string()); }

  /// All parameters as named arrays.
  LAMINA_COLD std::vector<tensor_entry> entries() const {
    std::vector<tensor_entry> all;
    for (int i = 0; i < parameter_arrays(); ++i) {
      const parameter_info info = describe(i);
      tensor_entry e{info.name, dtype::float32, {info.shape.begin(), info.shape.end()}, {}};
      e.bytes.resize(static_cast<std::size_t>(info.rows) * info.columns * sizeof(float));
      export_values(i, reinterpret_cast<float*>(e.bytes.data()));
      all.push_back(std::move(e));
    }
    return all;
  }
  /// Takes the parameters from entries; further entries are ignored. All or nothing.
  LAMINA_COLD void assign(const std::vector<tensor_entry>& from, const std::string& source) {
    std::vector<const tensor_entry*> found;
    for (int i = 0; i < parameter_arrays(); ++i) {
      const parameter_info info = describe(i);
      const tensor_entry* match = nullptr;
      for (const tensor_entry& e : from)
        if (e.name == info.name) match = &e;
      if (match == nullptr)
        throw error("lamina: " + source + ": expected a parameter " + info.name + ", found none");
      if (match->type != dtype::float32 ||
          !std::equal(match->dims.begin(), match->dims.end(), info.shape.begin(), info.shape.end()))
        throw error("lamina: " + source + ": parameter " + info.name + ": expected float32 " +
                    text_of(info.shape) + ", found " + name_of(match->type) + " " +
                    text_of({match->dims.begin(), match->dims.end()}));
      found.push_back(match);
    }
    for (int i = 0; i < parameter_arrays(); ++i)
      import_values(
          i, reinterpret_cast<const float*>(found[static_cast<std::size_t>(i)]->bytes.data()));
  }

  /// One pointer a parameter, to its memory as the engine keeps it.
  float* const* memory() const { return pointers_.data(); }
  /// Who owns parameter i.
  const std::shared_ptr<engine::cpu::aligned_buffer>& owner(int i) const {
    return owners_[static_cast<std::size_t>(i)];
  }

 private:
  LAMINA_COLD static std::string text_of(const std::vector<std::size_t>& shape) {
    std::string s = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
      s += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return s + "]";
  }
  LAMINA_COLD void create() {
    for (int i = 0; i < parameter_arrays(); ++i) {
      const parameter_info info = describe(i);
      owners_.push_back(std::make_shared<engine::cpu::aligned_buffer>(
          static_cast<std::size_t>(info.rows) * static_cast<std::size_t>(padded(info.columns))));
      pointers_.push_back(owners_.back()->data());
    }
  }
  LAMINA_COLD void initialise(std::uint64_t seed) {
    constexpr const program_view& p = run_time_program<P>::view;
    for (int k = 0; k < p.count.startup; ++k) {
      const variable_desc& v = p.variables[p.arguments[p.startup[k].outputs]];
      if (v.kind != variable_kind::parameter) continue;
      const std::vector<float> values =
          initial_values(p, p.startup[k], seed, static_cast<std::uint64_t>(v.index));
      import_values(v.index, values.data());
    }
  }
  template <class Q, int... I>
  void share_each(const model<Q>& other, std::integer_sequence<int, I...>) {
    // A list and no fold: clang folds at most 256 operands.
    const int each[] = {0, (share_one<Q, I>(other), 0)...};
    (void)each;
  }
  template <class Q, int I>
  static constexpr int counterpart = [] {
    for (int k = 0; k < Q::desc.count.parameters; ++k) {
      const int v = Q::desc.parameters[k].variable;
      const int n = name_length(Q::desc, v);
      char* text = new char[static_cast<unsigned>(n) + 1];
      name_writer w{text};
      write_name(Q::desc, v, w);
      const bool same = has_name(P::desc, P::desc.parameters[I].variable,
                                 std::string_view(text, static_cast<std::size_t>(n)));
      delete[] text;
      if (same) return k;
    }
    return -1;
  }();
  template <class Q, int I>
  struct parameter_extent {
    static constexpr variable_desc d = Q::desc.variables[Q::desc.parameters[I].variable];
    static constexpr int first = Q::desc.dims[d.dims];
    static constexpr int last = Q::desc.dims[d.dims + d.rank - 1];
    static constexpr int at(int i) { return Q::desc.dims[d.dims + i]; }
  };
  template <class A, class B>
  static constexpr bool same_extent() {
    bool same = A::d.rank == B::d.rank && A::d.type == B::d.type;
    for (int i = 0; same && i < A::d.rank; ++i) same = A::at(i) == B::at(i);
    return same;
  }
  /// What the message tells of parameter I: its name and the first and last dimension of both.
  template <class Q, int I, bool = (I >= 0)>
  struct mismatch {
    using type = void;
  };
  template <class Q, int I>
  struct mismatch<Q, I, true> {
    using mine = parameter_extent<P, I>;
    using others = parameter_extent<Q, counterpart<Q, I>>;
    using name = typename detail::variable_text<P, P::desc.parameters[I].variable>::type;
    using type =
        gets_type<name, expects<others::first, others::last>, gets<mine::first, mine::last>>;
  };
  template <class Q, int I>
  static constexpr bool fits_one() {
    constexpr int k = counterpart<Q, I>;
    if constexpr (k >= 0)
      return same_extent<parameter_extent<P, I>, parameter_extent<Q, k>>();
    else
      return true;
  }
  template <class Q, int... I>
  static constexpr int first_mismatch(std::integer_sequence<int, I...>) {
    const bool fits[] = {fits_one<Q, I>()..., true};
    for (int i = 0; i < P::desc.count.parameters; ++i)
      if (!fits[i]) return i;
    return -1;
  }
  template <class Q, int I>
  void share_one(const model<Q>& other) {
    constexpr int k = counterpart<Q, I>;
    if constexpr (k >= 0) {
      owners_[I] = other.owner(k);
      pointers_[I] = owners_[I]->data();
    }
  }

  void export_values(int i, float* to) const {
    unpack_like(describe(i), pointers_[static_cast<std::size_t>(i)], to);
  }
  void import_values(int i, const float* from) {
    pack_like(describe(i), from, pointers_[static_cast<std::size_t>(i)]);
  }

  std::vector<std::shared_ptr<engine::cpu::aligned_buffer>> owners_;
  std::vector<float*> pointers_;
};

}  // namespace lamina

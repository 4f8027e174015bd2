// SPDX-License-Identifier: Apache-2.0
// lamina/model/static_evaluator.hpp - computes activations without allocating memory, for audio
// threads, operating system kernels and small devices.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/engine/cpu/static/static_image_kernels.hpp>
#include <lamina/engine/cpu/static/static_recurrent_kernels.hpp>
#include <lamina/engine/cpu/static/static_shape_kernels.hpp>
#include <lamina/model/names/cpp_type_of.hpp>
#include <lamina/model/names/program_names.hpp>
#include <lamina/model/storage.hpp>
#include <lamina/plan/feed_mask.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// The type that stores the weights of a static evaluator.
template <class Storage>
struct static_storage {};
template <>
struct static_storage<storage::float32_type> {
  using weights = engine::cpu::float_weights;
};
template <auto Storage>
inline constexpr bool stores_weights = requires {
  typename static_storage<std::remove_const_t<decltype(Storage)>>::weights;
};
template <auto Storage, bool Known = stores_weights<Storage>>
struct static_weights : static_storage<storage::float32_type> {};
template <auto Storage>
struct static_weights<Storage, true> : static_storage<std::remove_const_t<decltype(Storage)>> {};

}  // namespace detail

/// A program in test mode with its parameters and activations, for `Rows` samples at a time. It
/// does not use the heap, threads, virtual calls, exceptions or locks, and compiles with
/// -fno-exceptions -fno-rtti. All mistakes are compile-time errors: wrong names, sizes and element
/// types, and operators without a kernel for static evaluators.
///
/// The object contains parameters and activations by value, and no address. So it may be copied
/// byte by byte, and placed in static or shared memory or on a stack that is large enough (see
/// `sizeof`). It is aligned to 64 bytes. All parameters are zero until load() or set_parameter() is
/// called.
///
///   static lamina::static_evaluator<decltype(net)> e;       // one row
///   e.load(model);                                          // or from constants: e.load(weights)
///   e.input<"x">()[0] = sample;
///   e.forward();
///   float y = e.activation<"y">()[0];
///
/// `Storage` is storage::float32, or storage::bfloat16 of model/bfloat16/static_bfloat16.hpp.
template <class Program, int Rows = 1, auto Storage = storage::float32>
class static_evaluator {
  using recorded = std::remove_const_t<Program>;

 public:
  using program = for_test<recorded>;
  static constexpr int rows = Rows;

 private:
  using weights = typename detail::static_weights<Storage>::weights;
  using layout = engine::cpu::static_layout<program, Rows, weights>;
  using plan_type = plan<program>;
  static constexpr bool fixed_rows =
      counts_of<program>.blocks == 1 && counts_of<program>.domains == 2;
  static_assert(check<(Rows > 0), gets<Rows>>, "lamina: static_evaluator: at least one row");
  static_assert(check<fixed_rows>,
                "lamina: static_evaluator: programs without loops, branches and sequences");
  static_assert(check<computes_in_float<program>>,
                "lamina: static_evaluator: expected a program in float, found one in double");
  static_assert(check<detail::stores_weights<Storage>>,
                "lamina: static_evaluator: weights are stored as storage::float32, or as "
                "storage::bfloat16 of <lamina/model/bfloat16/static_bfloat16.hpp>");

  template <int Index>
  using data_type =
      typename detail::cpp_type_of<program::desc.variables[program::desc.data[Index]].type>::type;
  template <fixed_string Name>
  static constexpr int data_layer() {
    constexpr int found = data_named<recorded>(Name.view());
    using all = detail::known_data<recorded, (found < 0)>;
    static_assert(check<found >= 0, detail::name_letters<Name>, all>,
                  "lamina: feed: the program has no data layer of this name");
    return found < 0 ? 0 : found;
  }
  static constexpr int elements_of(int parameter) {
    const parameter_layout& d = parameter_table<program>::table.of[parameter];
    return d.rows * d.columns;
  }
  struct flags {
    bool of[bound(layout::parameter_count)];
  };
  static constexpr flags find_own_panels() {
    flags f{};
    for (int i = 0; i < layout::parameter_count; ++i) f.of[i] = layout::has_own_panels(i);
    return f;
  }
  static constexpr flags own_panels = find_own_panels();
  static constexpr std::size_t count_elements() {
    std::size_t n = 0;
    for (int i = 0; i < layout::parameter_count; ++i) n += static_cast<std::size_t>(elements_of(i));
    return n;
  }

 public:
  /// The number of elements of all parameters together.
  static constexpr std::size_t parameter_elements = count_elements();

  static_evaluator() {
    constexpr auto& first = constant_table<program>::table;
    for (int i = 0; i < layout::constant_count; ++i)
      memory()[layout::at.constants + i] = first.of[i];
    memory()[layout::at.constants + inverse_rows(batch::domain)] = 1.0F / Rows;
  }

  /// Copies the parameters of a model of this program.
  template <class Model>
  requires std::same_as<typename Model::program, recorded>
  void load(const Model& from) {
    for (int i = 0; i < layout::parameter_count; ++i) {
      const parameter_layout& d = parameter_table<program>::table.of[i];
      if constexpr (weights::own_panels) {
        if (own_panels.of[i]) {
          weights::pack_panels(d.rows, d.columns, from.memory()[i],
                               memory() + layout::at.parameters[i]);
          continue;
        }
      }
      std::memcpy(memory() + layout::at.parameters[i], from.memory()[i],
                  sizeof(float) * static_cast<std::size_t>(d.rows) *
                      static_cast<std::size_t>(padded(d.columns)));
    }
  }
  /// Copies all parameters from `values`, where they follow each other in the order of creation,
  /// each row-major.
  void load(std::span<const float, parameter_elements> values) {
    const float* from = values.data();
    for (int i = 0; i < layout::parameter_count; from += elements_of(i), ++i) set(i, from);
  }
  /// Copies one parameter from row-major elements.
  template <fixed_string Name, std::size_t Size>
  void set_parameter(std::span<const float, Size> value) {
    constexpr int found = parameter_named<recorded>(Name.view());
    using known = detail::known_parameters<recorded, (found < 0)>;
    static_assert(check<found >= 0, detail::name_letters<Name>, known>,
                  "lamina: parameter: the program has no parameter of this name");
    constexpr int i = found < 0 ? 0 : found;
    constexpr bool fits = Size == static_cast<std::size_t>(elements_of(i));
    static_assert(check<fits, expects<elements_of(i)>, gets<static_cast<int>(Size)>>,
                  "lamina: static_evaluator: a parameter has as many elements as its array");
    if constexpr (fits) set(i, value.data());
  }

  /// Returns the memory of a data layer, in which the rows follow each other without padding. The
  /// caller writes the inputs of forward() to it. It is a std::span, or a view of the same elements
  /// for the state of a conv1d_with_state, whose channels have gaps between them (`window_view` in
  /// engine/cpu/static/static_windows.hpp).
  template <fixed_string Name>
  auto input() {
    constexpr int i = data_layer<Name>();
    if constexpr (layout::is_window(i))
      return window<i, Rows>(memory(), layout::template cursor_of<i>(memory()).now);
    else
      return plain_input<i>();
  }

  /// Computes all activations that depend only on the data layers with these names; without names,
  /// all activations.
  template <fixed_string... Name>
  void forward() {
    constexpr unsigned long long given = [] {
      bool fed[bound(counts_of<program>.data)] = {};
      ((fed[data_layer<Name>()] = true), ...);
      return sizeof...(Name) == 0 ? ~0ull : feed_mask(fed, counts_of<program>.data);
    }();
    layout::begin_run(memory());
    run<given>(std::make_integer_sequence<int, plan_type::groups>{});
  }

  /// Returns one row of the activation of a layer that the user named, or of a variable that the
  /// program returns.
  template <fixed_string Name>
  auto activation(int row = 0) const {
    constexpr int found = variable_named<recorded>(Name.view());
    static_assert(check<found >= 0, detail::name_letters<Name>>,
                  "lamina: activation: the program has no layer or variable of this name");
    constexpr int v = found < 0 ? 0 : found;
    constexpr int root = plan_type::lowered.variables[v].root;
    if constexpr (constexpr int i = layout::windows.before(root); i >= 0 && found >= 0) {
      constexpr int step = layout::window_floats(i) / Rows;
      return window<i, 1>(memory(), layout::template cursor_of<i>(memory()).next + row * step);
    } else {
      return plain_activation<Name, v, found >= 0>(row);
    }
  }

  /// Copies all rows of an activation to the memory of a data layer: the state after one forward()
  /// is the state before the next one.
  template <fixed_string From, fixed_string To>
  void feed_back() {
    constexpr int i = data_layer<To>(), from = variable_named<recorded>(From.view());
    if constexpr (layout::is_window(i) && from >= 0 && layout::windows.before(from) == i)
      layout::template advance<i>(memory());
    else
      copy_back<From, To>();
  }

  /// Copies each activation NAME_next to the data layer NAME, if the program has both, as imported
  /// nets for signals have for their states. Afterwards, where NAME is the state of a
  /// conv1d_with_state, NAME_next and NAME are the same memory until the next forward().
  void feed_back() {
    [this]<int... Next>(std::integer_sequence<int, Next...>) { (feed_back_state<Next>(), ...); }
    (std::make_integer_sequence<int, counts_of<program>.data>{});
  }

 private:
  template <int Index>
  auto plain_input() {
    constexpr const auto& d = plan_type::lowered.variables[program::desc.data[Index]];
    // data_once has rows of its own: the extent of its first dimension.
    constexpr std::size_t size = static_cast<std::size_t>((d.rows < 0 ? Rows : d.rows) * d.columns);
    return std::span<data_type<Index>, size>(
        reinterpret_cast<data_type<Index>*>(memory() + layout::at.data[Index]), size);
  }
  // `Count` rows of a state in a window.
  template <int Window, int Count, class Float>
  static auto window(Float* memory, int at) {
    constexpr engine::cpu::static_window w = layout::windows.of[Window];
    return engine::cpu::window_view<Float, Count, w.channels * w.past, w.past>(
        layout::template window_at<Window>(memory, at),
        {w.length(), layout::window_floats(Window) / Rows});
  }
  template <fixed_string Name, int v, bool Found>
  auto plain_activation(int row) const {
    constexpr variable_layout lies = layout_of_variable<program, v>;
    constexpr std::ptrdiff_t at = layout::position_of(plan_type::lowered.variables[v].root);
    constexpr bool kept =
        at >= 0 && keeps_value<program, v> && lies.slot.space != memory_space::parameter;
    static_assert(check<(kept || !Found), detail::name_letters<Name>>,
                  "lamina: activation: this variable is not kept; name its layer, or return it "
                  "from the program");
    using T = typename detail::cpp_type_of<program::desc.variables[v].type>::type;
    constexpr std::size_t size = static_cast<std::size_t>(lies.columns);
    return std::span<const T, size>(
        reinterpret_cast<const T*>(memory() + (kept ? at : 0)) + row * lies.stride, size);
  }

  template <fixed_string From, fixed_string To>
  void copy_back() {
    const auto to = input<To>();
    constexpr std::size_t columns = decltype(activation<From>())::extent;
    constexpr bool fits = columns * Rows == decltype(input<To>())::extent;
    static_assert(check<fits, expects<static_cast<int>(decltype(input<To>())::extent / Rows)>,
                        gets<static_cast<int>(columns)>>,
                  "lamina: static_evaluator: feed_back: the activation has the shape of the data "
                  "layer");
    constexpr bool plain = requires {
      to.data();
      activation<From>().data();
    };
    for (int r = 0; fits && r < Rows; ++r) {
      const auto from = activation<From>(r);
      const std::size_t first = static_cast<std::size_t>(r) * columns;
      if constexpr (plain)
        std::memcpy(to.data() + first, from.data(), columns * sizeof to[0]);
      else
        for (std::size_t i = 0; i < columns; ++i) to[first + i] = from[i];
    }
  }
  // The name of data layer Data, and the same with the suffix `_next`.
  template <int Data>
  struct state_names {
    using found = detail::variable_text<recorded, recorded::desc.data[Data]>;
    static constexpr fixed_string<found::size + 1> name{found::value.text};
    static constexpr fixed_string<found::size + 6> next = [] {
      fixed_string<found::size + 6> all;
      for (int i = 0; i < found::size; ++i) all.text[i] = found::value.text[i];
      for (int i = 0; i < 5; ++i) all.text[found::size + i] = "_next"[i];
      return all;
    }();
  };
  template <int Data>
  void feed_back_state() {
    using names = state_names<Data>;
    if constexpr (variable_named<recorded>(names::next.view()) >= 0)
      feed_back<names::next, names::name>();
  }

  float* memory() { return reinterpret_cast<float*>(bytes_); }
  const float* memory() const { return reinterpret_cast<const float*>(bytes_); }

  void set(int i, const float* from) {
    const parameter_layout& d = parameter_table<program>::table.of[i];
    float* const to = memory() + layout::at.parameters[i];
    if constexpr (weights::own_panels) {
      if (own_panels.of[i]) return weights::pack(d.rows, d.columns, from, to);
    }
    if (d.panel) return engine::cpu::pack(d.rows, d.columns, from, to);
    for (int r = 0; r < d.rows; ++r)
      std::memcpy(to + static_cast<std::ptrdiff_t>(r) * padded(d.columns),
                  from + static_cast<std::ptrdiff_t>(r) * d.columns,
                  sizeof(float) * static_cast<std::size_t>(d.columns));
  }
  template <unsigned long long Given, int... G>
  void run(std::integer_sequence<int, G...>) {
    (run_one<Given, G>(), ...);
  }
  template <unsigned long long Given, int G>
  void run_one() {
    if constexpr (engine::cpu::static_group<program, Rows, G, weights>::runs(Given))
      engine::cpu::run_static_group<program, Rows, G, weights>(memory());
  }

  alignas(64) std::byte bytes_[sizeof(float) * static_cast<std::size_t>(layout::at.end)] = {};
};

}}  // namespace lamina

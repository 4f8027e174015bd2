// SPDX-License-Identifier: Apache-2.0
// lamina/layers/layer_helper.hpp - makes the outputs and parameters of layers, with their names.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>

#include <lamina/operators/fill/definition.hpp>
#include <lamina/operators/gradient.hpp>
#include <lamina/operators/random/distribution/definition.hpp>
#include <lamina/program/block.hpp>
#include <lamina/program/distinct_names.hpp>
#include <lamina/program/param_attr.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

namespace detail {
template <class V>
inline constexpr bool is_tuple = false;
template <class... V>
inline constexpr bool is_tuple<std::tuple<V...>> = true;

}  // namespace detail

/// The type of the options of a layer. It depends on the type of an input of the layer; `dependent`
/// says why.
template <class Attr, class Input>
using options = dependent<Attr, Input>;

/// Makes the variables of one layer, with names by Fluid's rules. The variables of a layer are
/// numbered: NAME.w_0, NAME.tmp_0. A generated name ("fc_0") belongs to one layer, so this object
/// has its counters. A user may give several layers the same name, so the builder has the counters
/// of such a name. Fluid: LayerHelper.
class layer_helper {
 public:
  constexpr layer_helper(program_builder& b, const char* key, std::string_view user = {})
      : b_(b), name_(b.layer_name(key, user)) {}

  constexpr program_builder& builder() { return b_; }
  /// Returns the index of the name of the layer.
  constexpr int name() const { return name_; }

  /// Makes an output "<name>.tmp_N". `shape` is the position of its shape in the builder's list of
  /// dims.
  constexpr int output(int shape, int rank, int rows, dtype type) {
    return b_.add_variable(name_, ".tmp_", next(".tmp", tmp_), shape, rank, rows, type);
  }

  /// Makes an output with the shape, rows and type of the handle type V.
  template <class V>
  constexpr V output() {
    return output_of(static_cast<V*>(nullptr));
  }

  /// Makes an output with the shape, rows and type of variable `like`.
  constexpr int output_like(int like) {
    const variable_desc v = b_.variables.items[like];
    return output(v.dims, v.rank, v.rows, v.type);
  }

  /// Marks v as the output of the layer, which `activation<"name">()` returns. Returns v.
  template <class V>
  constexpr V returns(V v) {
    b_.names.items[name_].output = v.id;
    return v;
  }

  /// Makes a parameter "<name>.w_N" (or .b_N). If `attr` has the name of an existing parameter,
  /// returns that parameter. The operator that computes the initial value is recorded once, in the
  /// startup program.
  template <std::size_t Rank>
  constexpr int parameter(const param_attr& attr, const char* suffix, const int (&extent)[Rank],
                          dtype type, const initializer& otherwise, int line) {
    own_name_entry* const own = attr.name.empty() ? nullptr : &b_.entry_of(attr.name);
    if (own != nullptr) {
      const int known = is_parameter(own->parameter, own->name)
                            ? own->parameter
                            : lamina::detail::made_parameter(b_, attr.name);
      if (known >= 0) {
        check_shared(known, extent, type, attr.name, line);
        check_agreement(known, attr, line);
        return known;
      }
    }
    require_options(attr, line);
    constexpr int rank = static_cast<int>(Rank);
    const int shape = b_.dims.take(rank);
    for (int i = 0; i < rank; ++i) b_.dims.items[shape + i] = extent[i];
    const bool weight = suffix[1] == 'w';
    const int number =
        attr.name.empty() ? next(weight ? ".w" : ".b", weight ? weight_ : bias_) : -1;
    const int name = own == nullptr ? name_ : own->name;
    const int index =
        b_.parameters.push({b_.variables.count, attr.learning_rate, attr.regularizer.kind,
                            attr.regularizer.coefficient, attr.gradient_clip.kind,
                            attr.gradient_clip.low, attr.gradient_clip.high, attr.trainable});
    const int v = b_.variables.push({name, -1, attr.name.empty() ? suffix : "", number, shape, rank,
                                     once::domain, index, 0, type, variable_kind::parameter, true,
                                     !attr.trainable});
    if (own != nullptr)
      own->parameter = v;
    else
      b_.made_parameters.push(v);
    const initializer& begin =
        attr.initializer.kind == initializer_kind::by_layer ? otherwise : attr.initializer;
    b_.origins.push({begin, line});
    initialise(v, begin);
    return v;
  }

  /// Checks a param_attr and records a mistake if a value is out of its range. The default values
  /// are accepted first, because the compiler limits the number of steps for the recording of a
  /// program.
  constexpr void require_options(const param_attr& attr, int line) {
    constexpr float most = 3.402823466e38f;
    const lamina::initializer& init = attr.initializer;
    const lamina::gradient_clip& clip = attr.gradient_clip;
    if (init.kind == initializer_kind::by_layer && clip.kind == clip_kind::none &&
        attr.learning_rate >= 0 && attr.learning_rate <= most &&
        attr.regularizer.coefficient >= 0 && attr.regularizer.coefficient <= most)
      return;
    const auto is_size = [](float v) { return v >= 0 && v <= most; };
    b_.require_option(is_size(attr.learning_rate), line, "param_attr: learning_rate >= 0");
    b_.require_option(is_size(attr.regularizer.coefficient), line, "param_attr: regularizer >= 0");
    b_.require_option(init.kind != initializer_kind::uniform || init.a <= init.b, line,
                      "param_attr: initializer: low <= high");
    b_.require_option((init.kind != initializer_kind::normal &&
                       init.kind != initializer_kind::truncated_normal) ||
                          init.b >= 0,
                      line, "param_attr: initializer: deviation >= 0");
    b_.require_option(clip.kind != clip_kind::value || clip.low <= clip.high, line,
                      "param_attr: gradient_clip: low <= high");
    b_.require_option(
        clip.kind == clip_kind::none || clip.kind == clip_kind::value || clip.high >= 0, line,
        "param_attr: gradient_clip: norm >= 0");
  }

  /// Makes a persistable int64 variable [extent] with a generated name: a statistic that starts at
  /// 0 and keeps its value from mini-batch to mini-batch. It is not a parameter. Fluid:
  /// create_global_variable.
  constexpr int counter(int extent) {
    const int v = b_.add_variable(b_.layer_name("_generated_var", {}), "", -1, b_.shape(extent), 1,
                                  once::domain, dtype::int64);
    b_.variables[v].persistable = true;
    b_.variables[v].stop_gradient = true;
    b_.variables[v].block = 0;
    initialise(v, init::constant(0));
    return v;
  }

 private:
  template <class T, class R, int... D>
  constexpr variable<T, R, D...> output_of(variable<T, R, D...>*) {
    if constexpr (has_rows<R>)
      return {&b_, output(b_.shape(-1, D...), sizeof...(D) + 1, rows_of<R>(b_), dtype_of<T>)};
    else
      return {&b_, output(b_.shape(D...), sizeof...(D), once::domain, dtype_of<T>)};
  }

  constexpr int next(const char* suffix, int& counter) {
    if (b_.names.items[name_].key != nullptr) return counter++;
    const std::string_view wanted(suffix);
    for (int i = 0; i < b_.counters.count; ++i)
      if (b_.counters[i].base == name_ && std::string_view(b_.counters[i].suffix) == wanted)
        return b_.counters[i].next++;
    b_.counters.push({name_, suffix, 1});
    return 0;
  }

  /// Whether a variable is the parameter to which a user gave this name.
  constexpr bool is_parameter(int variable, int name) const {
    return variable >= 0 && variable < b_.variables.count &&
           b_.variables.items[variable].kind == variable_kind::parameter &&
           b_.variables.items[variable].base == name;
  }
  template <std::size_t Rank>
  constexpr void check_shared(int known, const int (&extent)[Rank], dtype type,
                              std::string_view name, int line) {
    constexpr int rank = static_cast<int>(Rank);
    const variable_desc& v = b_.variables[known];
    bool same = v.rank == rank && v.type == type && v.kind == variable_kind::parameter;
    for (int i = 0; same && i < rank; ++i) same = b_.dims[v.dims + i] == extent[i];
    if (!same)
      b_.report(fault_kind::parameter_shape, line, name, b_.dims.items + v.dims, v.rank, extent,
                rank);
  }

  /// Checks the options of a layer for a parameter that it shares. A layer may give only the name.
  /// If it sets other options, they must equal the options of the first layer, because they would
  /// have no effect; otherwise a mistake is recorded.
  constexpr void check_agreement(int known, const param_attr& attr, int line) {
    if (b_.variables[known].kind != variable_kind::parameter) return;
    const bool by_layer = attr.initializer.kind == initializer_kind::by_layer;
    const param_attr silent{};
    if (by_layer && has_options(attr, silent.learning_rate, silent.regularizer,
                                silent.gradient_clip, silent.trainable))
      return;
    const int index = b_.variables[known].index;
    const parameter_desc& d = b_.parameters[index];
    const parameter_origin& first = b_.origins[index];
    if (has_options(attr, d.learning_rate, {d.regularizer, d.regularizer_coefficient},
                    {d.clip, d.clip_low, d.clip_high}, d.trainable) &&
        (by_layer || is_same(attr.initializer, first.initializer)))
      return;
    b_.report(fault_kind::parameter_options, line, attr.name, &first.line, 1, nullptr, 0);
  }
  static constexpr bool has_options(const param_attr& attr, float rate, const regularizer& decay,
                                    const gradient_clip& clip, bool trainable) {
    return attr.learning_rate == rate && attr.trainable == trainable &&
           attr.regularizer.kind == decay.kind &&
           attr.regularizer.coefficient == decay.coefficient &&
           attr.gradient_clip.kind == clip.kind && attr.gradient_clip.low == clip.low &&
           attr.gradient_clip.high == clip.high;
  }
  static constexpr bool is_same(const initializer& a, const initializer& b) {
    bool same = a.kind == b.kind && a.a == b.a && a.b == b.b && a.uniform == b.uniform &&
                a.fan_in == b.fan_in && a.fan_out == b.fan_out && a.seed == b.seed &&
                a.count == b.count;
    for (int i = 0; same && i < a.count; ++i) same = a.values[i] == b.values[i];
    return same;
  }

  // Returns the range (uniform) or the standard deviation (normal) of the initializers xavier and
  // msra; msra uses only the fan-in. The fan-in and fan-out are computed as in Fluid: for a matrix
  // they are its two dimensions; for a filter they are the numbers of input and output channels
  // times the size of the kernel.
  static constexpr double deviation(const initializer& init, const int* extent, int rank) {
    double fan_in = 1, fan_out = 1;
    if (rank == 1) fan_in = fan_out = extent[0];
    if (rank == 2) fan_in = extent[0], fan_out = extent[1];
    if (rank > 2) {
      double rest = 1;
      for (int i = 2; i < rank; ++i) rest *= extent[i];
      fan_in = extent[1] * rest, fan_out = extent[0] * rest;
    }
    if (init.fan_in > 0) fan_in = init.fan_in;
    if (init.fan_out > 0) fan_out = init.fan_out;
    const double fans = init.kind == initializer_kind::xavier ? fan_in + fan_out : fan_in;
    return root((init.uniform ? 6.0 : 2.0) / fans);
  }

  constexpr void initialise(int v, const initializer& init) {
    const variable_desc d = b_.variables.items[v];
    const int* const extent = b_.dims.items + d.dims;
    const double type = static_cast<double>(static_cast<int>(d.type));
    attribute_value shape = b_.integer_list(extent, d.rank);
    double a = init.a, b = init.b;
    const operator_schema* schema = &schema_of<operators::fill_constant>();
    switch (init.kind) {
      case initializer_kind::uniform:
        schema = &schema_of<operators::uniform_random>();
        break;
      case initializer_kind::normal:
        schema = &schema_of<operators::gaussian_random>();
        break;
      case initializer_kind::truncated_normal:
        schema = &schema_of<operators::truncated_gaussian_random>();
        break;
      case initializer_kind::xavier:
      case initializer_kind::msra:
        b = deviation(init, extent, d.rank);
        a = init.uniform ? -b : 0;
        schema = init.uniform ? &schema_of<operators::uniform_random>()
                              : &schema_of<operators::gaussian_random>();
        break;
      case initializer_kind::array:
      case initializer_kind::bilinear: {
        const int at = b_.attributes.count;
        const attribute_value values = init.kind == initializer_kind::array
                                           ? b_.real_list(init.values, init.count)
                                           : bilinear(extent, d.rank);
        b_.attribute_list(shape, type, values, attribute_value{0, 0, 0});
        startup(schema_of<operators::assign_value>(), v, at);
        return;
      }
      default: {
        const int at = b_.attribute_list(shape, type, a, false);
        startup(*schema, v, at);
        return;
      }
    }
    startup(*schema, v, b_.attribute_list(shape, type, a, b, init.seed));
  }

  constexpr attribute_value bilinear(const int* extent, int rank) {
    const int at = b_.reals.count;
    if (rank == 4) {
      const int k = extent[3];
      const int f = (k + 1) / 2;
      const double c = (2.0 * f - 1 - f % 2) / (2.0 * f);
      for (int i = 0; i < extent[0] * extent[1]; ++i)
        for (int y = 0; y < extent[2]; ++y)
          for (int x = 0; x < k; ++x)
            b_.reals.push(static_cast<float>((1 - magnitude(double(x) / f - c)) *
                                             (1 - magnitude(double(y) / f - c))));
    }
    return {0, at, b_.reals.count - at};
  }
  static constexpr double magnitude(double x) { return x < 0 ? -x : x; }

  constexpr void startup(const operator_schema& schema, int v, int attributes) {
    const int at = b_.arguments.count;
    b_.argument(v);
    b_.startup.push({&schema, at, at, at + 1, attributes, 0, op_role::forward});
  }

  // Returns the square root of x by Newton's method, because std::sqrt is not constexpr in C++20.
  static constexpr double root(double x) {
    double r = x > 1 ? x : 1;
    for (int i = 0; i < 40; ++i) {
      const double better = 0.5 * (r + x / r);
      if (better == r) break;
      r = better;
    }
    return r;
  }

  program_builder& b_;
  int name_;
  int tmp_ = 0, weight_ = 0, bias_ = 0;
};

/// Records a mistake if two inputs of a layer belong to different programs, or if one of them
/// belongs to a block whose recording has ended.
template <class A, class B>
constexpr void require_one_program(const A& a, const B& b, int line) {
  if (a.builder != b.builder)
    return a.builder->report(fault_kind::foreign_variable, line, {}, nullptr, 0, nullptr, 0);
  lamina::detail::require_visible(*a.builder, a.id, line);
  lamina::detail::require_visible(*b.builder, b.id, line);
}

}}}  // namespace lamina::layer

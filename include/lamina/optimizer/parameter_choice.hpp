// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/parameter_choice.hpp - selects the parameters that a call of minimize updates.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>
#include <tuple>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/program/block.hpp>
#include <lamina/program/names.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// How a parameter_choice uses its names.
enum class choice_rule : std::uint8_t { only, prefix, except };

/// The type of only, prefix and except, which select parameters of a program by name.
template <choice_rule Rule, fixed_string... Names>
struct parameter_choice {
  static_assert(sizeof...(Names) > 0, "lamina: minimize: expected names of layers or parameters");
  static constexpr choice_rule rule = Rule;
  static constexpr int count = static_cast<int>(sizeof...(Names));
  static constexpr std::string_view names[] = {Names.view()...};
};

/// Selects the parameters that have one of these names, or whose layers have one of these names:
/// `only<"w_0", "fc_1">`. Names are compared by whole words, as in transform::freeze: "fc_1"
/// selects "fc_1.w_0" and not "fc_10.w_0". Fluid: minimize(parameter_list=).
template <fixed_string... Names>
inline constexpr parameter_choice<choice_rule::only, Names...> only{};

/// Selects the parameters whose names begin with one of these texts: `prefix<"d_">`, `prefix<"d">`.
template <fixed_string... Names>
inline constexpr parameter_choice<choice_rule::prefix, Names...> prefix{};

/// Selects all parameters except those that only<Names...> selects. Fluid: minimize(no_grad_set=).
template <fixed_string... Names>
inline constexpr parameter_choice<choice_rule::except, Names...> except{};

/// Whether T selects parameters: a parameter_choice, a handle of create_parameter, or a tuple of
/// such handles.
template <class T>
inline constexpr bool is_parameter_choice = is_variable<T>;
template <choice_rule Rule, fixed_string... Names>
inline constexpr bool is_parameter_choice<parameter_choice<Rule, Names...>> = true;
template <class... V>
inline constexpr bool is_parameter_choice<std::tuple<V...>> = sizeof...(V) > 0 &&
                                                              (is_variable<V> && ...);

namespace detail {

/// Whether a name in a choice with this rule matches a parameter.
constexpr bool chooses(const program_builder& b, choice_rule rule, std::string_view name,
                       int parameter) {
  const struct {
    const variable_desc* variables;
    const name_desc* names;
    const char* characters;
  } named{b.variables.items, b.names.items, b.characters.items};
  const int v = b.parameters.items[parameter].variable;
  if (rule != choice_rule::prefix) return parameter_belongs_to(named, v, name);
  const int n = name_length(named, v);
  char* text = new char[static_cast<unsigned>(n) + 1];
  name_writer w{text};
  write_name(named, v, w);
  const bool begins = std::string_view(text, static_cast<std::size_t>(n)).starts_with(name);
  delete[] text;
  return begins;
}

/// While this object exists, the parameters that a choice does not select are not trainable, so
/// that no gradients and updates are recorded for them.
class chosen_parameters {
 public:
  template <choice_rule Rule, fixed_string... Names>
  constexpr chosen_parameters(program_builder& b, const parameter_choice<Rule, Names...>&)
      : chosen_parameters(b, Rule, parameter_choice<Rule, Names...>::names, sizeof...(Names)) {}
  template <class... V>
  constexpr chosen_parameters(program_builder& b, const std::tuple<V...>& handles)
      : chosen_parameters(b, choice_rule::only, nullptr, 0) {
    handles_ = new int[sizeof...(V)];
    std::apply([&](const auto&... v) { ((handles_[handle_count_++] = v.id), ...); }, handles);
    hold();
  }
  template <class T, class R, int... D>
  constexpr chosen_parameters(program_builder& b, const variable<T, R, D...>& handle)
      : chosen_parameters(b, std::tuple{handle}) {}
  constexpr ~chosen_parameters() {
    for (int i = 0; i < count_; ++i) b_.parameters.items[i].trainable = trainable_[i];
    delete[] trainable_;
    delete[] handles_;
  }
  chosen_parameters(const chosen_parameters&) = delete;
  chosen_parameters& operator=(const chosen_parameters&) = delete;

  /// Reports the first name or handle that selects no parameter or, unless the rule is `except`, no
  /// parameter with a gradient. gradient[i] is the variable with the gradient of parameter i, or
  /// -1.
  constexpr void report_idle(const int* gradient, int line) const {
    for (int n = 0; n < name_count_; ++n) {
      bool found = false;
      for (int i = 0; i < count_; ++i)
        if (rule_ == choice_rule::except || gradient[i] >= 0)
          found = found || chooses(b_, rule_, names_[n], i);
      if (!found)
        return b_.report(fault_kind::no_parameter, line, names_[n], nullptr, 0, nullptr, 0);
    }
    for (int h = 0; h < handle_count_; ++h) {
      const variable_desc& v = b_.variables.items[handles_[h]];
      if (v.kind != variable_kind::parameter || gradient[v.index] < 0)
        return report_variable(b_, fault_kind::no_parameter, handles_[h], line);
    }
  }

 private:
  constexpr chosen_parameters(program_builder& b, choice_rule rule, const std::string_view* names,
                              std::size_t name_count)
      : b_(b),
        count_(b.parameters.count),
        names_(names),
        name_count_(static_cast<int>(name_count)),
        rule_(rule),
        trainable_(new bool[static_cast<unsigned>(count_) + 1]) {
    for (int i = 0; i < count_; ++i) trainable_[i] = b.parameters.items[i].trainable;
    if (name_count_ > 0) hold();
  }
  constexpr void hold() {
    for (int i = 0; i < count_; ++i) {
      bool named = false;
      for (int n = 0; n < name_count_; ++n) named = named || chooses(b_, rule_, names_[n], i);
      for (int h = 0; h < handle_count_; ++h)
        named = named || handles_[h] == b_.parameters.items[i].variable;
      if (named == (rule_ == choice_rule::except)) b_.parameters.items[i].trainable = false;
    }
  }

  program_builder& b_;
  int count_;
  const std::string_view* names_;
  int name_count_;
  choice_rule rule_;
  bool* trainable_;         // by parameter: whether it was trainable before
  int* handles_ = nullptr;  // the variables of the chosen handles
  int handle_count_ = 0;
};

}  // namespace detail
}}  // namespace lamina

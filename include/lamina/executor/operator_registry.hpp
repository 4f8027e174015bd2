// SPDX-License-Identifier: Apache-2.0
// lamina/executor/operator_registry.hpp - finds operators by type name, for programs from files.
#pragma once

#include <lamina/core/config.hpp>

#include <map>
#include <string_view>
#include <vector>

#include <lamina/executor/onnx_kernels.hpp>
#include <lamina/executor/paddle2_kernels.hpp>
#include <lamina/operators/operators.hpp>
#include <lamina/operators/pointwise_evaluation.hpp>
#include <lamina/operators/update/definition_fluid.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/optimizer/step_operators.hpp>
#include <lamina/optimizer/update_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The schemas of operators by type name. A recorded program refers to the schemas of its
/// operators; a program from a file contains only their type names. A type may have several forms
/// with different slots: Fluid's `sgd` takes the learning rate as a variable, lamina's as an
/// attribute.
class operator_registry {
 public:
  /// Makes a registry with all operators of the library, their gradients, and the updates of all
  /// optimizers.
  operator_registry() {
    for_each_operator_list([this](auto list) { add_all(list); });
    add_all(operators::step_operators{});
    add_updates(optimizer::library_optimizers{});
    add_all(fluid::update_fluid_operators{});
    add_all(fluid::paddle2_operators{});
    add_all(onnx::executor_operators{});
  }

  /// Registers an operator, and its gradient if it has one: `registry.add<my_operator>()`.
  template <class Op>
  void add() {
    add(schema_of<Op>());
    if constexpr (Op::differentiable != 0 && !requires { &Op::gradient; })
      add(schema_of<gradient_of<Op>>());
  }
  /// Registers one form of an operator. A reader tries the forms of a type in the order in which
  /// they were registered.
  void add(const operator_schema& schema) { forms_[schema.type].push_back(&schema); }

  /// Returns all forms of a type; empty for a type that is not registered.
  const std::vector<const operator_schema*>& forms(std::string_view type) const {
    static const std::vector<const operator_schema*> none;
    const auto found = forms_.find(type);
    return found == forms_.end() ? none : found->second;
  }
  /// All types, in alphabetic order.
  std::vector<std::string_view> types() const {
    std::vector<std::string_view> all;
    for (const auto& [type, forms] : forms_) all.push_back(type);
    return all;
  }

 private:
  template <class... Op>
  void add_all(operator_list<Op...>) {
    // Not a fold expression: clang folds at most 256 operands.
    const int each[] = {(add<Op>(), 0)...};
    (void)each;
  }
  template <class... Opt>
  void add_updates(operator_list<Opt...>) {
    (add_update<Opt, false>(), ...);
    (add_update<Opt, true>(), ...);
  }
  // Optimizers with lazy_mode are registered by their update for sparse gradients: it has all
  // attributes of the update for dense gradients, and lazy_mode.
  template <class Opt, bool Given>
  void add_update() {
    if constexpr (optimizer::traits<Opt>::has_lazy_mode)
      add(schema_of<rows_update_operator<Opt, Given>>());
    else
      add(schema_of<update_operator<Opt, Given>>());
  }

  std::map<std::string_view, std::vector<const operator_schema*>> forms_;
};

/// Returns the operators of the library.
inline const operator_registry& known_operators() {
  static const operator_registry all;
  return all;
}

}}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/tensor/scope.hpp - stores the values of variables by name. Fluid: Scope.
#pragma once

#include <lamina/core/config.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/nearest_word.hpp>
#include <lamina/tensor/lod_tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Stores the values of variables by name. An unknown name is looked up in the parent, which must
/// outlive this scope. References to a variable stay valid until drop() removes it.
class scope {
 public:
  scope() = default;
  /// Makes a scope inside `parent`.
  explicit scope(scope& parent) : parent_(&parent) {}
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  /// Returns the variable with this name in this scope, not in a parent. If it does not exist, adds
  /// it without a value. Fluid: Scope.var.
  lod_tensor& var(std::string_view name) {
    const auto found = variables_.find(name);
    return found != variables_.end() ? found->second : variables_[std::string(name)];
  }

  /// Returns the variable with this name in this scope or else in the nearest parent that has it;
  /// null if there is none. Fluid: Scope.find_var.
  lod_tensor* find(std::string_view name) {
    for (scope* s = this; s != nullptr; s = s->parent_) {
      const auto found = s->variables_.find(name);
      if (found != s->variables_.end()) return &found->second;
    }
    return nullptr;
  }
  const lod_tensor* find(std::string_view name) const {
    return const_cast<scope*>(this)->find(name);
  }

  /// Returns the value of a variable. Throws lamina::error with the name if there is no such
  /// variable or it has no value.
  const lod_tensor& get(std::string_view name) const {
    const lod_tensor* found = find(name);
    if (found == nullptr || !found->has_value())
      throw error("lamina: scope: expected a value for variable '" + std::string(name) +
                  "', found " +
                  (found != nullptr ? "it was never assigned"
                                    : "no such variable" + nearest_words(name, all_names())));
    return *found;
  }

  /// Removes a variable of this scope, not of a parent. Returns whether it existed.
  bool drop(std::string_view name) {
    const auto found = variables_.find(name);
    if (found == variables_.end()) return false;
    variables_.erase(found);
    return true;
  }

  /// Returns the names of all variables of this scope and its parents.
  std::vector<std::string> all_names() const {
    std::vector<std::string> all;
    for (const scope* s = this; s != nullptr; s = s->parent_)
      for (const auto& [name, value] : s->variables_) all.push_back(name);
    return all;
  }
  /// Returns the names of the variables of this scope, without parents, in alphabetical order.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, value] : variables_) all.push_back(name);
    return all;
  }

 private:
  scope* parent_ = nullptr;
  std::map<std::string, lod_tensor, std::less<>> variables_;
};

}}  // namespace lamina

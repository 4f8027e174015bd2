// SPDX-License-Identifier: Apache-2.0
// lamina/executor/fetch_list.hpp - the variables that a run returns, by handle or by name.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <utility>

#include <lamina/program/returned_variables.hpp>
#include <lamina/program/variable_name.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// An element of a fetch list: a variable that a record function returned (returned_variables), or
/// the name of any variable of block 0. Only the name of a handle is used, so a handle of a program
/// is also valid for programs that are derived from this program, such as its clone for tests.
/// Fluid: an element of fetch_list.
class fetched {
 public:
  fetched(const char* name) : name_(name) {}             // NOLINT: a name converts
  fetched(std::string name) : name_(std::move(name)) {}  // NOLINT: a name converts
  template <class P, class T, class R, int... D>
  fetched(returned_variable<P, T, R, D...> v)  // NOLINT: a handle converts
      : name_(variable_name(P::view(), v.id)) {}

  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// All operators of the library, and which of them have a gradient.
#include <cstdio>
#include <string>
#include <string_view>

#include <interop/operator_list.hpp>

#include <lamina/executor/operator_registry.hpp>

namespace interop {

int print_operators() {
  const lamina::operator_registry& known = lamina::known_operators();
  for (const std::string_view type : known.types()) {
    constexpr std::string_view gradient = "_grad";
    if (type.size() > gradient.size() && type.substr(type.size() - gradient.size()) == gradient)
      continue;
    bool differentiable = false;
    for (const lamina::operator_schema* form : known.forms(type))
      differentiable = differentiable || form->gradient != nullptr;
    std::printf("%s\t%s\n", std::string(type).c_str(), differentiable ? "yes" : "no");
  }
  return 0;
}

}  // namespace interop

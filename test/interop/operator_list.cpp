// SPDX-License-Identifier: Apache-2.0
// All operators of the library, and which engine has a kernel of each.
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

#include "executor/shared_executor.hpp"
#include <interop/operator_list.hpp>

#include <lamina/engine/cpu/call_kernels.hpp>
#include <lamina/executor/operator_registry.hpp>
#include <lamina/io/export_onnx.hpp>

namespace interop {
namespace {

namespace cpu = lamina::engine::cpu;
using lamina::attribute_type;
using lamina::operator_kind;
using lamina::operator_schema;

bool has_block(const operator_schema& s) {
  return s.attribute_count > 0 && s.attributes[0].type == attribute_type::block;
}

/// Types that the compiled engine runs: fused, as blocks, or by a kernel of their own.
class compiled_types {
 public:
  compiled_types() { add(lamina::library_operators{}); }
  bool has(std::string_view type) const { return types_.find(type) != types_.end(); }

 private:
  template <class... Op>
  void add(lamina::operator_list<Op...>) {
    const int each[] = {(add_one<Op>(), 0)...};
    (void)each;
  }
  template <class Op>
  void add_one() {
    const operator_schema& s = lamina::schema_of<Op>();
    if (has_kernel<Op>() || has_block(s)) types_.insert(s.type);
    if constexpr (Op::differentiable != 0 && !requires { &Op::gradient; })
      if (has_kernel<lamina::gradient_of<Op>>())
        types_.insert(lamina::schema_of<lamina::gradient_of<Op>>().type);
  }
  template <class Op>
  static constexpr bool has_kernel() {
    using lamina::gradient_of, lamina::sequence_conv;
    // The plan makes windows and a product of it.
    if constexpr (std::is_same_v<Op, sequence_conv> ||
                  std::is_same_v<Op, gradient_of<sequence_conv>>)
      return true;
    return Op::kind != operator_kind::call || requires(const cpu::call_context& c) {
      cpu::call_kernel<Op>::run(c);
    };
  }

  std::set<std::string_view> types_;
};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

int print_operators() {
  const lamina::operator_registry& known = lamina::known_operators();
  const compiled_types compiled;
  const lamina::executor executor;
  for (const std::string_view type : known.types()) {
    if (ends_with(type, "_grad")) continue;
    bool runs = true, differentiable = false, updates = false;
    for (const operator_schema* form : known.forms(type)) {
      runs = runs && executor.can_run(*form);
      differentiable = differentiable || form->gradient != nullptr;
      updates = updates || form->kind == operator_kind::update;
    }
    const std::string gradient = std::string(type) + "_grad";
    const bool has_gradient_operator = !known.forms(gradient).empty();
    const auto column = [&](bool values, bool gradients) {
      return !values ? "-" : differentiable && gradients ? "gradients" : "values";
    };
    const bool executor_gradient =
        !has_gradient_operator || executor.can_run(*known.forms(gradient)[0]);
    const bool compiled_gradient = !has_gradient_operator || compiled.has(gradient);
    std::printf("%s\t%s\t%s\t%s\t%s\n", std::string(type).c_str(), differentiable ? "yes" : "no",
                column(runs, executor_gradient),
                column(updates || compiled.has(type), compiled_gradient),
                lamina::known_onnx_operators().find(type) != nullptr ? "yes" : "no");
  }
  return 0;
}

}  // namespace interop

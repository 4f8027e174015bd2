// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_fold.hpp - integers and booleans whose values are known during conversion.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Returns the value of an integer or boolean variable if it is known, else null.
inline const std::int64_t* known(onnx_program& p, const std::string& name) {
  const auto found = p.known.find(p.value(name));
  return found == p.known.end() ? nullptr : &found->second;
}

/// Extends the conversion of an operator: if its inputs are known, it also computes its result.
inline void fold(onnx_operators& to, const char* type,
                 std::function<std::int64_t(const onnx_operator&, std::int64_t, std::int64_t)> f) {
  to.add(type, [plain = *to.find(type), f = std::move(f)](onnx_operator& op) {
    std::int64_t x[2] = {0, 0};
    bool all = true;
    int n = 0;
    for (const slot_message& s : op.message().inputs)
      for (const std::string& name : s.arguments) {
        const std::int64_t* value = known(op.program(), name);
        all = all && value != nullptr && n < 2;
        if (all) x[n++] = *value;
      }
    plain(op);
    if (all && n > 0 && !is_floating(op.type_of("Out")))
      op.program().known[op.program().value(op.name_of_output("Out"))] = f(op, x[0], x[1]);
  });
}

}}}  // namespace lamina::onnx

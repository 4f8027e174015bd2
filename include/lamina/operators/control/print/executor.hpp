// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/print/executor.hpp - the print operator in the format of Fluid 1.7 and
// before.
#pragma once

#include <lamina/core/config.hpp>

#include <ctime>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>

#include <lamina/core/messages/text.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/operators/control/print/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Out = In. In its first `first_n` executions, also prints the time, the message, and the name,
/// shape, type, sequence offsets and elements of In.
template <class Real>
void print_forward(call_context<Real>& ctx) {
  const tensor in = ctx.input("In");
  const int first_n = ctx.integer("first_n", -1), summarize = ctx.integer("summarize", -1);
  const std::string phase = ctx.text("print_phase");
  const bool forward = ctx.attribute("is_forward", 1) != 0;
  const bool asked =
      phase.empty() || phase == "BOTH" || phase == (forward ? "FORWARD" : "BACKWARD");
  if (asked && (first_n < 0 || ctx.runs_before() < first_n)) {
    // `text` formats numbers without a stream, because a stream would use the format of its locale.
    text line;
    line << std::time(nullptr) << "\t" << ctx.text("message") << "\t";
    if (ctx.attribute("print_tensor_name", 1) != 0)
      line << "Tensor[" << ctx.input_name("In") << "]";
    line << "\n";
    if (ctx.attribute("print_tensor_shape", 1) != 0) {
      line << "\tshape: [";
      for (const std::size_t d : in.shape()) line << d << ",";
      line << "]\n";
    }
    const char type = type_letter(in.type());
    if (ctx.attribute("print_tensor_type", 1) != 0)
      line << "\tdtype: " << std::string_view(&type, 1) << "\n";
    if (ctx.attribute("print_tensor_lod", 1) != 0 && !ctx.lod("In").empty()) {
      line << "\tLoD: [";
      for (std::size_t l = 0; l < ctx.lod("In").levels(); ++l) {
        line << "[ ";
        for (const std::size_t offset : ctx.lod("In").offsets(l)) line << offset << ",";
        line << " ]";
      }
      line << "]\n";
    }
    line << "\tdata: ";
    in.visit([&]<class T>(const xt::xarray<T>& a) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (summarize >= 0 && i >= static_cast<std::size_t>(summarize)) break;
        if constexpr (std::is_floating_point_v<T>)
          line.print("%g,", static_cast<double>(a.flat(i)));
        else
          line << a.flat(i) << ",";
      }
      return 0;
    });
    std::ostream& to = ctx.options().print_to != nullptr ? *ctx.options().print_to : std::cerr;
    to << std::string(line) << std::endl;
  }
  ctx.give("Out", in);
}

template <class Real>
void add_print_kernels(kernel_table<Real>& table) {
  table["print"] = print_forward<Real>;
}

}}}  // namespace lamina::kernel

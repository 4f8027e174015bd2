// SPDX-License-Identifier: Apache-2.0
// lamina/io/simplify/product_pass.hpp - factors and transposes of matrix products, as in attention.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <lamina/io/simplify/graph_patterns.hpp>
#include <lamina/io/simplify/shape_passes.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace passes {

/// Makes attributes of `matmul` from a factor before or after the product, and from a transpose of
/// the last two dimensions of an operand. So the scores of attention, (q k^T) / sqrt(d), are one
/// operator.
class product_pass {
 public:
  explicit product_pass(program_graph& g) : g_(g) {}

  int run() {
    int applied = 0;
    for (int n = 0; n < g_.node_count(); ++n) {
      if (g_.node(n).is_removed || g_.node(n).type() != "matmul") continue;
      if (!g_.is_real(g_.node(n).output("Out")) || !g_.is_stable(g_.node(n).output("Out")))
        continue;
      for (const auto& [slot, flag] : {std::pair{"X", "transpose_X"}, {"Y", "transpose_Y"}})
        while (factor_before(n, slot) || transpose_before(n, slot, flag)) ++applied;
      while (factor_after(n)) ++applied;
    }
    return applied;
  }

 private:
  bool set_factor(int n, double factor) {
    const double whole = g_.real(g_.node(n), "alpha") * factor;
    if (whole == 0 || !fits_attribute(whole, g_.type(g_.node(n).output("Out")))) return false;
    g_.set(n, program_graph::real_attribute("alpha", whole));
    return true;
  }
  bool factor_before(int n, const char* slot) {
    const int v = g_.node(n).input(slot);
    if (!g_.is_read_once(v)) return false;
    const auto a = affine(g_, g_.maker(v));
    if (!a || a->bias != 0 || !set_factor(n, a->factor)) return false;
    g_.set_input(n, slot, a->x);
    return true;
  }
  bool factor_after(int n) {
    const int v = g_.node(n).output("Out");
    if (!g_.is_read_once(v)) return false;
    const int after = g_.value(v).readers[0];
    const auto a = affine(g_, after);
    if (!a || a->x != v || a->bias != 0 || g_.node(after).block != g_.node(n).block ||
        !set_factor(n, a->factor))
      return false;
    g_.set_result(n, v, g_.node(after).output("Out"));
    return true;
  }
  bool transpose_before(int n, const char* slot, const char* flag) {
    const int v = g_.node(n).input(slot);
    if (!g_.is_read_once(v)) return false;
    const int before = g_.maker(v);
    extents order = order_of(g_, before);
    if (order.size() < 2) return false;
    std::swap(order[order.size() - 2], order[order.size() - 1]);
    for (std::size_t d = 0; d < order.size(); ++d)
      if (order[d] != static_cast<std::int64_t>(d)) return false;
    const bool was = g_.flag(g_.node(n), flag);
    g_.set(n, program_graph::flag_attribute(flag, !was));
    g_.set_input(n, slot, g_.node(before).input("X"));
    return true;
  }

  program_graph& g_;
};

}}}  // namespace lamina::passes

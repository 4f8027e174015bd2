// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/conv/lowering.hpp - lowers sequence_conv to windows and products.
//
// A convolution along the rows of sequences is the product of the window of each row with the
// filter. The product has epilogues and panels like any other product, and only the windows need a
// kernel that reads sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/lowering_builder.hpp>

namespace lamina::inline LAMINA_ABI {

/// The part of lowering that handles convolutions along sequences.
struct sequence_lowering : lowering_builder {
  using lowering_builder::lowering_builder;

 protected:
  /// A call of an operator that only plans contain, with the attributes of operator k.
  template <int In, int Out>
  constexpr void emit_call(const operator_schema& schema, const int (&in)[In],
                           const int (&out)[Out], int k) {
    instruction i = begin(group_head::call, schema, 0, k);
    for (int v : in) use(v, access::load);
    for (int v : out) result(v);
    end(i);
  }

  /// The windows that a sequence_conv multiplies: forward and backward share them.
  constexpr int windows_of(int x, int padding, int columns, int k) {
    const operator_desc& op = p.operators[k];
    const int length = static_cast<int>(attribute(op, 0)),
              start = static_cast<int>(attribute(op, 1));
    for (int i = 0; i < windows.count; ++i)
      if (windows[i].x == x && windows[i].padding == padding && windows[i].length == length &&
          windows[i].start == start && windows_are_known(windows[i].made, x))
        return windows[i].made;
    const int made = temporary(variables.items[x].rows, columns, false, -1);
    emit_call(schema_of<sequence_windows>(),
              {in_rows(x, k), padding < 0 ? -1 : in_rows(padding, k)}, {made}, k);
    windows.push({x, padding, length, start, made});
    return made;
  }
  constexpr void lower_sequence_conv(const operator_desc& op, int k) {
    const int filter = argument(op.inputs + 2), out = argument(op.outputs);
    const int seen =
        windows_of(argument(op.inputs), argument(op.inputs + 1), variables.items[filter].rows, k);
    const int w = in_panels(filter, k);
    instruction i = begin(group_head::gemm, *op.schema, 0, k);
    use(seen, access::load);
    use(w, access::load);
    result(out);
    i.rows = variables.items[out].rows;
    i.columns = variables.items[out].columns;
    i.depth = variables.items[filter].rows;
    end(i);
  }
  constexpr void lower_sequence_conv_grad(const operator_desc& op, int k) {
    const int x = argument(op.inputs), padding = argument(op.inputs + 1);
    const int filter = argument(op.inputs + 2), d = padded_rows(argument(op.inputs + 3), k);
    const int dx = argument(op.outputs), dpadding = argument(op.outputs + 1);
    const int dfilter = argument(op.outputs + 2);
    const int rows = variables.items[x].rows, seen = variables.items[filter].rows;
    if (dx >= 0 || dpadding >= 0) {
      const int w = in_panels(filter, k), made = temporary(rows, seen, false, -1);
      instruction i = begin(group_head::gemm_dx, *op.schema, 0, k);
      use(d, access::load);
      use(w, access::load);
      result(made);
      i.rows = rows;
      i.columns = seen;
      i.depth = variables.items[filter].columns;
      end(i);
      if (dpadding >= 0) variables.items[dpadding].panel = false;
      emit_call(schema_of<sequence_windows_grad>(), {made}, {dx, dpadding}, k);
    }
    if (dfilter >= 0) {
      const int a = windows_of(x, padding, seen, k);
      instruction i = begin(group_head::gemm_dw, *op.schema, 2, k);
      use(a, access::load);
      use(d, access::load);
      variables.items[dfilter].panel = true;
      result(dfilter);
      i.rows = seen;
      i.columns = variables.items[filter].columns;
      i.depth = rows;
      i.panel = true;
      end(i);
    }
  }

 private:
  // A value that a body made is also available to the gradient of the same iteration.
  constexpr bool windows_are_known(int made, int x) const {
    return is_known(made, x) || p.blocks[block].forward_block == variables.items[made].block;
  }

  /// Windows that were made for one sequence_conv and that another one can read too.
  struct made_windows {
    int x, padding, length, start, made;
  };
  constexpr_vector<made_windows> windows;
};

}  // namespace lamina::inline LAMINA_ABI

// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/broadcast_layout.hpp - broadcasting: at every position of the largest array,
// an operator reads or adds to an element of each smaller array. This header computes the strides
// of these accesses.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/array_layout.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Computes the strides with which a loop over the positions of `space` reads or adds to the
/// elements of `a`. The stride is 0 along each dimension that `a` does not have. Throws
/// lamina::error if the shapes do not match.
inline void broadcast_steps(const operator_call& c, const array_layout& space, array_layout a,
                            int axis, std::ptrdiff_t* steps) {
  const int begin = axis < 0 || a.rank == space.rank ? space.rank - a.rank : axis;
  while (a.rank > 0 && a.extent[a.rank - 1] == 1) --a.rank;
  for (int d = 0; d < space.rank; ++d) steps[d] = 0;
  bool fits = a.rank == 0 || (begin >= 0 && begin + a.rank <= space.rank);
  for (int d = 0; fits && d < a.rank; ++d) {
    if (a.extent[d] == space.extent[begin + d])
      steps[begin + d] = a.step[d];
    else
      fits = a.extent[d] == 1;
  }
  if (!fits) fail(c, {"expected a shape that is a part of the largest operand's"});
}

/// Returns the product of the extents of an array, each at least 1. With real extents, a mini-batch
/// without rows would make another operand the largest one.
inline std::ptrdiff_t size_of_some_rows(const array_layout& a) {
  std::ptrdiff_t n = 1;
  for (int d = 0; d < a.rank; ++d) n *= a.extent[d] > 0 ? a.extent[d] : 1;
  return n;
}

/// Loops over the inputs and the output of a pointwise operator; the output is the last operand.
/// The loops visit every position of the largest array. If the output is smaller than that array,
/// each element of the output is the sum over all positions that map to the element.
template <int Most>
struct broadcast_layout {
  array_layout space;
  std::ptrdiff_t step[bound(Most)][bound(array_layout::most)];
  int arrays;
  bool is_summed;

  /// `axis` is the dimension of the largest shape at which the smaller shapes begin; -1 means that
  /// all shapes end at the same dimension.
  broadcast_layout(const operator_call& c, int count, const operand* operands, int axis)
      : arrays(count) {
    array_layout layouts[bound(Most)];
    space = layout_of(operands[count - 1]);
    for (int i = 0; i < count; ++i) {
      layouts[i] = layout_of(operands[i]);
      const std::ptrdiff_t size = size_of_some_rows(layouts[i]), largest = size_of_some_rows(space);
      if (size > largest || (size == largest && layouts[i].rank > space.rank)) space = layouts[i];
    }
    for (int i = 0; i < count; ++i) broadcast_steps(c, space, layouts[i], axis, step[i]);
    is_summed = layouts[count - 1].size() != space.size();
  }
  /// The loops over all positions.
  loop_nest<Most> all() const {
    loop_nest<Most> loops;
    for (int d = 0; d < space.rank; ++d) add(loops, d);
    return loops;
  }
  /// kept() returns the loops over the elements of the output. summed() returns the loops over the
  /// positions whose values are summed into one element of the output.
  loop_nest<Most> kept() const { return some(false); }
  loop_nest<Most> summed() const { return some(true); }

 private:
  void add(loop_nest<Most>& loops, int d) const {
    std::ptrdiff_t s[bound(Most)] = {};
    for (int i = 0; i < arrays; ++i) s[i] = step[i][d];
    loops.add_all(space.extent[d], s);
  }
  loop_nest<Most> some(bool sums) const {
    loop_nest<Most> loops;
    for (int d = 0; d < space.rank; ++d)
      if ((step[arrays - 1][d] == 0) == sums) add(loops, d);
    return loops;
  }
};

}}}  // namespace lamina::engine

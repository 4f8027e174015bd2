// SPDX-License-Identifier: Apache-2.0
// test/operators/shape/shape_rows.hpp - one row per operator of shapes.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void shape(To& to) {
  of_matrices(to, "reshape2", [](auto x) { return layer::reshape<-1, 8>(x); });
  of_matrices(to, "transpose2", [](auto x) { return layer::transpose<0, 2, 1>(x); });
  of_matrices(to, "flatten2", [](auto x) { return layer::flatten(x); });
  of_matrices(to, "unsqueeze2", [](auto x) { return layer::unsqueeze<1>(x); });
  of_matrices(to, "squeeze2", [](auto x) { return layer::squeeze<1>(layer::unsqueeze<1>(x)); });
  of_matrices(to, "concat", [](auto x) { return layer::concat<2>({x, layer::square(x)}); });
  of_matrices(to, "stack", [](auto x) { return layer::stack<1>({x, layer::square(x)}); });
  of_matrices(to, "split", [](auto x) { return std::get<1>(layer::split<2, 2>(x)); });
  of_matrices(to, "slice", [](auto x) { return layer::slice<layer::along<2, 1, 3>>(x); });
  of_matrices(to, "pad", [](auto x) { return layer::pad<0, 0, 1, 0, 0, 2>(x, 0.5f); });
  of_matrices(to, "expand", [](auto x) { return layer::expand<1, 2, 1>(x); });
  of_matrices(to, "unstack", [](auto x) { return layer::unstack<1>(x)[1]; });
  of_matrices(to, "crop", [](auto x) { return layer::crop<layer::offsets<0, 1, 0>, 1, 3>(x); });
  to.write("crop_like", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4>(main);
    auto like = layer::slice<layer::along<1, 0, 1>, layer::along<2, 0, 2>>(x);
    return squared(layer::crop<layer::offsets<0, 1, 1>>(x, like));
  });
  to.write("shape",
           []<class T>(block& main) { return layer::shape(layer::data<"x", T, 2, 4>(main)); },
           {.gradients = false});
  to.write("is_empty",
           []<class T>(block& main) { return layer::is_empty(layer::data<"x", T, 2, 4>(main)); },
           {.gradients = false});
  to.write("where_index",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 2, 4>(main);
             return layer::where<"found">(layer::greater_than(x, layer::square(x)));
           },
           {.gradients = false});
  to.write("range",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             return std::tuple{layer::range<1, 12, 4>(main), x + layer::range<T, 4, 0, -1>(main)};
           },
           {.gradients = false});
}

}  // namespace rows

// SPDX-License-Identifier: Apache-2.0
// test/operators/metric/metric_rows.hpp - one row per metric.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void metric(To& to) {
  of_rows(to, "top_k", [](auto x) { return std::get<0>(layer::topk<2>(x)); });
  to.write("top_k_indices",
           []<class T>(block& main) {
             return std::get<1>(layer::topk<2>(layer::data<"x", T, 4>(main)));
           },
           {.gradients = false});
  to.write("one_hot", lamina::program([](block& main) {
             return layer::one_hot<5>(layer::data<"ids", integer>(main));
           }),
           {.gradients = false});
  to.write("accuracy",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             return layer::accuracy(x, layer::data<"label", integer>(main));
           },
           {.gradients = false});
  to.write("auc",
           []<class T>(block& main) {
             auto p = layer::softmax(layer::data<"x", T, 2>(main));
             return layer::auc(p, layer::data<"label", integer>(main));
           },
           {.integers = 2, .gradients = false, .rows = 20, .any_rows = false});
  to.write("chunk_eval", lamina::program([](block& main) {
             auto found = layer::sequence<"found", integer>(main);
             return layer::chunk_eval<2>(found, layer::sequence<"label", integer>(found));
           }),
           {.feed = {{"found", ids_of({0, 1, 4, 2, 0, 0, 1, 3, 3}, {4, 2, 3})},
                     {"label", ids_of({0, 1, 4, 2, 1, 4, 1, 2, 3}, {4, 2, 3})}},
            .gradients = false,
            .any_rows = false});
  to.write("edit_distance", lamina::program([](block& main) {
             auto a = layer::sequence<"a", integer>(main);
             auto b = layer::sequence<"b", integer>(main);
             return std::get<0>(layer::edit_distance(a, b));
           }),
           {.gradients = false});
}

}  // namespace rows

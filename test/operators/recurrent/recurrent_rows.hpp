// SPDX-License-Identifier: Apache-2.0
// test/operators/recurrent/recurrent_rows.hpp - one row per recurrent operator.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void recurrent(To& to) {
  of_sequences(to, "lstm",
               [](auto x) { return std::get<0>(layer::dynamic_lstm<8>(layer::fc<8>(x))); });
  of_sequences(to, "lstm_reverse", [](auto x) {
    return std::get<0>(
        layer::dynamic_lstm<8>(layer::fc<8>(x), {.use_peepholes = false, .is_reverse = true}));
  });
  of_sequences(to, "lstmp",
               [](auto x) { return std::get<0>(layer::dynamic_lstmp<8, 3>(layer::fc<8>(x))); });
  of_sequences(to, "gru", [](auto x) { return layer::dynamic_gru<2>(layer::fc<6>(x)); });
  of_sequences(to, "gru_origin", [](auto x) {
    return layer::dynamic_gru<2>(layer::fc<6>(x), {.origin_mode = true});
  });
  to.write("gru_unit", []<class T>(block& main) {
    auto x = layer::data<"x", T, 6>(main);
    return squared(std::get<0>(layer::gru_unit<6>(x, layer::data<"h", T, 2>(main))));
  });
  to.write("lstm_unit", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    auto h = layer::data<"h", T, 2>(main);
    return squared(std::get<0>(layer::lstm_unit(x, h, layer::data<"c", T, 2>(main))));
  });
}

}  // namespace rows

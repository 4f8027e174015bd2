// SPDX-License-Identifier: Apache-2.0
// test/operators/embedding/embedding_rows.hpp - one row per operator that looks rows up or sends
// them elsewhere.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void embedding(To& to) {
  const auto scattered = [&](const char* name, auto overwrite) {
    using O = decltype(overwrite);
    to.write(
        name,
        []<class T>(block& main) {
          auto x = layer::data<"x", T, 2, 4>(main);
          auto ids = layer::data<"ids", integer>(main);
          auto with = layer::data<"with", T, 2, 4>(main);
          return squared(layer::scatter(x, ids, with, {.overwrite = O::value}));
        },
        row_options{.feed = {{"ids", tensor({3, 1}, std::vector<integer>{2, 0, 1})}},
                    .any_rows = false});
  };
  to.write("lookup_table", []<class T>(block& main) {
    return squared(layer::embedding<5, 3, T>(layer::data<"ids", integer>(main)));
  });
  to.write("lookup_table_padding", []<class T>(block& main) {
    return squared(
        layer::embedding<5, 3, T>(layer::data<"ids", integer>(main), {.padding_idx = 1}));
  });
  to.write("gather",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             return squared(layer::gather(x, layer::data<"index", integer>(main)));
           },
           {.integers = 3, .any_rows = false});
  scattered("scatter", std::true_type{});
  scattered("scatter_add", std::false_type{});
  to.write("multiplex",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             auto ids = layer::data<"ids", std::int32_t>(main);
             return squared(layer::multiplex({x, layer::square(x), layer::sin(x)}, ids));
           },
           {.integers = 3});
  to.write("embedding_of_sequences", []<class T>(block& main) {
    auto e = layer::embedding<5, 3, T>(layer::sequence<"ids", integer>(main));
    return squared(layer::sequence_pool(e));
  });
}

}  // namespace rows

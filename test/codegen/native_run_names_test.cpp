// SPDX-License-Identifier: Apache-2.0
// Names of repeated runs: what differs becomes an argument.
#include <catch2/catch.hpp>

#include <lamina/codegen/native_run_names.hpp>

using lamina::detail::native_run_names;
using lamina::detail::native_statement;

namespace {

/// The names of runs, each a list of texts, as literals.
native_run_names names_of(std::vector<std::vector<std::string>> runs,
                          std::set<std::string> local = {}) {
  for (auto& run : runs)
    for (std::string& name : run) name = lamina::detail::text_literal(name);
  return native_run_names(runs, local);
}
using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("native run names: numbers become an index, others a text") {
  const native_run_names n = names_of(
      {{"same", "block_9.first", "block_9", "layer_9_ffn.w_0", "conv2d_11", "res2a_w"},
       {"same", "block_10.first", "block_10", "layer_10_ffn.w_0", "conv2d_12", "res2b_w"}});
  CHECK(native_statement::plain(n.expression(0)) == "\"same\"");
  CHECK(native_statement::plain(n.expression(1)) == "lamina::indexed(\"block\", i, \"first\")");
  CHECK(native_statement::plain(n.expression(2)) == "lamina::indexed(\"block\", i)");
  CHECK(native_statement::plain(n.expression(3)) ==
        "lamina::composed_name(\"layer_\", i, \"_ffn.w_0\")");
  CHECK(native_statement::plain(n.expression(4)) == "lamina::indexed(\"conv2d\", i + 2)");
  CHECK(native_statement::plain(n.expression(5)) == "lamina::composed_name(\"res\", name, \"_w\")");
  CHECK(n.parameters() == texts{"int i", "std::string_view name"});
  CHECK(n.arguments(0) == texts{"9", "\"2a\""});
  CHECK(n.arguments(1) == texts{"10", "\"2b\""});
}

TEST_CASE("native run names: numbers with other steps are other arguments") {
  const native_run_names n =
      names_of({{"a_0", "b_5", "c_9"}, {"a_1", "b_7", "c_8"}, {"a_2", "b_9", "c_7"}}, {"i"});
  CHECK(n.parameters() == texts{"int j", "int k", "int n"});
  CHECK(native_statement::plain(n.expression(0)) == "lamina::indexed(\"a\", j)");
  CHECK(n.arguments(2) == texts{"2", "9", "7"});
}

TEST_CASE("native run names: what is no plain number stays a text") {
  // 07 would come back as 7, and two parts differ in the second name.
  const native_run_names n = names_of({{"a_07", "x_1_y_1", "q\"0", "", "123456789012_a"},
                                       {"a_08", "x_2_y_2", "q\"1", "w", "123456789013_a"}});
  CHECK(native_statement::plain(n.expression(0)) == "lamina::composed_name(\"a_\", name, \"\")");
  CHECK(native_statement::plain(n.expression(1)) == "lamina::composed_name(\"x_\", name_2, \"\")");
  CHECK(native_statement::plain(n.expression(2)) == "name_3");
  CHECK(native_statement::plain(n.expression(3)) == "name_4");
  CHECK(n.arguments(1) == texts{"\"08\"", "\"2_y_2\"", "\"q\\\"1\"", "\"w\"", "\"123456789013\""});
  CHECK(native_statement::plain(n.expression(4)) == "lamina::composed_name(\"\", name_5, \"_a\")");
}

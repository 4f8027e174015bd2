// SPDX-License-Identifier: Apache-2.0
// JSON that is wrong or truncated is refused with its path.

#include "io/program_samples.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/json/json_reader.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_json.hpp>

using Catch::Contains;
using lamina::from_json_text;
using lamina::to_json;

TEST_CASE("json: what is wrong is said with its path") {
  CHECK_THROWS_WITH(from_json_text("{\"blocks\": [", "f"), Contains("f, offset 12: expected JSON"));
  CHECK_THROWS_WITH(from_json_text("[]", "f"),
                    Contains("f, offset 0: $: expected an object, found []"));
  CHECK_THROWS_WITH(from_json_text("{}", "f"),
                    Contains("$: expected at least one block, found none"));
  CHECK_THROWS_WITH(from_json_text(R"({"blocks": {}})"),
                    Contains("$.blocks: expected a list, found {}"));
  CHECK_THROWS_WITH(from_json_text(R"({"blocks": [{"idx": 0}]})"),
                    Contains("$.blocks[0]: expected the member 'parentIdx', found none"));
  const auto block = [](const std::string& members) {
    return from_json_text(R"({"blocks": [{"idx": 0, "parentIdx": -1, )" + members + "}]}");
  };
  CHECK_THROWS_WITH(block(R"("vars": [{"name": 7}])"),
                    Contains("$.blocks[0].vars[0].name: expected text, found 7"));
  CHECK_THROWS_WITH(block(R"("vars": [{"name": "v", "type": {"type": "FP32"}}])"),
                    Contains("type.type: expected the type of a variable, found \"FP32\""));
  CHECK_THROWS_WITH(block(R"("vars": [{"name": "v", "type": {"type": "LOD_TENSOR",)"
                          R"( "lodTensor": {"tensor": {"dataType": "RAW"}}}}])"),
                    Contains("dataType: expected an element type, found \"RAW\""));
  CHECK_THROWS_WITH(block(R"("ops": [{"type": "t", "attrs": [{"name": "a", "type": "WORD"}]}])"),
                    Contains("type: expected the name of an enumerator, found \"WORD\""));
  CHECK_THROWS_WITH(
      block(R"("ops": [{"type": "t", "attrs": [{"name": "a", "type": "LONG", "l": "7x"}]}])"),
      Contains(".l: expected a whole number, found \"7x\""));
  CHECK_THROWS_WITH(block(R"("forwardBlockIdx": 4294967296)"),
                    Contains("expected a number of the field's range"));
  CHECK_THROWS_WITH(
      block(R"("ops": [{"type": "t", "attrs": [{"name": "a", "type": "FLOAT", "f": 1e40}]}])"),
      Contains(".f: expected a number of 32 bits, found 1e+40"));
  CHECK_THROWS_WITH(block(R"("forwardBlockIdx": 1e410)"),
                    Contains("JSON, offset 0: expected numbers of 64 bits"));
  CHECK_THROWS_WITH(
      from_json_text("{\"blocks\": [" + std::string(100000, '[') + std::string(100000, ']') + "]}"),
      Contains("$.blocks[0]: expected an object, found a list"));
  CHECK_THROWS_AS(from_json_text("{"), lamina::format_error);
}

TEST_CASE("json: cut anywhere it is refused", "[damage]") {
  const std::string whole = to_json(samples::loop).dump();
  for (std::size_t n = 0; n < whole.size(); n += 7)
    CHECK_THROWS_AS(from_json_text(std::string_view(whole).substr(0, n)), lamina::format_error);
  const lamina::loaded_program read(from_json_text(whole));
  CHECK(read.feed_names() == std::vector<std::string>{"x"});
}

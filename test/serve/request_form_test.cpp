// SPDX-License-Identifier: Apache-2.0
// What requests have to look like, and what is said of those that do not.
#include <string>
#include <vector>

#include "serve/requests.hpp"

#include <lamina/serve/request_form.hpp>

namespace serve = lamina::serve;
using Catch::Contains;
using test::pooled, test::request, test::scores, test::values;

TEST_CASE("a form tells what it expected of a request") {
  const serve::request_form form{lamina::model{scores, 3}};
  CHECK(form.inputs.size() == 2);
  REQUIRE(form.outputs.size() == 2);  // the cost has no rows
  CHECK(form.outputs[1].name == "best");
  CHECK(form.input("x") == &form.inputs[0]);
  CHECK(form.input("sum") == nullptr);
  CHECK(form.output("sum") == &form.outputs[0]);
  CHECK(form == serve::request_form{lamina::model{scores, 4}});
  CHECK_FALSE(form == serve::request_form{lamina::model{pooled, 3}});
  serve::model_request whole = request(1, 2);
  CHECK(form.require(whole, 4) == 2);
  CHECK(whole.outputs == std::vector<std::string>{"sum"});
  whole.outputs.clear();
  CHECK(form.require(whole, 2) == 2);
  CHECK(whole.outputs == std::vector<std::string>{"sum", "best"});

  const auto change = [&](const char* message, auto edit) {
    serve::model_request changed = request(1, 2);
    edit(changed);
    CHECK_THROWS_WITH(form.require(changed, 4), Contains(message));
  };
  change("input word: expected it once, found it 0 times",
         [](auto& q) { q.inputs.erase(q.inputs.begin()); });
  change("input x: expected it once, found it 2 times",
         [](auto& q) { q.inputs.push_back(q.inputs[1]); });
  change("expected x, word, found 'y'",
         [](auto& q) { q.inputs.push_back(values("y", {1}, std::vector{1.f})); });
  change("input x: expected float32, found int64",
         [](auto& q) { q.inputs[1].type = lamina::dtype::int64; });
  change("input x: expected the shape [-1, 3], found [2, 4]",
         [](auto& q) { q.inputs[1].shape[1] = 4; });
  change("found [6]", [](auto& q) { q.inputs[1].shape = {6}; });
  change("found []", [](auto& q) { q.inputs[1].shape = {}; });
  change("found [-2, 3]", [](auto& q) { q.inputs[1].shape[0] = -2; });
  change("found [9223372036854775807, 3]",
         [](auto& q) { q.inputs[1].shape[0] = 0x7fffffffffffffff; });
  change("input x: expected 24 bytes for the shape [2, 3], found 23",
         [](auto& q) { q.inputs[1].bytes.pop_back(); });
  change("input word: expected 2 samples as in the other inputs, found 1", [](auto& q) {
    q.inputs[0] = values("word", {1, 1}, std::vector<std::int64_t>{1});
  });
  change("input x: expected no lengths", [](auto& q) { q.inputs[1].lengths = {2}; });
  change("expected sum, best, found 'cost'", [](auto& q) { q.outputs = {"cost"}; });
  change("expected 1 to 4 samples, found 5", [](auto& q) { q = request(1, 5); });
  change("expected 1 to 4 samples, found 0", [](auto& q) { q = request(1, 0); });
}

TEST_CASE("a form counts the sequences of a request") {
  const serve::request_form form{lamina::model{pooled, 3}};
  const auto count = [&](std::vector<int> lengths) {
    serve::model_request r{{values("words", {3, 1}, std::vector<std::int64_t>{1, 2, 3})}, {}};
    r.inputs[0].lengths = std::move(lengths);
    return form.require(r, 4);
  };
  CHECK(count({2, 0, 1}) == 3);
  CHECK(count({3}) == 1);
  CHECK_THROWS_WITH(count({2}), Contains("expected lengths with the sum 3, found 2"));
  CHECK_THROWS_WITH(count({}), Contains("expected lengths with the sum 3, found 0"));
  CHECK_THROWS_WITH(count({4, -1}), Contains("expected lengths of at least 0, found -1"));
  CHECK_THROWS_WITH(count({1, 1, 1, 0, 0}), Contains("expected 1 to 4 samples, found 5"));
}

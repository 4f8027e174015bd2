// SPDX-License-Identifier: Apache-2.0
// The log is, letter by letter, what PaddlePaddle v2 writes. Expected lines have the form of lines
// that its versions 0.9 and 0.10 wrote, with the blanks before and behind metrics.
#include <cstdio>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/cli/trainer_log.hpp>

namespace message = lamina::trainer_message;
using metrics = std::vector<lamina::optimizer::metric_value>;

namespace {

/// What a log writes.
template <class F>
std::string written(F f) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  lamina::trainer_log log(file);
  f(log);
  std::string text(4096, '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

}  // namespace

TEST_CASE("messages of training and tests") {
  const metrics two = {{"__auc_evaluator_0__", 0.70421},
                       {"classification_error_evaluator", 0.0263}};
  const lamina::cost_sum pass{11304960, 0.113212 * 11304960}, now{409600, 0.109198 * 409600};
  CHECK(message::batch(2760, pass, now, two, {two.data() + 1, 1}) ==
        " Batch=2760 samples=11304960 AvgCost=0.113212 CurrentCost=0.109198 Eval: "
        "__auc_evaluator_0__=0.70421 classification_error_evaluator=0.0263  CurrentEval: "
        "classification_error_evaluator=0.0263 ");
  CHECK(message::batch(200, {320000, 2.5 * 320000}, {1600, 2.5377 * 1600}, {}, {}) ==
        " Batch=200 samples=320000 AvgCost=2.5 CurrentCost=2.5377 Eval:  CurrentEval: ");
  CHECK(message::pass(20, 565, {904000, 2.5615 * 904000}, {}) ==
        " Pass=20 Batch=565 samples=904000 AvgCost=2.5615 Eval: ");
  CHECK(message::pass(0, 1, {1, 1e-7}, two) ==
        " Pass=0 Batch=1 samples=1 AvgCost=1e-07 Eval: __auc_evaluator_0__=0.70421 "
        "classification_error_evaluator=0.0263 ");
  CHECK(message::test(97383, 2.55, {two.data(), 1}) ==
        " Test samples=97383 cost=2.55 Eval: __auc_evaluator_0__=0.70421 ");
  CHECK(message::tested_pass(3, {4, 10}, {}) == " Pass=3 samples=4 AvgCost=2.5 Eval: ");
  CHECK(message::pass(0, 0, {}, {}) == " Pass=0 Batch=0 samples=0 AvgCost=0 Eval: ");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(message::test(1, -nan, {}) == " Test samples=1 cost=nan Eval: ");
}

TEST_CASE("costs are means over samples") {
  lamina::cost_sum costs;
  CHECK(costs.mean() == 0);
  costs.add(3, 2);
  costs.add(1, 6);
  CHECK(costs.samples == 4);
  CHECK(costs.mean() == 3);
}

TEST_CASE("messages in columns: parameters, gradients and times") {
  CHECK(message::parameter("_hidden1.w0", {0.0371914, 0.181218}, {1e-05, 0}) ==
        "_hidden1.w0          avg_abs_val=0.0371914   max_val=0.181218    avg_abs_grad=1e-05"
        "       max_grad=0          ");
  CHECK(message::parameter("a_name_of_more_than_20_letters", {1, 2}, {3, 4}) ==
        "a_name_of_more_than_20_letters avg_abs_val=1           max_val=2           "
        "avg_abs_grad=3           max_grad=4          ");
  const lamina::gradient_difference d{0.001, 0.5, 0.25, 0.125, 0.125, -1.5e-9};
  CHECK(message::gradient("w", d, false, false) ==
        "w                   step=0.001          cost1=0.5       cost2=0.25      "
        "true_delta=0.125          analytic_delta=0.125          diff=-1.5e-09");
  CHECK(message::gradient("w", d, true, true) ==
        "w...................step=0.001..........cost1=0.5.......cost2=0.25......"
        "true_delta=0.125..........analytic_delta=0.125..........diff=-1.5e-09 ***");
  const std::string times = message::times("FwdBwd", 12.5, 5, 0.75, 10);
  CHECK(std::regex_match(
      times, std::regex("Stat=FwdBwd {25}TID=[0-9]+ *total=12\\.5 {7}avg=1\\.25 {7}max=5 {10}"
                        "min=0\\.75 {7}count=10 {8}")));
}

TEST_CASE("a line has the head of glog, and ends an open line of dots") {
  const std::string head =
      "I[01][0-9][0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{6} +[0-9]+ "
      "trainer_log_test\\.cpp:[0-9]+\\] ";
  const std::string text = written([](lamina::trainer_log& log) {
    log.line(" first");
    log.dot();
    log.dot();
    log.line(" second");
    log.line(" third");
    log.dot();
    log.end_dots();
    log.end_dots();
  });
  INFO(text);
  CHECK(std::regex_match(
      text, std::regex(head + " first\n\\.\\.\n" + head + " second\n" + head + " third\n\\.\n")));
}

// SPDX-License-Identifier: Apache-2.0
// The progress bar's lines.
#include <algorithm>
#include <functional>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/optimizer/progress_bar.hpp>

using lamina::event;
using lamina::event_kind;

TEST_CASE("the bar is drawn when it grows, and once at the end of a pass", "[optimizer]") {
  std::ostringstream text;
  const std::function<void(const event&)> handler = lamina::progress_bar{.out = &text, .width = 4};
  handler({.kind = event_kind::begin_pass});
  std::string drawn;
  for (int batch = 0; batch < 8; ++batch) {
    handler({.kind = event_kind::begin_iteration, .batch = batch, .batches = 8});
    handler({.kind = event_kind::end_forward_backward, .batch = batch, .batches = 8});
    handler({.kind = event_kind::end_iteration, .batch = batch, .batches = 8, .cost = 0.5});
    if (batch == 0) CHECK(text.str().empty());
    if (batch == 1) CHECK(text.str() == "\rpass 0 [=   ] 2/8  cost 0.5      ");
    drawn = text.str();
  }
  CHECK(std::count(drawn.begin(), drawn.end(), '\r') == 4);
  CHECK(drawn.find('\n') == std::string::npos);

  const lamina::optimizer::metric_value metrics[]{{"accuracy", 0.75}};
  text.str("");
  handler({.kind = event_kind::end_pass,
           .pass = 3,
           .batch = 8,
           .batches = 8,
           .cost = 0.25,
           .metrics = metrics});
  CHECK(text.str() == "\rpass 3 [====] 8/8  cost 0.25       accuracy 0.75     \n");
}

TEST_CASE("without a known number of mini-batches they are counted", "[optimizer]") {
  std::ostringstream text;
  const lamina::progress_bar bar{.out = &text};
  for (int batch = 0; batch < 40; ++batch) bar({.kind = event_kind::end_iteration, .batch = batch});
  CHECK(text.str() == "\rpass 0 16  cost 0        \rpass 0 32  cost 0        ");
}

// SPDX-License-Identifier: Apache-2.0
// precision and recall of a few predictions, by hand.

#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/metric/metric.hpp>
#include <lamina/metric/precision_recall.hpp>

namespace metric = lamina::metric;

TEST_CASE("precision and recall of a few by hand", "[metric]") {
  metric::precision p;
  metric::recall r;
  CHECK_THROWS_AS(p.eval(), lamina::error);
  CHECK_THROWS_AS(r.eval(), lamina::error);
  const std::vector<float> scores{.9f, .8f, .6f, .5f, .1f, .2f, .3f};
  const std::vector<int> labels{1, 1, 0, 1, 1, 0, 1};  // one half counts as no
  p.update(scores, labels);
  r.update(scores, labels);
  CHECK(p.eval() == Approx(2 / 3.));
  CHECK(r.eval() == Approx(2 / 5.));
  p.update(std::vector<float>{1.f}, std::vector<bool>{true});
  CHECK(p.eval() == Approx(3 / 4.));
  p.reset();
  p.update(std::vector<float>{0.f}, std::vector<int>{1});
  CHECK(p.eval() == 0);
  metric::recall none;
  none.update(std::vector<float>{1.f}, std::vector<int>{0});
  CHECK(none.eval() == 0);
}

namespace {

struct predictions {
  std::vector<double> p;
  std::vector<std::int64_t> label;
};

// 200 predictions in steps of 1/64, with labels that follow them loosely; many ties.
predictions sample() {
  predictions s;
  std::uint32_t state = 1;
  const auto next = [&state] {
    return (state = (state * 1103515245u + 12345u) % 2147483648u) >> 16;
  };
  for (int i = 0; i < 200; ++i) {
    const double p = next() % 64 / 64.0;
    s.p.push_back(p);
    s.label.push_back(next() % 1000 < 200 + 600 * p);
  }
  return s;
}

}  // namespace

TEST_CASE("precision, recall and auc agree with scikit-learn", "[metric]") {
  const auto s = sample();
  metric::composite both{metric::precision{}, metric::recall{}, metric::auc{},
                         metric::auc{{.curve = metric::curve::pr}},
                         metric::auc{{.num_thresholds = 64}}};
  // In two parts, as batches come.
  both.update(std::vector<double>(s.p.begin(), s.p.begin() + 71),
              std::vector<std::int64_t>(s.label.begin(), s.label.begin() + 71));
  both.update(std::vector<double>(s.p.begin() + 71, s.p.end()),
              std::vector<std::int64_t>(s.label.begin() + 71, s.label.end()));
  const auto found = both.eval();
  CHECK(found[0] == Approx(0.5978260869565217).epsilon(1e-12));
  CHECK(found[1] == Approx(0.5288461538461539).epsilon(1e-12));
  CHECK(found[2] == Approx(0.6073217147435898).epsilon(1e-12));
  CHECK(found[3] == Approx(0.6066828203992162).epsilon(1e-12));
  CHECK(found[4] == Approx(found[2]).epsilon(1e-12));
  CHECK(both.get<1>().eval() == found[1]);
  both.reset();
  CHECK_THROWS_AS(both.eval(), lamina::error);
}

// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/metric/metric.hpp>

namespace metric = lamina::metric;

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

TEST_CASE("accuracy is the mean weighted by rows", "[metric]") {
  metric::accuracy a;
  CHECK_THROWS_AS(a.eval(), lamina::error);
  a.update(0.5, 64);
  a.update(1, 32);
  CHECK(a.eval() == Approx(64 / 96.));
  a.update(0, 0);
  CHECK(a.eval() == Approx(64 / 96.));
  CHECK_THROWS_AS(a.update(1, -1), lamina::error);
  CHECK_THROWS_AS(a.update(1, std::nan("")), lamina::error);
  CHECK_THROWS_AS(a.update(1, std::numeric_limits<double>::infinity()), lamina::error);
  CHECK(a.eval() == Approx(64 / 96.));
  a.reset();
  CHECK_THROWS_WITH(a.eval(), Catch::Contains("accuracy") && Catch::Contains("before eval"));
}

TEST_CASE("weighted_average", "[metric]") {
  metric::weighted_average w;
  CHECK_THROWS_AS(w.eval(), lamina::error);
  w.update(2, 1);
  w.update(5, 3);
  CHECK(w.eval() == 4.25);
}

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

TEST_CASE("auc at its ends", "[metric]") {
  metric::auc a;
  CHECK_THROWS_AS(a.eval(), lamina::error);
  a.update(std::array{0.f, 1.f}, std::array{0, 1});
  CHECK(a.eval() == 1);
  a.reset();
  a.update(std::array{0.f, 1.f}, std::array{1, 0});
  CHECK(a.eval() == 0);
  a.reset();
  a.update(std::array{.4, .4}, std::array{1, 0});
  CHECK(a.eval() == 0.5);
  a.reset();
  a.update(std::array{.4}, std::array{1});
  CHECK(a.eval() == 0);  // one class alone
  metric::auc coarse{{.num_thresholds = 1}};
  coarse.update(std::array{.2, .9, 1.}, std::array{0, 1, 1});
  CHECK(coarse.eval() == 0.75);
  CHECK_THROWS_AS(metric::auc{{.num_thresholds = 0}}, lamina::error);
}

TEST_CASE("a metric refuses bad input whole", "[metric]") {
  const auto check = [](auto m) {
    m.update(std::array{.9, .1, .8}, std::array{1, 0, 0});
    const double before = m.eval();
    CHECK_THROWS_WITH(m.update(std::array{.9, 1.5}, std::array{1, 0}), Catch::Contains("1.5"));
    CHECK_THROWS_AS(m.update(std::array{.9, -.5}, std::array{1, 0}), lamina::error);
    CHECK_THROWS_AS(m.update(std::array{.9, std::nan("")}, std::array{1, 0}), lamina::error);
    CHECK_THROWS_WITH(m.update(std::array{.9, .5}, std::array{1, 2}), Catch::Contains("label"));
    CHECK_THROWS_WITH(m.update(std::array{.9, .5}, std::array{1}), Catch::Contains("fewer"));
    CHECK_THROWS_WITH(m.update(std::array{.9}, std::array{1, 0}), Catch::Contains("more"));
    CHECK(m.eval() == before);
  };
  check(metric::precision{});
  check(metric::recall{});
  check(metric::auc{});

  metric::composite both{metric::precision{}, metric::auc{}};
  both.update(std::array{.9, .1}, std::array{1, 0});
  const auto before = both.eval();
  CHECK_THROWS_AS(both.update(std::array{.9, 2.}, std::array{0, 1}), lamina::error);
  CHECK(both.eval() == before);
}

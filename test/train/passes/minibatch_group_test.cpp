// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/train/passes/minibatch_group.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::mean(layer::fc<1>(layer::data<"x", float, 2>(main)));
});
using program = std::remove_const_t<decltype(net)>;
struct sample {
  std::vector<float> x;
};
/// Mini-batches of 1, 2, ... samples.
struct walk {
  lamina::feeder<program>& to;
  int end, at = 0;
  bool next() {
    if (at == end) return false;
    to.fill(std::vector<sample>(static_cast<std::size_t>(++at), {{1, 2}}));
    return true;
  }
};

}  // namespace

TEST_CASE("minibatch_group: an update has its mini-batches, the last one what is left") {
  lamina::feeder<program> single;
  lamina::detail::minibatch_group<program> group;
  CHECK(group.whole() == nullptr);
  CHECK(&group.now(single) == &single);
  walk all{single, 5};
  std::vector<int> rows, wholes;
  while (group.next(all, single, 2)) {
    rows.push_back(group.now(single).rows());
    wholes.push_back(group.whole()->size());
  }
  CHECK(rows == std::vector{1, 2, 3, 4, 5});
  CHECK(wholes == std::vector{3, 3, 7, 7, 5});
  CHECK(group.whole() == nullptr);
}

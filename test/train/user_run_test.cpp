// SPDX-License-Identifier: Apache-2.0
// A user's own functions called run are not lamina's, which argument lookup finds beside them.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/train/run.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "output"});
});
using net_type = std::remove_const_t<decltype(net)>;

struct holder {
  holder(const lamina::model<net_type>&) {}  // NOLINT: it converts
};

template <class Model>
int run(Model&, int) {
  return 1;
}
int run(const lamina::model<net_type>&, const std::string&) { return 2; }
template <class P>
int run(const lamina::evaluator<P>&) {
  return 3;
}
int run(holder) { return 4; }
int run(const net_type&, double) { return 5; }

}  // namespace

TEST_CASE("a user's own run is called beside that of a training loop") {
  lamina::model model{net};
  const lamina::evaluator evaluator{model};
  CHECK(run(model, 16) == 1);
  CHECK(run(model, "text") == 2);
  CHECK(run(evaluator) == 3);
  CHECK(run(model) == 4);
  CHECK(run(net, 1.5) == 5);
}

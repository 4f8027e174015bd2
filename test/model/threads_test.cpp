// SPDX-License-Identifier: Apache-2.0
// Many evaluators over one model.
#include <thread>

#include "model/samples.hpp"

#include <lamina/model/evaluator.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto hidden = layer::fc<33>(x, {.act = lamina::activation::tanh});
  return layer::fc<3>(hidden, {.name = "output"});
});

}  // namespace

TEST_CASE("four evaluators on four threads give the answers of one", "[threads]") {
  const lamina::model m{net, 3};
  const auto samples = test::samples(64);
  const auto answers = [&] {
    std::vector<float> all;
    lamina::evaluator e{m};
    for (std::size_t first = 0; first < samples.size();) {
      std::vector<std::array<float, 6>> rows;
      for (std::size_t n = first % 5 + 1; n > 0 && first < samples.size(); --n)
        rows.push_back(samples[first++].x);
      e.forward(lamina::feed<"x">(rows));
      const auto output = e.activation<"output">();
      all.insert(all.end(), output.begin(), output.end());
    }
    return all;
  };
  const std::vector<float> expected = answers();
  REQUIRE(expected.size() == 3 * samples.size());
  std::array<std::vector<float>, 4> found;
  std::vector<std::thread> threads;
  for (auto& mine : found)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) mine = answers();
    });
  for (std::thread& t : threads) t.join();
  for (const auto& mine : found) CHECK(mine == expected);
}

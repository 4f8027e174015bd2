// SPDX-License-Identifier: Apache-2.0
// Names of a user that look like generated ones.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/distinct_names.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

namespace {

std::string name_in(const lamina::program_view& p, int variable) {
  std::string text(static_cast<std::size_t>(lamina::name_length(p, variable)), ' ');
  lamina::name_writer w{text.data()};
  lamina::write_name(p, variable, w);
  return text;
}

int find(const lamina::program_view& p, const std::string& name) {
  for (int i = 0; i < p.count.variables; ++i)
    if (name_in(p, i) == name) return i;
  return -1;
}

}  // namespace

TEST_CASE("names of one's own that read like made ones are taken where nothing else has them") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"fc_0", float, 3>(main);
    auto h = layer::fc<3>(x, {.name = "fc_1"});
    h = layer::fc<3>(h, {.param = {.name = "h.w_0"}, .name = "fc_00"});
    return layer::fc<3>(layer::fc<3>(h, {.name = "fc_1"}), {.name = "relu_0"});
  });
  const auto p = net.view();
  for (const char* name : {"fc_0", "fc_1.w_0", "fc_1.w_1", "h.w_0", "fc_00.b_0", "relu_0.w_0"})
    CHECK(find(p, name) >= 0);
  CHECK(p.count.parameters == 8);
}

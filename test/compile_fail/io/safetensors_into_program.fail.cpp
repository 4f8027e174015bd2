// SPDX-License-Identifier: Apache-2.0
// Parameters are read into a program.
// expect-error[gcc]: use of deleted function .*load_safetensors
// expect-error[clang]: call to deleted function .load_safetensors.
// expect-fact: // expects lamina::model\{program\}
// expect-lines[gcc]: 12
// expect-lines[clang]: 20
#include <lamina/io/safetensors.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/model/model.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "output"});
});

int main() {
  lamina::model m{net};
#ifdef SHOULD_FAIL
  lamina::load_safetensors("net.safetensors", net);  // <- here
#else
  lamina::load_safetensors("net.safetensors", m);
#endif
}

// SPDX-License-Identifier: Apache-2.0
// A program that has no parameters yet is saved.
// expect-error[gcc]: use of deleted function .*save_inference_model
// expect-error[clang]: call to deleted function .save_inference_model.
// expect-fact: // expects lamina::model\{program\}
// expect-lines[gcc]: 12
// expect-lines[clang]: 25
#include <lamina/io/model_files.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "output"});
});

int main() {
  lamina::model m{net};
#ifdef SHOULD_FAIL
  lamina::save_inference_model("net", net, {"output"});  // <- here
#else
  lamina::save_inference_model("net", m, {"output"});
#endif
  lamina::save_persistables("net", m);
}

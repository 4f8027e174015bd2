// SPDX-License-Identifier: Apache-2.0
// A program that has no parameters yet is exported.
// expect-error[gcc]: use of deleted function .*export_onnx
// expect-error[clang]: call to deleted function .export_onnx.
// expect-fact: // expects lamina::model\{program\}
// expect-lines: 12
#include <lamina/io/export_onnx.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "output"});
});

int main() {
  lamina::model m{net};
#ifdef SHOULD_FAIL
  lamina::export_onnx("net.onnx", net, {"output"});  // <- here
#else
  lamina::export_onnx("net.onnx", m, {"output"});
#endif
}

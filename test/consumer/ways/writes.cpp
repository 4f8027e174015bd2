// SPDX-License-Identifier: Apache-2.0
// Writes a model by the compiled library, and reads it: prints whether the parameters are the same.
#include <cstdio>

#include <lamina/io/export_onnx.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>

#if !defined(LAMINA_COMPILED) || defined(PROTOZERO_VERSION_MAJOR) || defined(XTENSOR_VERSION_MAJOR)
#error "expected declarations alone"
#endif

namespace layer = lamina::layer;

// No tensor, no program that was read.
template <class T>
concept complete = requires {
  sizeof(T);
};
static_assert(!complete<lamina::scope> && !complete<lamina::program_message>);
static_assert(!complete<lamina::onnx_operators> && !complete<lamina::inference_model>);

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "y"});
});

int main() {
  const lamina::model written{net, 1};
  lamina::save_inference_model("model", written, {"y"});
  lamina::export_onnx("model/net.onnx", written);
  lamina::model read{net, 2};
  lamina::load_persistables("model", read);
  std::puts(read.get(0) == written.get(0) ? "the same" : "others");
}

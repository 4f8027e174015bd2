// SPDX-License-Identifier: Apache-2.0
// With the compiled library, the headers of writers are declarations: no type of a program that was
// read, no tensor, no protobuf; and the names are others than those of headers alone.
#define LAMINA_IO_COMPILED
#include <lamina/io/export_onnx.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>

#if defined(PROTOZERO_VERSION_MAJOR) || defined(XTENSOR_VERSION_MAJOR)
#error "expected declarations alone"
#endif

namespace {

template <class T>
concept complete = requires {
  sizeof(T);
};
static_assert(!complete<lamina::scope> && !complete<lamina::program_message>);
static_assert(!complete<lamina::onnx_operators> && !complete<lamina::inference_model>);

constexpr auto net = lamina::program([](lamina::block& main) {
  return lamina::layer::fc<3>(lamina::layer::data<"x", float, 4>(main), {.name = "y"});
});

}  // namespace

// What a program calls is found, and that by the library's names.
void write(const lamina::model<std::remove_const_t<decltype(net)>>& m) {
  lamina::save_inference_model("net", m, {"y"});
  lamina::save_persistables("net", m);
  lamina::export_onnx("net.onnx", m);
  [[maybe_unused]] constexpr auto its = &lamina::detail::compiled_io::write_persistables;
}

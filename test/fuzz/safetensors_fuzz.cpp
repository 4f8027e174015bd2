// SPDX-License-Identifier: Apache-2.0
// safetensors files: as tensors, into a model, and indices of divided checkpoints.
#include <span>
#include <utility>

#include <fuzz/same_tensors.hpp>
#include <fuzz/targets.hpp>

#include <lamina/io/safetensors.hpp>
#include <lamina/layers/layers.hpp>

namespace {

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::fc<3>(x, {.name = "w"});
});

/// Sets the parameters of a model to the first two values that are read. They have the right shapes
/// only now and then, so the report must agree with what has changed.
void into_model(std::span<const std::byte> bytes, const lamina::named_tensors& read) {
  if (read.empty()) return;
  const std::string first = read.begin()->first, last = std::prev(read.end())->first;
  lamina::model<std::remove_const_t<decltype(net)>> model{net, 1};
  const auto before = lamina::tensors_of(model);
  lamina::safetensors_options options{.skip_missing = true, .skip_other_shapes = true};
  options.names = [&](std::string_view name) {
    return std::string(name == first ? "w.w_0" : name == last ? "w.b_0" : "");
  };
  options.outputs_first = first.size() % 2 == 0;
  try {
    const lamina::load_report report = load_safetensors(bytes, model, options);
    for (const auto& [name, value] : lamina::tensors_of(model)) {
      bool loaded = false;
      for (const std::string& l : report.loaded) loaded = loaded || l == name;
      fuzz::require(loaded || fuzz::same(value, before.at(name)), "other parameters are unchanged");
    }
  } catch (const lamina::format_error&) {
    fuzz::require(fuzz::same(lamina::tensors_of(model), before), "a model is changed or refused");
  }
}

}  // namespace

void fuzz::safetensors(std::string_view bytes) {
  const std::span<const std::byte> data(reinterpret_cast<const std::byte*>(bytes.data()),
                                        bytes.size());
  if (bytes.starts_with("{")) {  // a length beyond the limit for a file, so it may be an index
    accepts(bytes, [&] {
      lamina::binary_reader from(bytes, "fuzz.json");
      lamina::detail::read_safetensors_index(from);
    });
  }
  lamina::named_tensors read;
  if (!accepts(bytes, [&] { read = lamina::load_safetensors(data); })) return;
  const std::string path = folder() + "/values.safetensors";
  lamina::save_safetensors(path, read);
  require(same(lamina::load_safetensors(path), read), "values are written as they were read");
  lamina::remove_file(path);
  into_model(data, read);
}

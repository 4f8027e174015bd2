// SPDX-License-Identifier: Apache-2.0
// program_info - what is in a model directory: blocks, operators, parameters, inputs and outputs
//
//   program_info DIR [PROGRAM [PARAMETERS]]   what save_inference_model wrote, here or in
//   PaddlePaddle;
//                                             PROGRAM is __model__ unless it is given
//   program_info                              writes a small model to a folder of its own first
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <string_view>

#include <unistd.h>

#include <lamina/executor/executor.hpp>
#include <lamina/inspect/program_text.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto hidden = layer::fc<32>(image, {.act = lamina::activation::relu});
  return layer::softmax(layer::fc<10>(hidden), {.name = "p"});
});

/// Writes the net with its first parameters; returns where.
std::string write_example() {
  std::string folder = "/tmp/lamina_program_info_XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) throw lamina::error("cannot make " + folder);
  lamina::executor executor;
  lamina::scope parameters;
  executor.run_startup(net.view(), parameters, 1);
  save_inference_model(folder, net.view(), parameters,
                       {lamina::variable_name(net.view(), net.view().outputs[0])});
  return folder;
}

void print(const lamina::inference_model& model) {
  const lamina::program_message& program = model.program.message();
  std::printf("%s: version %lld, %zu block%s\n", model.program.source().c_str(),
              static_cast<long long>(program.version), program.blocks.size(),
              program.blocks.size() == 1 ? "" : "s");
  for (const std::string& name : model.program.feed_names())
    std::printf("  in   %-28s %s\n", name.c_str(),
                lamina::detail::type_text(*model.program.find(name)).c_str());
  for (const std::string& name : model.program.fetch_names())
    std::printf("  out  %-28s %s\n", name.c_str(),
                lamina::detail::type_text(*model.program.find(name)).c_str());

  std::map<std::string, int> operators;
  for (const lamina::block_message& b : program.blocks)
    for (const lamina::operator_message& op : b.operators) ++operators[op.type];
  std::printf("operators:");
  for (const auto& [type, count] : operators)
    std::printf(count == 1 ? " %s" : " %s x%d", type.c_str(), count);
  std::printf("\nparameters:\n");
  std::size_t scalars = 0, bytes = 0;
  for (const std::string& name : model.variables->names()) {
    const lamina::lod_tensor& value = model.variables->get(name);
    std::printf("  %-33s %s %s\n", name.c_str(), lamina::name_of(value.type()),
                lamina::to_string(value.shape()).c_str());
    scalars += value.size();
    bytes += value.size() * static_cast<std::size_t>(lamina::size_of(value.type()));
  }
  std::printf("%zu numbers, %zu bytes in %zu parameters\n", scalars, bytes,
              model.variables->names().size());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    lamina::inference_files files;
    if (argc > 2) files.program = argv[2];
    if (argc > 3) files.parameters = argv[3];
    const std::string folder = argc > 1 ? std::string(argv[1]) : write_example();
    print(lamina::load_inference_model(folder, files));
    if (argc > 1) return 0;
    lamina::for_each_name(folder, [&](std::string_view name) {
      if (name[0] != '.') lamina::remove_file(folder + "/" + std::string(name));
    });
    ::rmdir(folder.c_str());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "program_info: %s\n", e.what());
    return 1;
  }
}

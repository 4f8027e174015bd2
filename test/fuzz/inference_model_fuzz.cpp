// SPDX-License-Identifier: Apache-2.0
// Directories with a program and its parameters. An input is the size of the program, u32, the
// program, and the file of all parameters.
#include <cstdint>
#include <cstring>

#include <fuzz/targets.hpp>

#include <lamina/codegen/native_source.hpp>
#include <lamina/io/inference_model.hpp>

void fuzz::load(lamina::program_message message, const std::string& source) {
  const lamina::loaded_program program(std::move(message), source);
  for (const std::string& name : program.persistable_names())
    require(program.find(name) != nullptr, "a persistable variable is one of block 0");
  const std::string text = lamina::native_source(program);
  require(text.ends_with("});\n"), "a program that is written as C++ is complete");
}

void fuzz::inference_model(std::string_view bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) return;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  const std::string program(bytes.substr(0, size));
  const std::string values(bytes.substr(program.size()));
  lamina::write_file(folder() + "/__model__", program);
  lamina::write_file(folder() + "/all", values);
  accepts(program.size() > values.size() ? program : values, [&] {
    const lamina::inference_model m = lamina::load_inference_model(folder(), {"__model__", "all"});
    for (const std::string& name : m.program.persistable_names())
      require(m.variables->get(name).has_value(), "every parameter has a value");
  });
  lamina::remove_file(folder() + "/__model__");
  lamina::remove_file(folder() + "/all");
}

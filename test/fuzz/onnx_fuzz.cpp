// SPDX-License-Identifier: Apache-2.0
// ONNX files.
#include <string>

#include "executor/shared_executor.hpp"
#include <fuzz/targets.hpp>

#include <lamina/io/load_onnx.hpp>

void fuzz::onnx(std::string_view bytes) {
  accepts(bytes, [&] {
    const lamina::inference_model m =
        lamina::from_onnx(bytes, folder() + "/fuzz.onnx", {.largest_constant = 1 << 16});
    for (const std::string& name : m.program.persistable_names())
      require(m.variables->get(name).has_value(), "every constant has a value");
    require(!m.program.fetch_names().empty(), "a model has outputs");
  });
}

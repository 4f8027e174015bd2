// SPDX-License-Identifier: Apache-2.0
// Programs as JSON text.
#include <fuzz/targets.hpp>

#include <lamina/io/program_desc_json.hpp>

void fuzz::json(std::string_view bytes) {
  lamina::program_message read;
  if (!accepts(bytes, [&] { read = lamina::from_json_text(bytes, "fuzz.json"); })) return;
  const nlohmann::json written = lamina::to_json(read);
  require(lamina::to_json(lamina::from_json(written)) == written, "JSON is written as it was read");
  accepts(bytes, [&] { load(std::move(read), "fuzz.json"); });
}

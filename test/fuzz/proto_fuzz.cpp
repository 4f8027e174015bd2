// SPDX-License-Identifier: Apache-2.0
// Programs as protobuf bytes.
#include <fuzz/targets.hpp>

#include <lamina/io/program_desc_proto.hpp>

void fuzz::proto(std::string_view bytes) {
  lamina::program_message read;
  const std::string all(bytes);
  if (!accepts(bytes, [&] { read = lamina::from_proto(all, "fuzz.proto"); })) return;
  const std::string written = lamina::to_proto(read);
  require(lamina::to_proto(lamina::from_proto(written)) == written,
          "protobuf bytes are written as they were read");
  accepts(bytes, [&] { load(std::move(read), "fuzz.proto"); });
}

// SPDX-License-Identifier: Apache-2.0
// The command that makes C++ of a saved model.
#include <catch2/catch.hpp>
#include <io/temporary_folder.hpp>

#include <lamina/cli/import_main.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "y"});
});

int run(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "import");
  return lamina::import_main(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace

TEST_CASE("import: a folder, or a program in it, becomes a header and a file of parameters") {
  const temporary_folder folder;
  const std::string at = folder.path();
  const lamina::model model{net, 3};
  lamina::save_inference_model(at + "/m", model, {"y"}, {"net.pdmodel", "net.pdiparams"});
  const std::string program = at + "/m/net.pdmodel", header = at + "/y.v2.hpp",
                    weights = at + "/other.st";
  REQUIRE(run({program.c_str(), "--parameters", "net.pdiparams", "--out", header.c_str(), "--name",
               "two"}) == 0);
  const std::string text = lamina::read_file(header);
  CHECK(text.find("inline constexpr auto two = ") != std::string::npos);
  CHECK(text.find("layer::fc<3>(x, {.name = \"y\"})") != std::string::npos);
  CHECK(text.find("load_safetensors(\"y.v2.safetensors\", model)") != std::string::npos);
  lamina::model read{net, 4};
  lamina::load_safetensors(at + "/y.v2.safetensors", read);
  CHECK((read.get(0) == model.get(0)));

  lamina::save_inference_model(at + "/n", model, {"y"});
  const std::string other = at + "/n";
  REQUIRE(run({"--out", header.c_str(), other.c_str(), "--weights", weights.c_str()}) == 0);
  CHECK(lamina::read_file(header).find("inline constexpr auto net = ") != std::string::npos);
  CHECK(lamina::load_safetensors(weights).size() == 2);

  CHECK(run({at.c_str(), "--out", header.c_str()}) == 1);
  CHECK(run({}) == 2);
  CHECK(run({other.c_str()}) == 2);
  CHECK(run({other.c_str(), "--out"}) == 2);
  CHECK(run({other.c_str(), "--unknown", "x", "--out", header.c_str()}) == 2);
  CHECK(run({other.c_str(), other.c_str(), "--out", header.c_str()}) == 2);
}

TEST_CASE("import: nets for sound, a block of samples per run") {
  const temporary_folder folder;
  const std::string at = folder.path(), net = at + "/net.json", header = at + "/net.hpp";
  lamina::write_file(
      net,
      R"({"in_shape": [null, null, 1], "layers": [{"type": "conv1d", "activation": "tanh",
          "shape": [null, null, 2], "kernel_size": [3], "dilation": [4],
          "weights": [[[[1, 2]], [[3, 4]], [[5, 6]]], [7, 8]]}]})");
  REQUIRE(run({net.c_str(), "--out", header.c_str(), "--block", "16"}) == 0);
  const std::string text = lamina::read_file(header);
  CHECK(text.find("layer::data<\"x\", float, 1, 1, 16>(main)") != std::string::npos);
  CHECK(text.find("layer::data<\"layer_0_past\", float, 1, 1, 8>(main)") != std::string::npos);
  CHECK(text.find("layer_0_past_next") != std::string::npos);
  CHECK(run({net.c_str(), "--out", header.c_str(), "--block", "0"}) == 2);
  CHECK(run({net.c_str(), "--out", header.c_str(), "--batch", "1"}) == 2);
  CHECK(run({at.c_str(), "--out", header.c_str(), "--block", "16"}) == 2);
}

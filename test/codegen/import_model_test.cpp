// SPDX-License-Identifier: Apache-2.0
// A header and a file of parameters are written together, or not at all.
#include <catch2/catch.hpp>
#include <io/temporary_folder.hpp>

#include <lamina/codegen/import_model.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "y"});
});

}  // namespace

TEST_CASE("import model: what cannot be imported changes no file") {
  const temporary_folder folder;
  const std::string at = folder.path(), header = at + "/net.hpp", weights = at + "/net.safetensors";
  lamina::save_inference_model(at + "/m", lamina::model{net, 3}, {"y"});
  lamina::import_model(at + "/m", header);
  const std::string source = lamina::read_file(header), values = lamina::read_file(weights);
  CHECK_THAT(source, Contains("// Made from m/__model__\n// Parameters: "
                              "lamina::load_safetensors(\"net.safetensors\", model)\n"));

  const std::string program = lamina::read_file(at + "/m/__model__");
  const auto fails = [&](const std::string& what) {
    CHECK_THROWS_WITH(lamina::import_model(at + "/m", header), Contains(what));
    CHECK(lamina::read_file(header) == source);
    CHECK(lamina::read_file(weights) == values);
  };
  lamina::save_inference_model(at + "/m", lamina::model{net, 4}, {"y"});  // other values
  for (const std::size_t size : {std::size_t{0}, program.size() / 2, program.size() - 1}) {
    lamina::write_file(at + "/m/__model__", program.substr(0, size));
    fails("__model__");
  }
  lamina::write_file(at + "/m/__model__", program);
  CHECK_THROWS_WITH(lamina::import_model(at + "/m", header, {.name = "no name"}),
                    Contains("expected a C++ name for the program, found 'no name'"));
  CHECK(lamina::read_file(weights) == values);
  // Neither is written where one of them cannot be.
  for (const char* refused : {"/no/net.hpp", "/m"})
    CHECK_THROWS_WITH(lamina::import_model(at + "/m", at + refused, {.weights = weights}),
                      Contains(at + refused + ": cannot be written: "));
  CHECK_THROWS_WITH(lamina::import_model(at + "/m", header, {.weights = at + "/no/w"}),
                    Contains(at + "/no/w"));
  CHECK(lamina::read_file(header) == source);
  CHECK(lamina::read_file(weights) == values);
  lamina::write_file(at + "/m/y.b_0", "x");
  fails("y.b_0");
  lamina::remove_file(at + "/m/y.b_0");
  fails("y.b_0");
  int files = 0;  // nothing half-written is left
  lamina::for_each_name(at, [&](std::string_view name) { files += name[0] != '.' ? 1 : 0; });
  CHECK(files == 3);
}

namespace {

constexpr auto images = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 6, 6>(main);
  auto y = layer::batch_norm(layer::conv2d<4, 3>(x, {.name = "conv"}), {.name = "norm"});
  return layer::assign(y * layer::sigmoid(y), {.name = "y"});
});

}  // namespace

TEST_CASE("import model: a simplified program has fewer operators and its own parameters") {
  const temporary_folder folder;
  const std::string at = folder.path(), header = at + "/net.hpp";
  lamina::save_inference_model(at + "/m", lamina::model{images, 3}, {"y"});
  lamina::import_model(at + "/m", header);
  CHECK_THAT(lamina::read_file(header), Contains("batch_norm") && Contains("sigmoid"));
  lamina::import_model(at + "/m", header, {.simplify = true});
  const std::string source = lamina::read_file(header);
  CHECK_THAT(source, Contains("swish") && !Contains("batch_norm") && !Contains("sigmoid"));
  const auto values = lamina::load_safetensors(at + "/net.safetensors");
  CHECK(values.size() == 2);
}

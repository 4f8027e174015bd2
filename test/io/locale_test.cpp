// SPDX-License-Identifier: Apache-2.0
// Locale: no reader or writer depends on it. All that makes text of numbers or numbers of text
// gives the same under a decimal comma. Sources: d99kris/rapidcsv#102, LinuxDevon/dbc_parser_cpp#8.
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "stderr_text.hpp"
#include "temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/csv.hpp>
#include <lamina/executor/executor.hpp>
#include <lamina/io/export_onnx.hpp>
#include <lamina/io/program_desc_json.hpp>
#include <lamina/io/program_text.hpp>
#include <lamina/io/report.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/train/progress_bar.hpp>

namespace {

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto half = layer::fill_constant<float>(main, 0.5);
  auto wide = layer::fill_constant<double>(main, 0.1);
  auto y = layer::scale(layer::elementwise_add(x, half), 1.5f, {.bias = 0.25f, .name = "y"});
  layer::cast<float>(wide, {.name = "wide"});
  return layer::print(y, {.message = "y"});
});

constexpr const char* json = R"({"blocks": [{"idx": 0, "parentIdx": -1, "vars": [
  {"name": "half", "type": {"type": "LOD_TENSOR", "lodTensor": {"tensor": {"dataType": "FP32", "dims": ["1"]}}}}],
  "ops": [{"type": "fill_constant", "outputs": [{"parameter": "Out", "arguments": ["half"]}],
    "attrs": [{"name": "shape", "type": "LONGS", "longs": ["1"]}, {"name": "value", "type": "FLOAT", "f": "0.25"},
      {"name": "other", "type": "FLOAT", "f": 0.75},
      {"name": "str_value", "type": "STRING", "s": "0.5"}, {"name": "dtype", "type": "INT", "i": 5}]}]}]})";

/// All texts and files that hold numbers.
std::vector<std::string> everything() {
  std::vector<std::string> all;
  const temporary_folder folder;
  const lamina::model m{net};
  const lamina::program_message message = lamina::message_of(net);
  all.push_back(lamina::to_json(message).dump(1));
  all.push_back(lamina::to_proto(lamina::from_json_text(all[0])));
  all.push_back(lamina::to_proto(message));
  all.push_back(lamina::to_dot(message));
  all.push_back(lamina::to_string(message));
  all.push_back(lamina::report(net, {.rows = 8}).text());
  all.push_back(lamina::text("at ").print("%.4f s, ", 0.125).print("%g", 1e-7) << ", 1,5");
  lamina::scope none;
  const lamina::program_message read = lamina::from_json_text(json);
  all.push_back(lamina::to_onnx(read, none, {}, {"half"}));
  const lamina::loaded_program loaded(read, "json", lamina::known_operators());
  lamina::executor executor;
  all.push_back(std::to_string(
      static_cast<int>(1000 * executor.run(loaded, none, {}, {"half"})[0].as<float>().flat(0))));
  lamina::scope parameters;
  all.push_back(lamina::to_onnx(net.view(), parameters, {"wide.tmp_0", "y.tmp_0"}));
  lamina::write_file(folder.path() + "/table.csv", "0.5,1e-3,-.25\n1.5,2,+3.75\n");
  const auto table = lamina::dataset::read_csv(folder.path() + "/table.csv");
  for (const double v : table.values) all.push_back(std::to_string(static_cast<int>(v * 10000)));
  all.push_back(test::written_by([&] {
    lamina::evaluator e{m};
    e.forward(lamina::feed<"x">({0.25f, 1.f}));
  }));
  all.back() = all.back().substr(all.back().find("data"));  // what is before has the time
  return all;
}

/// Whether the process has a locale with a decimal comma now.
bool use_comma(const std::string& folder) {
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"})
    if (std::setlocale(LC_ALL, name) != nullptr) return true;
  const std::string make = "localedef -i de_DE -f UTF-8 " + folder + "/de_DE.UTF-8 2> /dev/null";
  if (std::system(make.c_str()) != 0) return false;
  ::setenv("LOCPATH", folder.c_str(), 1);
  return std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
}

}  // namespace

TEST_CASE("locale: numbers are read and written the same under a decimal comma") {
  const std::vector<std::string> wanted = everything();
  CHECK(wanted[6] == "at 0.1250 s, 1e-07, 1,5");
  const temporary_folder folder;
  if (!use_comma(folder.path())) {
    WARN("neither de_DE.UTF-8 nor the sources of locales are here (package locales)");
    return;
  }
  char half[8];
  std::snprintf(half, sizeof half, "%.1f", 0.5);
  CHECK(half == std::string("0,5"));
  const std::vector<std::string> found = everything();
  std::setlocale(LC_ALL, "C");
  ::unsetenv("LOCPATH");
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("text " << i);
    CHECK(found[i] == wanted[i]);
  }
}

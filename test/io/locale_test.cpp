// SPDX-License-Identifier: Apache-2.0
// Locale: no reader or writer depends on it. All that makes text of numbers or numbers of text
// gives the same under a decimal comma. Sources: d99kris/rapidcsv#102, LinuxDevon/dbc_parser_cpp#8.
// The tests locale.FOLDER run all other tests so (locale/at_start.cpp).
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "stderr_text.hpp"
#include "temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <locale/comma_locale.hpp>

#include <lamina/dataset/csv.hpp>
#include <lamina/executor/executor.hpp>
#include <lamina/inspect/program_text.hpp>
#include <lamina/inspect/report.hpp>
#include <lamina/io/export_onnx.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_json.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/metric/auc.hpp>
#include <lamina/metric/precision_recall.hpp>
#include <lamina/metric/weighted_average.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/optimizer/exponential_moving_average.hpp>
#include <lamina/train/events/progress_bar.hpp>

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
  {"name": "half", "type": {"type": "LOD_TENSOR",
    "lodTensor": {"tensor": {"dataType": "FP32", "dims": ["1"]}}}}],
  "ops": [{"type": "fill_constant", "outputs": [{"parameter": "Out", "arguments": ["half"]}],
    "attrs": [{"name": "shape", "type": "LONGS", "longs": ["1"]},
      {"name": "value", "type": "FLOAT", "f": "0.25"},
      {"name": "other", "type": "FLOAT", "f": 0.75},
      {"name": "str_value", "type": "STRING", "s": "0.5"},
      {"name": "dtype", "type": "INT", "i": 5}]}]}]})";

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "no error";
}

/// All texts and files that hold numbers.
std::vector<std::string> everything() {
  std::vector<std::string> all;
  const temporary_folder folder;
  const lamina::model m{net};
  const lamina::program_message message = lamina::to_program_message(net);
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
  std::ostringstream printed;                               // follows the locale
  executor.run_startup(net.view(), parameters);
  const lamina::feed_map feed{{"x", lamina::tensor({1, 2}, std::vector<float>{1234.5f, 0.25f})}};
  executor.run(net.view(), parameters, feed, lamina::run_options{.print_to = &printed});
  all.push_back(printed.str().substr(printed.str().find("shape")));
  all.push_back(error_of([] { lamina::metric::weighted_average().update(1, -0.5); }));
  all.push_back(error_of([] { lamina::metric::auc().update(std::array{1.5}, std::array{1}); }));
  all.push_back(
      error_of([] { lamina::metric::precision().update(std::array{1.5}, std::array{1}); }));
  all.push_back(error_of([] { lamina::optimizer::exponential_moving_average average(1.5f); }));
  return all;
}

}  // namespace

TEST_CASE("locale: numbers are read and written the same under a decimal comma") {
  const std::vector<std::string> wanted = everything();
  CHECK(wanted[6] == "at 0.1250 s, 1e-07, 1,5");
  const temporary_folder folder;
  if (!test::use_comma_locale() &&
      !(test::make_comma_locale(folder.path()) && test::use_comma_locale())) {
    WARN(test::no_comma_locale);
    return;
  }
  const std::vector<std::string> found = everything();
  test::use_classic_locale();
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("text " << i);
    CHECK(found[i] == wanted[i]);
  }
}

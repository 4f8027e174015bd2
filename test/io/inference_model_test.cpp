// SPDX-License-Identifier: Apache-2.0
// inference_model: the part that the targets need, damage, unfinished files.

#include "io/program_samples.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/inference_model.hpp>
#include <lamina/transform/clone_for_test.hpp>

using Catch::Contains;
using lamina::lod_tensor;
using lamina::tensor;

namespace {

std::vector<float> values(const lod_tensor& t) {
  const auto& a = t.as<float>();
  return {a.begin(), a.end()};
}

template <class T>
lod_tensor counted(lamina::tensor_shape shape) {
  std::vector<T> numbers;
  for (std::size_t i = 0; i < lamina::size_of(shape); ++i)
    numbers.push_back(static_cast<T>(3 * i + 1));
  return tensor(shape, numbers);
}

struct trained {
  trained() {
    executor.run_startup(samples::perceptron.view(), variables, 4);
    std::vector<float> x;
    for (int i = 0; i < 12; ++i) x.push_back(0.3f * static_cast<float>(i % 5) - 0.5f);
    feed["x"] = tensor({3, 4}, x);
    feed["y"] = tensor({3, 1}, std::vector<std::int64_t>{0, 2, 1});
  }
  lamina::executor executor;
  lamina::scope variables;
  lamina::feed_map feed;
};

}  // namespace

TEST_CASE("inference model: a loop keeps its block") {
  const temporary_folder folder;
  lamina::executor executor;
  lamina::scope variables;
  executor.run_startup(samples::loop.view(), variables, 2);
  const lamina::program_view p = samples::loop.view();
  save_inference_model(folder.path(), p, variables, {lamina::variable_name(p, p.outputs[0])});
  const lamina::inference_model m = lamina::load_inference_model(folder.path());
  CHECK(m.program.message().blocks.size() == 2);
  const lamina::feed_map feed{{"x", counted<float>({2, 3})}};
  CHECK(values(executor.run(p, variables, feed).at(0)) ==
        values(executor.run(m.program, *m.variables, feed).at(0)));
}

TEST_CASE("inference model: files that are cut, missing, too long or of other variables") {
  trained t;
  const temporary_folder folder;
  const lamina::inference_files one{"__model__", "all"};
  save_inference_model(folder.path(), samples::perceptron.view(), t.variables, {"p.tmp_0"}, one);
  for (const std::string& name : {one.program, one.parameters}) {
    const std::string path = folder.path() + "/" + name;
    const std::string whole = lamina::read_file(path);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      lamina::write_file(path, whole.substr(0, n));
      bool refused = false;
      try {
        const auto m = lamina::load_inference_model(folder.path(), one);
        refused =
            name == one.program && m.program.message().version == 0;  // cut before the version
      } catch (const lamina::format_error& e) {
        refused = e.file() == path;
      }
      if (!refused) FAIL_CHECK(name << " cut after " << n << " bytes was read");
    }
    lamina::write_file(path, whole);
  }
  const std::string path = folder.path() + "/all";
  const std::string whole = lamina::read_file(path);
  lamina::write_file(path, whole + "x");
  CHECK_THROWS_WITH(lamina::load_inference_model(folder.path(), one),
                    Contains("found 1 more bytes"));
  CHECK_THROWS_WITH(lamina::load_inference_model(folder.path()),
                    Contains("/fc_0.b_0, offset 0: expected the value of variable 'fc_0.b_0', "
                             "found no file"));
  CHECK_THROWS_WITH(lamina::load_inference_model(folder.path() + "/none"),
                    Contains("/none/__model__: cannot be opened"));

  lamina::write_file(path, whole);
  lamina::scope other;
  other.var("fc_0.b_0") = t.variables.get("fc_0.b_0");
  other.var("fc_0.w_0") = counted<float>({4, 7});
  for (const char* name : {"logits.b_0", "logits.w_0"}) other.var(name) = t.variables.get(name);
  save_variables(folder.path(), other, other.names(), "all");
  CHECK_THROWS_WITH(
      lamina::load_inference_model(folder.path(), one),
      Contains("/all, offset 56: expected float32 [4, 8] for variable 'fc_0.w_0', found float32 "
               "[4, 7]"));

  save_inference_model(folder.path(), samples::perceptron.view(), t.variables, {"p.tmp_0"});
  other.var("fc_0.b_0") = counted<float>({2, 4});
  save_variables(folder.path(), other, {"fc_0.b_0"});
  CHECK_THROWS_WITH(lamina::load_inference_model(folder.path()),
                    Contains("expected float32 [8] for variable 'fc_0.b_0', found float32 [2, 4]"));
  other.var("fc_0.b_0") = counted<double>({8});
  save_variables(folder.path(), other, {"fc_0.b_0"});
  CHECK_THROWS_WITH(lamina::load_inference_model(folder.path()), Contains("found float64 [8]"));
  CHECK_THROWS_WITH(
      save_inference_model(folder.path(), samples::perceptron.view(), t.variables, {"q"}),
      Contains("expected targets that are variables of block 0, found 'q'"));
  other.var("../up") = counted<float>({1});
  CHECK_THROWS_WITH(save_variables(folder.path(), other, {"../up"}),
                    Contains("expected the name of a variable as a file, found '../up'"));
  CHECK_THROWS_WITH(save_variables(folder.path(), other, {"absent"}),
                    Contains("expected a value for variable 'absent'"));
}

TEST_CASE("a file that is not finished leaves the old one whole") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/value";
  lamina::write_file(path, "old");
  {
    lamina::binary_writer to(path);
    to.write("half of the new");
  }
  CHECK(lamina::read_file(path) == "old");
  lamina::binary_writer to(path);
  to.write("new");
  CHECK(lamina::read_file(path) == "old");
  to.finish();
  CHECK(lamina::read_file(path) == "new");
  int left = 0;
  lamina::for_each_name(folder.path(), [&](std::string_view name) { left += name[0] != '.'; });
  CHECK(left == 1);
  CHECK_THROWS_WITH(lamina::binary_writer(folder.path() + "/no/where"),
                    Contains("cannot be written"));
}

// SPDX-License-Identifier: Apache-2.0
// What the jobs log is what the program computes: metrics of the pass so far and of the
// mini-batches since the last line, costs, gradients; and what they leave in files goes on.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

#include "dataset/temporary_file.hpp"
#include "model/scores.hpp"
#include <catch2/catch.hpp>

#include <lamina/cli/trainer_config.hpp>
#include <lamina/cli/trainer_jobs.hpp>

namespace fs = std::filesystem;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;

namespace {

using samples = std::vector<scored::sample>;

/// A log in memory.
class kept_log {
 public:
  kept_log() : file_(std::tmpfile()), log_(file_) { REQUIRE(file_ != nullptr); }
  ~kept_log() { std::fclose(file_); }
  lamina::trainer_log& operator*() { return log_; }
  /// The lines so far without their heads; dots are lines too.
  std::vector<std::string> lines() {
    std::string text(1 << 16, '\0');
    std::rewind(file_);
    text.resize(std::fread(text.data(), 1, text.size(), file_));
    std::vector<std::string> all;
    for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
      end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      all.push_back(line[0] == 'I' ? line.substr(line.find("] ") + 2) : line);
    }
    return all;
  }

 private:
  std::FILE* file_;
  lamina::trainer_log log_;
};

/// The numbers of a line by name: "a=1" after the word `from`.
std::map<std::string, double> numbers_in(std::string line, const std::string& from = "") {
  line = line.substr(line.find(from) + from.size());
  if (from == "Eval: ") line = line.substr(0, line.find("CurrentEval: "));
  std::map<std::string, double> all;
  const std::regex number("([A-Za-z_]+)=([-+.e0-9]+|nan)");
  for (std::sregex_iterator at(line.begin(), line.end(), number); at != std::sregex_iterator();
       ++at) {
    const std::string digits = (*at)[2];
    double& value = all[(*at)[1]];
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    CHECK((status == std::errc{} && end == digits.data() + digits.size()));
  }
  return all;
}

/// -log of the probability of a sample's class with weights (0, w).
double cost_of(const scored::sample& s, double w) {
  const double z = w * static_cast<double>(s.x);
  return std::log1p(std::exp(s.y == 1 ? -z : z));
}
double cost_of(const samples& all, double w = 1) {
  double sum = 0;
  for (const scored::sample& s : all) sum += cost_of(s, w);
  return sum / static_cast<double>(all.size());
}
samples part(const samples& all, std::size_t first, std::size_t end) {
  return {all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() + static_cast<std::ptrdiff_t>(std::min(end, all.size()))};
}

const samples train = scored::some_samples(2), test_samples = scored::some_samples(3);

/// A configuration whose weights stay, for exact expectations.
const auto resting =
    lamina::trainer_config{"resting", scored::scores, optimizer::sgd{.learning_rate = 0.f},
                           train | reader::batch(5), test_samples | reader::batch(4)};
const auto learning = lamina::trainer_config{
    "learning", scored::scores,
    [](const lamina::config_args& args) {
      return optimizer::momentum{.learning_rate = args.get("rate", 0.3f), .momentum = 0.9f};
    },
    train | reader::shuffle(50) | reader::batch(5)};

/// The weights (0, 1) as a file of a model.
std::string weights_in(const test::temporary_directory& folder) {
  lamina::model m{scored::scores};
  scored::set_weights(m);
  m.save(folder.path() + "/weights");
  return folder.path() + "/weights";
}
std::string bytes_of(const std::string& path) {
  std::ifstream from(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}

}  // namespace

TEST_CASE("log lines have the metrics and costs of the pass so far, and of those since the last",
          "[threads]") {
  const test::temporary_directory folder;
  lamina::trainer_flags flags;
  flags.init_model_path = weights_in(folder);
  flags.num_passes = 2;
  flags.log_period = 3;
  flags.test_period = 4;
  flags.dot_period = 2;
  for (const int threads : {1, 3}) {
    kept_log log;
    const auto program = resting.make({}, {.threads = threads});
    lamina::detail::train_job(*program, "resting", flags, *log).train();
    std::vector<std::string> batches, passes, tests;
    const std::vector<std::string> lines = log.lines();
    std::string order;
    for (const std::string& line : lines) {
      if (line.starts_with(" Batch=")) batches.push_back(line), order += 'B';
      if (line.starts_with(" Pass=")) passes.push_back(line), order += 'P';
      if (line.starts_with(" Test ")) tests.push_back(line), order += 'T';
      if (line[0] == '.') order += line;
    }
    // 9 mini-batches: logged after 3, 6 and 9, tested after 4, 8 and the pass. A dot after each
    // second mini-batch that is not logged.
    CHECK(order == ".B.TB.TBPT.B.TB.TBPT");
    REQUIRE(batches.size() == 6);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const std::size_t after = i % 3 * 3 + 3;
      const samples so_far = part(train, 0, after * 5),
                    now = part(train, (after - 3) * 5, after * 5);
      INFO(batches[i]);
      const auto head = numbers_in(batches[i]);
      CHECK(head.at("Batch") == static_cast<double>(after));
      CHECK(head.at("samples") == static_cast<double>(so_far.size()));
      CHECK(head.at("AvgCost") == Approx(cost_of(so_far)).epsilon(1e-5));
      CHECK(head.at("CurrentCost") == Approx(cost_of(now)).epsilon(1e-5));
      auto expected = scored::values_of(so_far);
      for (const auto& [name, value] : expected)
        CHECK(numbers_in(batches[i], "Eval: ").at(name) == Approx(value).epsilon(1e-3));
      for (const auto& [name, value] : scored::values_of(now))
        CHECK(numbers_in(batches[i], "CurrentEval: ").at(name) ==
              Approx(name == "auc" ? expected.at(name) : value).epsilon(1e-3));
    }
    REQUIRE(passes.size() == 2);
    CHECK(passes[1].starts_with(" Pass=1 Batch=9 samples=41 AvgCost="));
    for (const std::string& pass : passes)
      for (const auto& [name, value] : scored::values_of(train))
        CHECK(numbers_in(pass, "Eval: ").at(name) == Approx(value).epsilon(1e-3));
    REQUIRE(tests.size() == 6);
    for (const std::string& test : tests) {
      CHECK(numbers_in(test).at("samples") == 41);
      CHECK(numbers_in(test).at("cost") == Approx(cost_of(test_samples)).epsilon(1e-5));
      for (const auto& [name, value] : scored::values_of(test_samples))
        CHECK(numbers_in(test).at(name) == Approx(value).epsilon(1e-3));
    }
  }
}

TEST_CASE("parameter statistics: the values after an update, and the gradient of that update") {
  const test::temporary_directory folder;
  lamina::trainer_flags flags;
  flags.init_model_path = weights_in(folder);
  flags.num_passes = 1;
  flags.show_parameter_stats_period = 4;
  flags.dot_period = 0;
  const samples first = part(train, 0, 20);
  const auto config = lamina::trainer_config{
      "sgd", scored::scores, optimizer::sgd{.learning_rate = 0.5f}, first | reader::batch(5)};
  for (const int threads : {1, 2}) {
    kept_log log;
    const auto program = config.make({}, {.threads = threads});
    lamina::detail::train_job(*program, "sgd", flags, *log).train();
    const std::vector<std::string> lines = log.lines();
    REQUIRE(lines.size() == 2);
    INFO(lines[0]);
    CHECK(lines[0].starts_with("w                    avg_abs_val="));
    // The same four steps in double: the gradients of the two weights are opposite.
    double a = 0, b = 1, slope = 0;
    for (std::size_t step = 0; step < 4; ++step) {
      slope = 0;
      for (const scored::sample& s : part(first, step * 5, step * 5 + 5)) {
        const double x = static_cast<double>(s.x), p = 1 / (1 + std::exp((a - b) * x));
        slope += (p - static_cast<double>(s.y)) * x / 5;
      }
      a += 0.5 * slope;
      b -= 0.5 * slope;
    }
    const auto found = numbers_in(lines[0]);
    CHECK(found.at("avg_abs_val") == Approx((std::fabs(a) + std::fabs(b)) / 2).epsilon(1e-4));
    CHECK(found.at("max_val") == Approx(std::max(std::fabs(a), std::fabs(b))).epsilon(1e-4));
    CHECK(found.at("avg_abs_grad") == Approx(std::fabs(slope)).epsilon(1e-4));
    CHECK(found.at("max_grad") == Approx(std::fabs(slope)).epsilon(1e-4));
    CHECK(lines[1].starts_with(" Pass=0 Batch=4 samples=20"));
  }
}

TEST_CASE("statistics, tests and logs change nothing; a run that goes on is the whole run") {
  const test::temporary_directory folder;
  const auto run = [&](const char* name, int start, int passes, bool watched) {
    lamina::trainer_flags flags;
    flags.save_dir = folder.path() + "/" + name;
    flags.start_pass = start;
    flags.num_passes = passes;
    flags.show_parameter_stats_period = watched ? 2 : 0;
    flags.log_period = watched ? 1 : 100;
    kept_log log;
    const auto program = learning.make(lamina::config_args("rate=0.2"), {.seed = 5});
    lamina::detail::train_job(*program, "learning", flags, *log).train();
  };
  run("whole", 0, 5, false);
  run("watched", 0, 5, true);
  run("parts", 0, 2, true);
  run("parts", 2, 3, false);
  for (const char* const file : {"/pass-00000/model", "/pass-00004/model", "/pass-00004/trainer"}) {
    const std::string whole = bytes_of(folder.path() + "/whole" + file);
    CHECK(whole.size() > 100);
    CHECK((whole == bytes_of(folder.path() + "/watched" + file)));
    CHECK((whole == bytes_of(folder.path() + "/parts" + file)));
  }
  CHECK((bytes_of(folder.path() + "/whole/pass-00003/model") !=
         bytes_of(folder.path() + "/whole/pass-00004/model")));
}

TEST_CASE("passes are saved by a period and at the end, one or all") {
  const test::temporary_directory folder;
  const auto saved = [&](const char* name, int start, int passes, int period, bool one) {
    lamina::trainer_flags flags;
    flags.save_dir = folder.path() + "/" + name;
    flags.start_pass = start;
    flags.num_passes = passes;
    flags.saving_period = period;
    flags.save_only_one = one;
    kept_log log;
    const auto program = learning.make({}, {});
    lamina::detail::train_job(*program, "learning", flags, *log).train();
    std::string all;
    for (int pass = 0; pass < 20; ++pass)
      if (fs::exists(lamina::pass_folder(flags.save_dir, pass).path() + "/done"))
        all += std::to_string(pass) + " ";
    return all;
  };
  CHECK(saved("all", 0, 3, 1, false) == "0 1 2 ");
  CHECK(saved("all", 3, 2, 1, false) == "0 1 2 3 4 ");
  CHECK(saved("period", 0, 6, 2, false) == "0 2 4 5 ");
  CHECK(saved("one", 0, 6, 2, true) == "5 ");
  CHECK(saved("none", 0, 0, 1, false).empty());
}

TEST_CASE("the job test loads each model; times are of as many steps as asked for") {
  const test::temporary_directory folder;
  lamina::trainer_flags flags;
  flags.job = "test";
  kept_log log;
  const auto program = resting.make({}, {.threads = 2});
  CHECK_THROWS_WITH(
      lamina::detail::test_job(*program, flags, *log),
      "lamina: --job=test: expected --init_model_path, or --test_pass and --save_dir, "
      "found neither");
  flags.init_model_path = weights_in(folder);
  lamina::detail::test_job(*program, flags, *log);
  CHECK(log.lines().back().starts_with(" Pass=0 samples=41 AvgCost="));
  CHECK(numbers_in(log.lines().back()).at("AvgCost") ==
        Approx(cost_of(test_samples)).epsilon(1e-5));
  CHECK(numbers_in(log.lines().back()).at("auc") ==
        Approx(scored::values_of(test_samples).at("auc")).epsilon(1e-3));
  CHECK_THROWS_WITH(lamina::detail::test_job(*learning.make({}, {}), flags, *log),
                    "lamina: --job=test: expected test data in the configuration, found none");
  CHECK_THROWS_WITH(
      resting.make({}, {.use_gpu = true}),
      Catch::Contains("lamina: --use_gpu: expected a program that was compiled for a device") &&
          Catch::Contains("<lamina/lamina.cuh>") && Catch::Contains("lamina_cuda"));

  kept_log timed;
  flags = {};
  flags.job = "time";
  flags.test_period = 7;
  flags.log_period = 5;
  flags.dot_period = 0;
  lamina::detail::train_job(*program, "resting", flags, *timed).time();
  const std::vector<std::string> lines = timed.lines();
  REQUIRE(lines.size() == 7);
  CHECK(lines[0] == "Burning time...");
  CHECK(lines[1].starts_with(" Batch=5 samples=25 "));
  CHECK(lines[2].starts_with(" Batch=10 samples=50 "));
  CHECK(lines[3] == "Burning time end.");
  CHECK(lines[4].starts_with(" Batch=5 samples=25 "));
  CHECK(lines[5] == "======= StatSet: [GlobalStatInfo] status ======");
  const auto times = numbers_in(lines[6]);
  CHECK(times.at("count") == 7);
  CHECK(times.at("min") <= times.at("avg"));
  CHECK(times.at("avg") <= times.at("max"));
  CHECK(times.at("total") == Approx(7 * times.at("avg")).epsilon(1e-4));
}

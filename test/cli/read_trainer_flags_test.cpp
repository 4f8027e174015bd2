// SPDX-License-Identifier: Apache-2.0
// Flags are read as gflags reads them, which PaddlePaddle v2 uses.
#include <initializer_list>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/cli/read_trainer_flags.hpp>

namespace {

lamina::trainer_flags read(std::initializer_list<const char*> arguments) {
  std::vector<const char*> all{"program"};
  all.insert(all.end(), arguments);
  return lamina::read_trainer_flags(static_cast<int>(all.size()), all.data(), {"lr", "cnn"});
}
std::string mistake_in(std::initializer_list<const char*> arguments) {
  try {
    (void)read(arguments);
  } catch (const lamina::usage_error& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("without flags the defaults are those of PaddlePaddle v2") {
  const auto f = lamina::read_trainer_flags(0, nullptr);
  CHECK(f.job == "train");
  CHECK(f.num_passes == 100);
  CHECK(f.start_pass == 0);
  CHECK(f.test_pass == -1);
  CHECK(f.trainer_count == 1);
  CHECK(f.log_period == 100);
  CHECK(f.dot_period == 1);
  CHECK(f.test_period == 0);
  CHECK(f.saving_period == 1);
  CHECK(f.show_parameter_stats_period == 0);
  CHECK(f.seed == 1);
  CHECK(f.checkgrad_eps == 1e-5);
  CHECK_FALSE(f.use_gpu);
  CHECK_FALSE(f.save_only_one);
  CHECK_FALSE(f.test_all_data_in_one_period);
  CHECK(f.config.empty());
  CHECK(f.save_dir.empty());
  CHECK(f.answer.empty());
}

TEST_CASE("the flags of a script of v2") {
  const auto f =
      read({"train", "--num_passes=12", "--test_all_data_in_one_period=true", "--trainer_count=3",
            "--use_gpu=0", "--show_parameter_stats_period=40", "--config=configs/digits.linear.py",
            "--save_dir=passes/linear", "--log_period=80"});
  CHECK(f.config == "configs/digits.linear.py");
  CHECK(f.save_dir == "passes/linear");
  CHECK(f.trainer_count == 3);
  CHECK(f.log_period == 80);
  CHECK(f.num_passes == 12);
  CHECK_FALSE(f.use_gpu);
  CHECK(f.show_parameter_stats_period == 40);
  CHECK(f.test_all_data_in_one_period);
}

TEST_CASE("one hyphen or two, values after = or a blank, the last one counts") {
  CHECK(read({"-config=a", "-num_passes", "3"}).config == "a");
  CHECK(read({"-config=a", "-num_passes", "3"}).num_passes == 3);
  CHECK(read({"--config", "a=b,c d"}).config == "a=b,c d");
  CHECK(read({"--config_args=a=1,b=2"}).config_args == "a=1,b=2");
  CHECK(read({"--num_passes=3", "--num_passes=0"}).num_passes == 0);
  CHECK(read({"--save_dir=a", "--save_dir="}).save_dir.empty());
  CHECK(read({"--save_dir", ""}).save_dir.empty());
  CHECK(read({"--test_pass=-1"}).test_pass == -1);
  CHECK(read({"--test_pass", "-1"}).test_pass == -1);
  CHECK(read({"--checkgrad_eps=1e-7"}).checkgrad_eps == 1e-7);
  CHECK(read({"--num_passes=2147483647"}).num_passes == 2147483647);
}

TEST_CASE("booleans") {
  for (const char* const yes : {"--use_gpu", "--use_gpu=1", "--use_gpu=true", "--use_gpu=True",
                                "-use_gpu=yes", "--use_gpu=t", "--use_gpu=Y"}) {
    INFO(yes);
    CHECK(read({yes}).use_gpu);
  }
  for (const char* const no : {"--nouse_gpu", "--use_gpu=0", "--use_gpu=false", "--use_gpu=FALSE",
                               "-use_gpu=no", "--use_gpu=f", "--use_gpu=n", "--nouse_gpu=true"}) {
    INFO(no);
    CHECK_FALSE(read({"--use_gpu", no}).use_gpu);
  }
  CHECK(read({"--nouse_gpu", "--use_gpu"}).use_gpu);
  CHECK(mistake_in({"--use_gpu=maybe"}) ==
        "lamina: --use_gpu: expected true or false, found 'maybe'");
  CHECK(mistake_in({"--use_gpu="}) == "lamina: --use_gpu: expected true or false, found ''");
  // gflags takes `false` for an argument of the program here, too
  CHECK(mistake_in({"--use_gpu", "false"}) ==
        "lamina: expected flags alone, found 'false'; a value follows its flag as --flag=value");
}

TEST_CASE("mistakes are one line that says what is expected") {
  CHECK(mistake_in({"--save_dri=x"}) ==
        "lamina: unknown flag --save_dri; the nearest is --save_dir");
  CHECK(mistake_in({"--show_param=3"}) ==
        "lamina: unknown flag --show_param; the nearest is --show_parameter_stats_period");
  CHECK(mistake_in({"--num_passes=3", "-foo", "3"}).starts_with("lamina: unknown flag --foo; the"));
  CHECK(mistake_in({"-x"}).starts_with("lamina: unknown flag --x; the nearest is --"));
  CHECK(mistake_in({"--pservers=a,b"}) ==
        "lamina: --pservers: this flag of PaddlePaddle v2 is not one of lamina's "
        "(docs/command_line.md)");
  CHECK(mistake_in({"--local=false"}).starts_with("lamina: --local: this flag of PaddlePaddle v2"));
  CHECK(mistake_in({"more"}) ==
        "lamina: expected the command train, version or usage, found 'more'");
  CHECK(
      mistake_in({"--config=a", "more"}).starts_with("lamina: expected flags alone, found 'more'"));
  CHECK(mistake_in({"--config=a", "train"}).starts_with("lamina: expected flags alone"));
  for (const char* const value : {"x", "1.5", "-1", "", " 1", "1 ", "2147483648", "0x10", "+1"}) {
    INFO(value);
    const std::string flag = std::string("--num_passes=") + value;
    CHECK(mistake_in({flag.c_str()}) ==
          "lamina: --num_passes: expected a whole number from 0 to "
          "2147483647, found '" +
              std::string(value) + "'");
  }
  CHECK(mistake_in({"--log_period=0"})
            .starts_with("lamina: --log_period: expected a whole number "
                         "from 1 to"));
  for (const char* const value : {"0", "-1", "1", "nan", "x", ""}) {
    INFO(value);
    const std::string flag = std::string("--checkgrad_eps=") + value;
    CHECK(mistake_in({flag.c_str()})
              .starts_with("lamina: --checkgrad_eps: expected a number "
                           "between 0 and 1, found"));
  }
  CHECK(mistake_in({"--job=tset"}) ==
        "lamina: --job: expected train, test, time or checkgrad, found 'tset'");
  const std::string missing = mistake_in({"--num_passes"});
  CHECK(missing.starts_with("lamina: --num_passes: "));
  CHECK(missing.find('\n') == missing.npos);
}

TEST_CASE("help and version are answers, whatever else there is") {
  for (const auto& f : {read({"--help"}), read({"-h"}), read({"usage"}), read({"train", "--help"}),
                        read({"--job=nothing", "--help"})}) {
    CHECK(f.answer.find("--show_parameter_stats_period NUMBER") != f.answer.npos);
    CHECK(f.answer.find("program") != f.answer.npos);
    CHECK(f.answer.find("Programs: lr, cnn") != f.answer.npos);
  }
  for (const auto& f : {read({"--version"}), read({"version"})})
    CHECK(f.answer.starts_with("lamina 0."));
}

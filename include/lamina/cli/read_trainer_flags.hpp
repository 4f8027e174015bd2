// SPDX-License-Identifier: Apache-2.0
// lamina/cli/read_trainer_flags.hpp - reads the flags of `paddle train` with CLI11.
#pragma once

#include <lamina/core/config.hpp>

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <CLI/CLI.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#include <lamina/cli/trainer_flags.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/nearest_word.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Flags of PaddlePaddle v2 that lamina rejects, because it does not have the feature or implements
/// it in another way.
inline constexpr std::string_view absent_flags[] = {"average_test_period",
                                                    "beam_size",
                                                    "comment",
                                                    "distribute_test",
                                                    "feat_file",
                                                    "feed_data",
                                                    "load_missing_parameter_strategy",
                                                    "loadsave_parameters_in_pserver",
                                                    "local",
                                                    "log_clipping",
                                                    "log_error_clipping",
                                                    "log_period_server",
                                                    "model_list",
                                                    "nics",
                                                    "num_gradient_servers",
                                                    "parallel_nn",
                                                    "port",
                                                    "ports_num",
                                                    "ports_num_for_sparse",
                                                    "predict_file",
                                                    "predict_output_dir",
                                                    "prev_batch_state",
                                                    "pservers",
                                                    "rdma_tcp",
                                                    "saving_period_by_batches",
                                                    "show_layer_stat",
                                                    "start_pserver",
                                                    "test_wait",
                                                    "trainer_id",
                                                    "use_mkl_packed",
                                                    "use_mkldnn",
                                                    "use_old_updater",
                                                    "with_cost"};

/// Returns the value of a flag that must be a whole number of at least `low`. Throws usage_error
/// for any other value.
LAMINA_COLD inline int number_of_flag(std::string_view flag, std::string_view letters, int low) {
  int value = 0;
  const char* const end = letters.data() + letters.size();
  const auto [stop, status] = std::from_chars(letters.data(), end, value);
  if (status != std::errc{} || stop != end || value < low)
    throw usage_error(text() << "lamina: " << flag << ": expected a whole number from " << low
                             << " to " << (std::numeric_limits<int>::max)() << ", found '"
                             << letters << "'");
  return value;
}
LAMINA_COLD inline double step_of_flag(std::string_view flag, std::string_view letters) {
  double value = 0;
  const char* const end = letters.data() + letters.size();
  const auto [stop, status] = std::from_chars(letters.data(), end, value);
  if (status != std::errc{} || stop != end || !(value > 0 && value < 1))
    throw usage_error(text() << "lamina: " << flag << ": expected a number between 0 and 1, found '"
                             << letters << "'");
  return value;
}

/// Converts the arguments to the form that CLI11 reads. PaddlePaddle uses gflags, which also
/// accepts one hyphen in place of two, and yes, no, t, f, y and n as booleans. Removes a first
/// argument `train`, the command of `paddle train`.
LAMINA_COLD inline std::vector<std::string> normalized_arguments(
    int argc, const char* const* argv, const std::vector<std::string_view>& booleans,
    std::string& answer_to) {
  std::vector<std::string> all;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (i == 1 && !argument.starts_with('-')) {
      if (argument == "train") continue;
      if (argument != "version" && argument != "usage")
        throw usage_error(text() << "lamina: expected the command train, version or usage, found '"
                                 << argument << "'");
      answer_to = argument;
      return {};
    }
    if (argument.size() > 2 && argument[0] == '-' && argument[1] != '-')
      argument.insert(argument.begin(), '-');
    for (const std::string_view name : booleans) {
      if (!argument.starts_with(name) || argument.size() == name.size() ||
          argument[name.size()] != '=')
        continue;
      std::string value = argument.substr(name.size() + 1);
      for (char& c : value) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      bool is_yes = false, is_no = false;
      for (const std::string_view yes : {"true", "t", "yes", "y", "1"}) is_yes |= value == yes;
      for (const std::string_view no : {"false", "f", "no", "n", "0"}) is_no |= value == no;
      if (!is_yes && !is_no)
        throw usage_error(text() << "lamina: " << name << ": expected true or false, found '"
                                 << argument.substr(name.size() + 1) << "'");
      argument = text() << name << (is_yes ? "=true" : "=false");
    }
    // CLI11 rejects --save_dir= without a value, which a script may produce from an empty variable.
    // So such a flag gets an empty argument as its value.
    const bool is_empty = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    all.push_back(is_empty ? argument.substr(0, argument.size() - 1) : argument);
    if (is_empty) all.emplace_back();
  }
  return all;
}

/// Throws usage_error for an argument that is not a flag of this command line.
[[noreturn]] LAMINA_COLD inline void fail_argument(const std::string& argument,
                                                   const std::vector<std::string_view>& names) {
  if (!argument.starts_with("-"))
    throw usage_error(text() << "lamina: expected flags alone, found '" << argument
                             << "'; a value follows its flag as --flag=value");
  std::string_view name = argument;
  name = name.substr(0, name.find('='));
  while (name.starts_with('-')) name.remove_prefix(1);
  for (const std::string_view absent : absent_flags)
    if (name == absent)
      throw usage_error(text() << "lamina: --" << name
                               << ": this flag of PaddlePaddle v2 is not one of lamina's "
                                  "(docs/command_line.md)");
  throw usage_error(text() << "lamina: unknown flag --" << name << "; the nearest is --"
                           << nearest_word(name, names));
}

/// Defines the flags of a command line and reads them.
class flag_reader {
 public:
  flag_reader(trainer_flags& to, const std::vector<std::string_view>& configs) : to_(to) {
    define();
    text known;
    for (const std::string_view name : configs) known << (name == configs[0] ? "" : ", ") << name;
    if (!configs.empty()) app_.footer(text() << "Programs: " << known);
  }

  LAMINA_COLD void read(int argc, const char* const* argv) {
    if (argc > 0) app_.name(argv[0]);
    std::string command;
    std::vector<std::string> all = normalized_arguments(argc, argv, booleans_, command);
    if (command == "version") return answer_version();
    if (command == "usage") return answer_help();
    for (std::size_t i = 0, n = all.size(); i < n / 2; ++i) all[i].swap(all[n - 1 - i]);
    try {
      app_.parse(all);  // CLI11 reads the arguments from the last to the first
    } catch (const CLI::CallForHelp&) {
      return answer_help();
    } catch (const CLI::ParseError& e) {
      throw usage_error(text() << "lamina: " << std::string_view(e.what()));
    }
    if (version_) return answer_version();
    if (const std::vector<std::string> more = app_.remaining(); !more.empty())
      fail_argument(more.front(), names());
  }

 private:
  void define() {
    app_.set_help_flag("-h,--help", "Print this help");
    app_.allow_extras();  // fail_argument() reports unknown flags with the nearest name
    word("--config", to_.config, "The program to run; folders and .py do not count");
    word("--config_args", to_.config_args, "Arguments of the program: name=value,name=value");
    word("--job", to_.job, "train, test, time or checkgrad");
    number("--num_passes", to_.num_passes, 0, "Train for so many passes");
    number("--start_pass", to_.start_pass, 0,
           "Go on with this pass from the folder of the one before in --save_dir");
    number("--test_pass", to_.test_pass, -1,
           "--job=test: test the passes from this one to --num_passes");
    word("--save_dir", to_.save_dir, "Write a folder pass-00000 and so on for each pass to here");
    word("--init_model_path", to_.init_model_path,
         "Begin with these parameters: the folder of a pass, or a file");
    number("--trainer_count", to_.trainer_count, 1, "Threads, each for a part of a mini-batch");
    number("--log_period", to_.log_period, 1, "Log after so many mini-batches");
    number("--dot_period", to_.dot_period, 0, "Print a dot after so many mini-batches; 0: none");
    number("--test_period", to_.test_period, 0,
           "Test after so many mini-batches too; --job=time: run so many mini-batches");
    flag("test_all_data_in_one_period", to_.test_all_data_in_one_period,
         "Is always so: a test reads all test data");
    number("--show_parameter_stats_period", to_.show_parameter_stats_period, 0,
           "Show how large parameters and gradients are after so many mini-batches; 0: never");
    number("--saving_period", to_.saving_period, 1, "Save after so many passes");
    flag("save_only_one", to_.save_only_one, "Keep the folder of the last saved pass alone");
    number("--seed", to_.seed, 0, "Of first values and dropout; 0: from the clock");
    flag("use_gpu", to_.use_gpu, "Train on a CUDA device");
    number("--gpu_id", to_.gpu_id, 0, "The number of the device");
    app_.add_option_function<std::string>(
            "--checkgrad_eps",
            [this](const std::string& s) {
              to_.checkgrad_eps = step_of_flag("--checkgrad_eps", s);
            },
            "--job=checkgrad: how far the cost is to change, relative to itself")
        ->take_last()
        ->type_name("NUMBER")
        ->default_str("1e-05");
    app_.add_flag("--version", version_, "Print the version of lamina");
  }
  void word(const char* name, std::string& to, const char* help) {
    app_.add_option_function<std::string>(
            name, [&to](const std::string& s) { to = s; }, help)
        ->take_last()
        ->type_name("TEXT")
        ->default_str(to);
  }
  void number(const char* name, int& to, int low, const char* help) {
    app_.add_option_function<std::string>(
            name, [name, &to, low](const std::string& s) { to = number_of_flag(name, s, low); },
            help)
        ->take_last()
        ->type_name("NUMBER")
        ->default_str(text() << to);
  }
  void flag(std::string_view name, bool& to, const char* help) {
    app_.add_flag(text() << "--" << name << ",!--no" << name, to, help)->take_last();
    spelled_.push_back(text() << "--" << name);
    spelled_.push_back(text() << "--no" << name);
    booleans_.assign(spelled_.begin(), spelled_.end());
  }
  std::vector<std::string_view> names() {
    names_.clear();
    for (const CLI::Option* const o : app_.get_options())
      for (const std::string& name : o->get_lnames()) names_.push_back(name);
    return {names_.begin(), names_.end()};
  }
  void answer_help() { to_.answer = app_.help(); }
  void answer_version() {
    to_.answer = text() << "lamina " << LAMINA_VERSION_MAJOR << "." << LAMINA_VERSION_MINOR << "."
                        << LAMINA_VERSION_PATCH << "\n";
  }

  trainer_flags& to_;
  CLI::App app_{"Trains and tests programs of lamina, with the flags of PaddlePaddle v2"};
  bool version_ = false;
  std::vector<std::string> spelled_, names_;
  std::vector<std::string_view> booleans_;
};

}  // namespace detail

/// Reads the flags of `paddle train`. A flag has the form `--flag=value` or `--flag value`, with
/// one or two hyphens; a boolean flag may also be `--flag` or `--noflag`. If a flag is repeated,
/// its last value counts. The first argument may be the word `train`. Throws usage_error for an
/// unknown flag, with the nearest name, and for a value that a flag does not accept. The help lists
/// `configs`.
LAMINA_COLD inline trainer_flags read_trainer_flags(
    int argc, const char* const* argv, const std::vector<std::string_view>& configs = {}) {
  trainer_flags flags;
  detail::flag_reader(flags, configs).read(argc, argv);
  if (!flags.answer.empty()) return flags;
  for (const std::string_view job : {"train", "test", "time", "checkgrad"})
    if (flags.job == job) return flags;
  throw usage_error(text() << "lamina: --job: expected train, test, time or checkgrad, found '"
                           << flags.job << "'");
}

}}  // namespace lamina

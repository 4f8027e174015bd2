// SPDX-License-Identifier: Apache-2.0
// lamina/cli/trainer_main.hpp - gives a program the command line of `paddle train` of PaddlePaddle
// v2. Needs CLI11.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/cli/gradient_check.hpp>
#include <lamina/cli/pass_folder.hpp>
#include <lamina/cli/read_trainer_flags.hpp>
#include <lamina/cli/trained_program.hpp>
#include <lamina/cli/trainer_config.hpp>
#include <lamina/cli/trainer_flags.hpp>
#include <lamina/cli/trainer_jobs.hpp>
#include <lamina/cli/trainer_log.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/nearest_word.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

using config_list = std::span<const trainer_config_base* const>;

/// Converts "configs/digits.linear.py" to "digits.linear".
constexpr std::string_view name_of_config(std::string_view path) {
  path.remove_prefix(path.find_last_of("/\\") + 1);
  for (const std::string_view ending : {".py", ".conf"})
    if (path.size() > ending.size() && path.ends_with(ending))
      return path.substr(0, path.size() - ending.size());
  return path;
}

LAMINA_COLD inline std::vector<std::string_view> config_names(config_list configs) {
  std::vector<std::string_view> names;
  for (const trainer_config_base* const c : configs) names.push_back(c->name());
  return names;
}

/// Returns the configuration that --config names. Without this flag, returns the configuration that
/// wrote the folder with which training begins, or else the only configuration. If none of these
/// exists, throws lamina::error that lists all configurations.
LAMINA_COLD inline const trainer_config_base& find_config(config_list configs,
                                                          const trainer_flags& flags) {
  const std::vector<std::string_view> names = config_names(configs);
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (names[i] == names[k])
        throw error(text() << "lamina: trainer_main: expected configurations of different names, "
                              "found two of the name "
                           << names[i]);
  std::string wanted = flags.config;
  if (wanted.empty() && !flags.init_model_path.empty())
    wanted = configuration_of(flags.init_model_path);
  else if (wanted.empty() && flags.start_pass > 0 && !flags.save_dir.empty())
    wanted = configuration_of(pass_folder(flags.save_dir, flags.start_pass - 1).path());
  if (wanted.empty() && configs.size() == 1) return *configs[0];
  for (const trainer_config_base* const c : configs)
    if (c->name() == wanted || c->name() == name_of_config(wanted)) return *c;
  text known;
  for (const std::string_view name : names) known << (name == names[0] ? "" : ", ") << name;
  if (wanted.empty())
    throw usage_error(text() << "lamina: expected --config with one of " << known
                             << ", found none");
  throw usage_error(text() << "lamina: --config: expected one of " << known << ", found '" << wanted
                           << "'; the nearest is " << nearest_word(name_of_config(wanted), names));
}

/// Runs the job that --job names.
LAMINA_COLD inline void run_job(const trainer_config_base& config, const trainer_flags& flags,
                                trainer_log& log) {
  trained_program_options options;
  options.seed = static_cast<std::uint64_t>(flags.seed);
  if (flags.seed == 0) {
    options.seed = static_cast<std::uint64_t>(std::time(nullptr));
    log.line(text() << "seed=" << options.seed);
  }
  options.threads = flags.trainer_count;
  options.use_gpu = flags.use_gpu;
  options.gpu = flags.gpu_id;
  options.reads_train = flags.job != "test";
  options.reads_test = flags.job == "test" || flags.job == "train";
  const config_args args(flags.config_args);
  const std::unique_ptr<trained_program> program = config.make(args, options);
  if (flags.job == "test") return test_job(*program, flags, log);
  if (flags.job == "checkgrad") return check_gradients(*program, options.seed, flags, log);
  if (flags.job == "time") return train_job(*program, config.name(), flags, log).time();
  // Only this job calls the functions of all readers, which read the arguments.
  args.require_all_read();
  train_job(*program, config.name(), flags, log).train();
}

/// Prints an error as one line on stderr.
LAMINA_COLD inline void report_error(std::string_view what, trainer_log& log) {
  std::string line(what);
  for (char& c : line)
    if (c == '\n') c = ' ';
  if (!line.starts_with("lamina: ")) line = "lamina: " + line;
  log.end_dots();
  std::fputs((line + "\n").c_str(), stderr);
  std::fflush(stderr);
}

/// Does the work of trainer_main. It is not a template, so it is compiled once for all programs.
LAMINA_COLD inline int run_trainer_main(int argc, const char* const* argv, config_list configs) {
  trainer_log log;
  try {
    const trainer_flags flags = read_trainer_flags(argc, argv, config_names(configs));
    if (!flags.answer.empty()) {
      std::fputs(flags.answer.c_str(), stdout);
      return std::fflush(stdout) == 0 ? 0 : 1;
    }
    const trainer_config_base& config = find_config(configs, flags);
    text command;
    for (int i = 0; i < argc; ++i) command << (i == 0 ? "" : " ") << argv[i];
    log.line(text() << "commandline: " << command);
    run_job(config, flags, log);
    return 0;
  } catch (const usage_error& e) {
    report_error(e.what(), log);
    return 2;
  } catch (const std::exception& e) {
    report_error(e.what(), log);
    return 1;
  }
}

}  // namespace detail

/// Gives a program the command line of PaddlePaddle v2's `paddle train`:
///
///   int main(int argc, char** argv) {
///     return lamina::trainer_main(argc, argv,
///                                 lamina::trainer_config{"lr", lr, adam, train, test},
///                                 lamina::trainer_config{"cnn", cnn, adam, train, test});
///   }
///
///   ./program train --config=lr.py --save_dir=./output --num_passes=15 --log_period=100
///
/// `--config` selects one of the configurations, and `--job` the job: train, test, time, or
/// checkgrad, which needs <lamina/cli/checkgrad.hpp> in one file of the program.
/// docs/command_line.md lists all flags. The log is written to standard error, line by line.
/// Returns 0 on success, 1 after an error or a wrong gradient, and 2 for a mistake in the command
/// line. Catches exceptions that derive from std::exception and prints them as one line.
template <std::derived_from<detail::trainer_config_base>... Configs>
requires(sizeof...(Configs) > 0) int trainer_main(int argc, const char* const* argv,
                                                  const Configs&... configs) {
  const detail::trainer_config_base* const all[] = {&configs...};
  return detail::run_trainer_main(argc, argv, all);
}

}}  // namespace lamina

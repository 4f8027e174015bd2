// SPDX-License-Identifier: Apache-2.0
// lamina/cli/trainer_jobs.hpp - the jobs of `paddle train`: train, test and time.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/cli/pass_folder.hpp>
#include <lamina/cli/trained_program.hpp>
#include <lamina/cli/trainer_flags.hpp>
#include <lamina/cli/trainer_log.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Converts the metrics of a test to the form for log lines. They refer to `result`, which must
/// outlive them.
LAMINA_COLD inline std::vector<optimizer::metric_value> metrics_of(const test_result& result) {
  std::vector<optimizer::metric_value> all;
  for (const auto& m : result.metrics) all.push_back({m.name, m.value});
  return all;
}

/// Trains a program and logs as TrainerInternal of PaddlePaddle v2 does.
class train_job final : pass_listener {
 public:
  train_job(trained_program& program, const std::string& config, const trainer_flags& flags,
            trainer_log& log)
      : program_(program), config_(config), flags_(flags), log_(log) {}

  /// Trains for --num_passes passes. The first pass has the number --start_pass.
  LAMINA_COLD void train() {
    begin();
    for (int i = 0; i < flags_.num_passes; ++i) {
      const int pass = flags_.start_pass + i;
      pass_ = current_ = {};
      const std::int64_t batches = program_.train_pass(*this);
      log_.line(trainer_message::pass(pass, batches, pass_, program_.metrics()));
      if (program_.has_test_data()) test();
      // The last pass is always saved. (PaddlePaddle saves it only if its number is a multiple of
      // the period.)
      if (pass % flags_.saving_period == 0 || i + 1 == flags_.num_passes) save(pass);
    }
  }

  /// Trains on one mini-batch repeatedly, and reports how long a step takes.
  LAMINA_COLD void time() {
    if (const std::string model = first_model(flags_); !model.empty()) program_.load_model(model);
    program_.start_training();
    const std::int64_t samples = program_.read_minibatch();
    const std::int64_t count = flags_.test_period > 0 ? flags_.test_period : 100;
    log_.line("Burning time...");
    for (int n = 0; n < 10; ++n) step(n, samples);
    log_.line("Burning time end.");
    double total = 0, largest = 0, least = std::numeric_limits<double>::infinity();
    pass_ = current_ = {};
    program_.forget_pass();
    for (std::int64_t n = 0; n < count; ++n) {
      const double took = step(n, samples);
      total += took;
      largest = took > largest ? took : largest;
      least = took < least ? took : least;
    }
    log_.line("======= StatSet: [GlobalStatInfo] status ======");
    log_.line(trainer_message::times("FwdBwd", total, largest, least, count));
  }

 private:
  /// Loads the model, and makes the folder of --save_dir before the first step, so that a wrong
  /// folder is an error now and not after hours.
  void begin() {
    const std::string model = first_model(flags_);
    if (!flags_.save_dir.empty()) make_directories(flags_.save_dir);
    const bool goes_on = !model.empty() && flags_.init_model_path.empty();
    if (!model.empty() && !goes_on) program_.load_model(model);
    program_.start_training();
    if (goes_on)  // the trainer's file has the parameters too
      program_.load_trainer(pass_folder(flags_.save_dir, flags_.start_pass - 1).trainer());
  }

  void before_step(std::int64_t batch) override {
    if (batch % flags_.log_period == 0) {
      current_ = {};
      program_.forget_current();
    }
    if (is_due(flags_.show_parameter_stats_period, batch)) note_gradients();
  }
  void after_step(std::int64_t batch, std::int64_t samples, double cost) override {
    pass_.add(samples, cost);
    current_.add(samples, cost);
    if (is_due(flags_.show_parameter_stats_period, batch)) show_parameters();
    if (is_due(flags_.log_period, batch))
      log_.line(trainer_message::batch(batch + 1, pass_, current_, program_.metrics(),
                                       program_.current_metrics()));
    else if (is_due(flags_.dot_period, batch))
      log_.dot();
    if (is_due(flags_.test_period, batch) && flags_.job == "train" && program_.has_test_data())
      test();
  }
  /// Whether an action with this period is due after a mini-batch; with a period of 0 it never is.
  static bool is_due(int period, std::int64_t batch) {
    return period > 0 && (batch + 1) % period == 0;
  }

  void note_gradients() {
    program_.compute_gradients();
    gradients_.clear();
    for (int i = 0; i < program_.parameters().list.size(); ++i)
      gradients_.push_back(program_.gradient_magnitudes(i));
  }
  void show_parameters() {
    program_.copy_to_host();
    const parameter_memory all = program_.parameters();
    for (int i = 0; i < all.list.size(); ++i) {
      const parameter_info info = all.list.describe(i);
      log_.line(trainer_message::parameter(info.name, magnitudes_of(info, all.array[i]),
                                           gradients_[static_cast<std::size_t>(i)]));
    }
  }
  void test() {
    const test_result result = program_.test();
    log_.line(trainer_message::test(result.samples, result.cost, metrics_of(result)));
  }
  void save(int pass) {
    if (flags_.save_dir.empty()) return;
    const pass_folder folder(flags_.save_dir, pass);
    folder.begin();
    program_.save_trainer(folder.trainer());  // also copies the parameters from the device
    program_.save_model(folder.model());
    folder.finish(config_);
    if (flags_.save_only_one && saved_ >= 0) {
      const pass_folder old(flags_.save_dir, saved_);
      if (!old.remove())
        log_.line(text() << " " << old.path() << " cannot be removed: " << reason_of(errno));
    }
    saved_ = pass;
  }

  /// Runs one step of time(); returns its duration in milliseconds.
  double step(std::int64_t number, std::int64_t samples) {
    before_step(number);
    const double start = detail::system::steady_seconds();
    const double cost = program_.step();
    const double took = detail::system::steady_seconds() - start;
    after_step(number, samples, cost);
    return took * 1e3;
  }

  trained_program& program_;
  std::string config_;
  const trainer_flags& flags_;
  trainer_log& log_;
  cost_sum pass_, current_;
  std::vector<magnitudes> gradients_;
  int saved_ = -1;  // the last pass that this run has saved
};

/// Tests one model, or the models of the passes from --test_pass to --num_passes - 1.
LAMINA_COLD inline void test_job(trained_program& program, const trainer_flags& flags,
                                 trainer_log& log) {
  if (!program.has_test_data())
    throw error("lamina: --job=test: expected test data in the configuration, found none");
  const auto test = [&](int pass, const std::string& file) {
    program.load_model(file);
    const test_result result = program.test();
    cost_sum costs;
    costs.add(result.samples, result.cost);
    log.line(trainer_message::tested_pass(pass, costs, metrics_of(result)));
  };
  if (!flags.init_model_path.empty()) return test(0, model_file_at(flags.init_model_path));
  if (flags.test_pass < 0 || flags.save_dir.empty())
    throw error(
        "lamina: --job=test: expected --init_model_path, or --test_pass and --save_dir, "
        "found neither");
  for (int pass = flags.test_pass; pass < flags.num_passes; ++pass) {
    if (pass % flags.saving_period != 0) continue;
    const pass_folder folder(flags.save_dir, pass);
    folder.require_whole("--job=test");
    test(pass, folder.model());
  }
}

}}}  // namespace lamina::detail

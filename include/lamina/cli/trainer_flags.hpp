// SPDX-License-Identifier: Apache-2.0
// lamina/cli/trainer_flags.hpp - the flags of `paddle train` and their defaults.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The flags of a command line; names and defaults are those of PaddlePaddle v2.
struct trainer_flags {
  std::string config, config_args, save_dir, init_model_path;
  std::string job = "train";
  int num_passes = 100, start_pass = 0, test_pass = -1;
  int trainer_count = 1, gpu_id = 0;
  int log_period = 100, dot_period = 1, test_period = 0, saving_period = 1;
  int show_parameter_stats_period = 0;
  int seed = 1;
  double checkgrad_eps = 1e-5;
  bool use_gpu = false, save_only_one = false, test_all_data_in_one_period = false;

  std::string answer;  // the text for `--help` and `--version`; printed instead of running a job
};

/// The error for a mistake in the command line.
struct usage_error : error {
  using error::error;
};

}}  // namespace lamina

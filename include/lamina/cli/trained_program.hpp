// SPDX-License-Identifier: Apache-2.0
// lamina/cli/trained_program.hpp - an interface to a program, its optimizer and its readers. The
// jobs of a command line use this interface, so they are compiled once for all programs.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <lamina/cli/parameter_magnitudes.hpp>
#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/model/parameters/copy_arrays.hpp>
#include <lamina/optimizer/event.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The options of the command line that a program needs.
struct trained_program_options {
  std::uint64_t seed = 1;
  int threads = 1;
  bool use_gpu = false;
  int gpu = 0;
  // Whether the job reads the training data and the test data.
  bool reads_train = true, reads_test = true;
};

/// A mini-batch as one array per data layer, for code that does not know the type of the program.
struct minibatch_arrays {
  const std::byte* const* data;  // one array per data layer
  const int* rows;               // for each row domain, its number of rows
  // For each row domain, its sequence offsets; null without sequences.
  const int* const* offsets;
};

/// An interface whose functions train_pass() calls before and after each step.
class pass_listener {
 public:
  virtual ~pass_listener() = default;
  /// Called after mini-batch `batch` of the pass is read and before its update changes the
  /// parameters.
  virtual void before_step(std::int64_t batch) = 0;
  /// Called after the update; `cost` is the mean over the samples of the mini-batch.
  virtual void after_step(std::int64_t batch, std::int64_t samples, double cost) = 0;
};

/// A program with its model, optimizer and readers.
class trained_program {
 public:
  using metric_list = std::span<const optimizer::metric_value>;

  virtual ~trained_program() = default;

  /// Returns the program as it was recorded.
  virtual program_view program() const = 0;
  /// Returns the parameters on the host. If a device trains, they change only when copy_to_host()
  /// is called.
  virtual parameter_memory parameters() = 0;
  virtual void copy_to_host() = 0;
  virtual void load_model(const std::string& file) = 0;
  virtual void save_model(const std::string& file) = 0;

  /// Makes the trainer, which starts from the current parameters. The caller must call this
  /// function before load_trainer(), save_trainer(), train_pass() and step().
  virtual void start_training() = 0;
  virtual void load_trainer(const std::string& file) = 0;
  virtual void save_trainer(const std::string& file) = 0;
  /// Trains one pass; returns the number of mini-batches.
  virtual std::int64_t train_pass(pass_listener& listener) = 0;
  /// Reads the first mini-batch of the training data; returns its number of samples.
  virtual std::int64_t read_minibatch() = 0;
  /// Trains one step on the mini-batch of read_minibatch(); returns the cost before the update.
  virtual double step() = 0;

  /// Return the metrics of the pass so far, and the metrics of the mini-batches since
  /// forget_current(). Both restart with each pass. The result is valid until the next call.
  virtual metric_list metrics() = 0;
  virtual metric_list current_metrics() = 0;
  virtual void forget_current() = 0;
  virtual void forget_pass() = 0;

  /// Computes the gradients for the current mini-batch of a pass, or for the mini-batch of
  /// read_minibatch(), without an update. Returns the cost.
  virtual double compute_gradients() = 0;
  /// Return the magnitudes of the gradient of parameter i, and copy its elements row by row. If the
  /// cost does not depend on the parameter, all are zeros.
  virtual magnitudes gradient_magnitudes(int i) = 0;
  virtual void copy_gradient(int i, double* to) = 0;
  /// Returns the mini-batch of read_minibatch(). It is valid until the next mini-batch is read.
  virtual minibatch_arrays minibatch() = 0;

  virtual bool has_test_data() const = 0;
  /// Computes the cost and the metrics of all test data for the current parameters.
  virtual test_result test() = 0;
};

}}  // namespace lamina

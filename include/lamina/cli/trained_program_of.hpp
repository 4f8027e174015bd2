// SPDX-License-Identifier: Apache-2.0
// lamina/cli/trained_program_of.hpp - implements trained_program for a program, its optimizer and
// its readers. It is the only part of a command line that is compiled for each program.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/cli/trained_program.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/pointwise_evaluation.hpp>  // for --job=checkgrad, in another file
#include <lamina/reader/begin_pass.hpp>
#include <lamina/train/gradients/gradient_part.hpp>
#include <lamina/train/passes/minibatch_walk.hpp>
#include <lamina/train/passes/pass_means.hpp>
#include <lamina/train/trainer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The type of the test reader in a configuration without test data.
struct no_test_data {};

/// Makes the trainer and the evaluator on the CPU.
struct trained_at_host {
  template <class P, class Opt>
  using trainer_type = trainer<P, Opt>;
  template <class P>
  using evaluator_type = evaluator<P>;

  template <class Trainer, class P, class Opt>
  void make_trainer(std::optional<Trainer>& to, model<P>& m, Opt& opt,
                    const train_options& options) const {
    to.emplace(m, opt, options);
  }
  /// Makes the evaluator if it does not exist. It reads the parameters of the model, so it needs no
  /// copy of them.
  template <class Evaluator, class P>
  void make_evaluator(std::optional<Evaluator>& to, const model<P>& m,
                      const evaluator_options& options) const {
    if (!to) to.emplace(m, options);
  }
};

template <program_type P, class Opt, class Train, class Test, class Place>
class trained_program_of final : public trained_program {
  using training = training_program<P, Opt>;
  using gradients_type = gradient_part<P, training>;
  using trainer_type = typename Place::template trainer_type<P, Opt>;
  using evaluator_type = typename Place::template evaluator_type<P>;
  static constexpr bool has_test = !std::is_same_v<Test, no_test_data>;

 public:
  LAMINA_COLD trained_program_of(P program, Opt opt, std::shared_ptr<Train> train_data,
                                 std::shared_ptr<Test> test_data,
                                 const trained_program_options& options, const Place& at)
      : model_(program, options.seed),
        opt_(std::move(opt)),
        train_(std::move(train_data)),
        test_(std::move(test_data)),
        options_(options),
        at_(at) {}

  program_view program() const override { return P::view(); }
  parameter_memory parameters() override { return {parameters_in<P>(), model_.memory()}; }
  void copy_to_host() override {
    if (trainer_) trainer_->copy_to_host();
  }
  void load_model(const std::string& file) override { model_.load(file); }
  void save_model(const std::string& file) override { model_.save(file); }

  LAMINA_COLD void start_training() override {
    train_options options;
    options.threads = options_.threads;
    options.seed = options_.seed;
    options.on_event = [this](const event& e) { report(e); };
    at_.make_trainer(trainer_, model_, opt_, options);
  }
  void load_trainer(const std::string& file) override { trainer_->load(file); }
  void save_trainer(const std::string& file) override { trainer_->save(file); }
  LAMINA_COLD std::int64_t train_pass(pass_listener& listener) override {
    listener_ = &listener;
    trainer_->pass(*train_);
    return batches_;
  }
  LAMINA_COLD std::int64_t read_minibatch() override {
    auto elements = reader::begin_pass(*train_);
    minibatch_walk<P, decltype(elements)> walk(elements, feeder_, 0);
    if (!walk.next())
      throw error("lamina: train: expected at least one mini-batch of training data, found none");
    arrays_ = feeder_.view();
    return feeder_.rows();
  }
  LAMINA_COLD double step() override {
    const double cost = static_cast<double>(trainer_->step(feeder_.view()));
    add(cost, feeder_.rows());
    return cost;
  }

  metric_list metrics() override { return pass_.whole(); }
  metric_list current_metrics() override { return current_.whole(); }
  void forget_current() override { current_.clear(); }
  void forget_pass() override { pass_.clear(); }

  LAMINA_COLD double compute_gradients() override {
    if (!gradients_) {
      bool updated[bound(counts_of<P>.parameters)];
      for (int i = 0; i < counts_of<P>.parameters; ++i)
        updated[i] = update_constants_of<training>.first[i] >= 0 && !has_rows(i);
      gradients_ = std::make_unique<gradients_type>(model_.memory(), updated);
    }
    copy_to_host();
    const batch_view<P> batch = in_pass_ ? trainer_->minibatch() : feeder_.view();
    const std::int64_t step = trainer_ ? trainer_->steps() : 0;
    return static_cast<double>(
        gradients_->run(batch, batch, options_.seed, static_cast<std::uint64_t>(step)));
  }
  LAMINA_COLD magnitudes gradient_magnitudes(int i) override {
    const parameter_info info = model<P>::describe(i);
    if (has_rows(i)) return magnitudes_of(info, *gradients_->machine().gradient_rows(i));
    const float* const gradient = gradients_->gradient(i);
    return gradient == nullptr ? magnitudes{} : magnitudes_of(info, gradient);
  }
  LAMINA_COLD void copy_gradient(int i, double* to) override {
    const parameter_info info = model<P>::describe(i);
    std::fill_n(to, info.size(), 0.0);
    if (has_rows(i)) {
      const auto& rows = *gradients_->machine().gradient_rows(i);
      for (int r = 0; r < rows.size(); ++r)
        std::copy_n(rows.row(r), rows.columns(),
                    to + static_cast<std::ptrdiff_t>(rows.number(r)) * rows.columns());
    } else if (const float* const gradient = gradients_->gradient(i)) {
      std::vector<real_of<P>> numbers(info.size());
      unpack_like(info, gradient, numbers.data());
      std::copy(numbers.begin(), numbers.end(), to);
    }
  }
  minibatch_arrays minibatch() override {
    return {arrays_.data, arrays_.rows.count, arrays_.rows.offsets};
  }

  bool has_test_data() const override { return has_test; }
  LAMINA_COLD test_result test() override {
    if constexpr (has_test) {
      copy_to_host();
      at_.make_evaluator(evaluator_, model_, {.threads = options_.threads, .seed = options_.seed});
      return evaluator_->test(*test_);
    } else {
      throw error("lamina: test: expected test data in the configuration, found none");
    }
  }

 private:
  static bool has_rows(int i) { return rows_gradient_table<training>::table.of[i] >= 0; }

  void add(double cost, int samples) {
    pass_.add(trainer_->machine(), cost, samples);
    current_.add(trainer_->machine(), cost, samples);
  }
  LAMINA_COLD void report(const event& e) {
    if (e.is_begin_pass()) {
      in_pass_ = true;
      pass_.clear();
      current_.clear();
    } else if (e.is_begin_iteration()) {
      listener_->before_step(e.batch);
    } else if (e.is_end_iteration()) {
      add(e.cost, static_cast<int>(e.samples));
      listener_->after_step(e.batch, e.samples, e.cost);
    } else if (e.is_end_pass()) {
      in_pass_ = false;
      batches_ = e.batch;
    }
  }

  model<P> model_;
  Opt opt_;
  std::shared_ptr<Train> train_;
  std::shared_ptr<Test> test_;
  trained_program_options options_;
  Place at_;
  std::optional<trainer_type> trainer_;
  std::optional<evaluator_type> evaluator_;
  std::unique_ptr<gradients_type> gradients_;
  feeder<P> feeder_;
  batch_view<P> arrays_;
  pass_means<P> pass_, current_;
  pass_listener* listener_ = nullptr;
  std::int64_t batches_ = 0;
  bool in_pass_ = false;
};

}}}  // namespace lamina::detail

// SPDX-License-Identifier: Apache-2.0
// lamina/serve/batched_model.hpp - a model that answers requests of many threads. It computes
// waiting requests together, as one mini-batch.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <lamina/core/dtype.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/any_model.hpp>
#include <lamina/serve/batching_queue.hpp>
#include <lamina/serve/model_request.hpp>
#include <lamina/serve/request_form.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace serve {

/// Thrown for a request that was not computed. Another attempt, later or with another server, may
/// succeed.
class unavailable : public error {
 public:
  enum class reason { busy, late, stopping };

  unavailable(const std::string& what, reason why) : error(what), why_(why) {}
  reason why() const noexcept { return why_; }

 private:
  reason why_;
};

/// A report about a computed mini-batch: its number of requests, its number of rows, and how long
/// it took.
struct batch_report {
  int requests = 0;
  int rows = 0;
  std::chrono::nanoseconds time{};
};

/// Options of a batched_model.
struct batch_options {
  int workers = 1;       // number of threads that compute, each with its own evaluator
  queue_limits queue{};  // how many requests may wait, and how many rows a mini-batch has
  bool merges = true;    // false: each request is a mini-batch, needed if results of a
                         // sample depend on other samples
  std::function<void(const batch_report&)> on_batch{};  // called by all workers, also concurrently
};

/// Answers requests from any number of threads with one model. A worker takes the waiting requests,
/// up to the maximum number of rows of a mini-batch, and computes them together. If a mini-batch
/// fails, the worker computes each of its requests alone, so that only the faulty request gets the
/// error. exchange() replaces the model between two mini-batches, so each answer comes from a
/// single model.
///
///   lamina::serve::batched_model m{lamina::model{net}, {.workers = 2}};
///   const auto answer = m.answer(request, std::chrono::steady_clock::now() + 1s);
///
/// A request can select the outputs in any_model::outputs() that have rows and consist of numbers.
/// If a program has an output with a row per element of sequences, its requests are never computed
/// together.
class batched_model {
 public:
  using clock = std::chrono::steady_clock;

  /// Starts the workers. Throws lamina::error for options outside of their ranges, and for a model
  /// without outputs that have rows.
  explicit batched_model(any_model m, batch_options options = {})
      : options_(std::move(options)),
        current_(std::make_shared<const any_model>(std::move(m))),
        form_(*current_),
        merges_(options_.merges &&
                std::all_of(form_.outputs.begin(), form_.outputs.end(),
                            [](const any_variable& v) { return v.levels == 0; })),
        queue_({options_.queue.waiting, merges_ ? options_.queue.rows : 1, options_.queue.linger},
               {}) {
    if (options_.workers < 1 || options_.workers > 256)
      throw error(text() << "lamina: batched_model: expected 1 to 256 workers, found "
                         << options_.workers);
    if (form_.outputs.empty() || form_.inputs.empty())
      throw error(
          "lamina: batched_model: expected a program with data layers and with outputs that have "
          "rows, found none; give a layer a name, or return it");
    try {
      for (int i = 0; i < options_.workers; ++i) workers_.emplace_back([this] { work(); });
    } catch (...) {  // the operating system cannot start more threads
      close();
      throw;
    }
  }
  batched_model(const batched_model&) = delete;
  batched_model& operator=(const batched_model&) = delete;
  ~batched_model() { close(); }

  /// Returns the inputs and outputs that requests have.
  const request_form& form() const { return form_; }
  /// Returns the number of waiting requests.
  std::size_t waiting() const { return queue_.waiting(); }
  /// Returns the version of the model that the next mini-batch will use.
  std::uint64_t version() const {
    const std::lock_guard lock(mutex_);
    return version_;
  }

  /// Computes a request: waits until its mini-batch is computed, but not after the time `until`.
  /// Throws lamina::error for a request that does not fit the model. Throws unavailable if too many
  /// requests wait, if `until` has passed, and after close().
  model_answer answer(model_request request, clock::time_point until) {
    const int rows = form_.require(request, options_.queue.rows);
    auto made = std::make_unique<job>(job{std::move(request), {}, rows, until});
    std::future<model_answer> result = made->result.get_future();
    switch (queue_.put(std::move(made))) {
      case put_result::full:
        throw unavailable(text() << "lamina: batched_model: expected at most "
                                 << options_.queue.waiting << " waiting requests, found more",
                          unavailable::reason::busy);
      case put_result::closed:
        throw unavailable(
            "lamina: batched_model: expected a request before close(), found one "
            "after it",
            unavailable::reason::stopping);
      case put_result::taken:
        break;
    }
    if (result.wait_until(until) != std::future_status::ready) fail_late();
    return result.get();
  }

  /// Makes all later mini-batches use another model, and returns its version. The previous model is
  /// freed when the last mini-batch that uses it is computed. Throws lamina::error, and changes
  /// nothing, if the inputs or outputs of `next` differ from those of the current model.
  std::uint64_t exchange(any_model next) {
    const auto made = std::make_shared<const any_model>(std::move(next));
    if (!(request_form(*made) == form_))
      throw error(
          "lamina: batched_model: exchange: expected a model with the same inputs and "
          "outputs, found others");
    const std::lock_guard lock(mutex_);
    current_ = made;
    return ++version_;
  }

  /// Rejects all new requests, computes the waiting requests, and ends the workers.
  void close() {
    queue_.close();
    for (std::thread& t : workers_)
      if (t.joinable()) t.join();
  }

 private:
  struct job {
    model_request request;
    std::promise<model_answer> result;
    int rows;
    clock::time_point until;
  };
  using job_pointer = std::unique_ptr<job>;
  struct rows_of_job {
    int operator()(const job_pointer& j) const { return j->rows; }
  };

  [[noreturn]] static void fail_late() {
    throw unavailable("lamina: batched_model: expected an answer in time, found none",
                      unavailable::reason::late);
  }

  /// The evaluator of a worker, and the version of the model that it evaluates.
  struct state {
    std::uint64_t version = 0;
    std::unique_ptr<any_evaluator> evaluator;
  };

  void work() {
    state mine;
    for (;;) {
      std::vector<job_pointer> jobs = queue_.take();
      if (jobs.empty()) return;
      std::erase_if(jobs, [now = clock::now()](const job_pointer& j) {
        if (now <= j->until) return false;
        try {
          fail_late();
        } catch (...) {
          j->result.set_exception(std::current_exception());
        }
        return true;
      });
      if (!jobs.empty()) run(mine, jobs);
    }
  }
  void renew(state& mine) {
    std::shared_ptr<const any_model> now;
    {
      const std::lock_guard lock(mutex_);
      if (mine.version == version_) return;
      now = current_;
      mine.version = version_;
    }
    mine.evaluator.reset();
    try {
      mine.evaluator = std::make_unique<any_evaluator>(now->evaluator());
    } catch (...) {
      mine.version = 0;  // the worker loads the model again in the next mini-batch
      throw;
    }
  }
  void run(state& mine, std::span<job_pointer> jobs) {
    std::vector<model_answer> answers;
    std::exception_ptr fault;
    try {
      renew(mine);
      answers = compute(mine, jobs);
    } catch (...) {
      fault = std::current_exception();
    }
    if (fault == nullptr) {
      for (std::size_t i = 0; i < jobs.size(); ++i)
        jobs[i]->result.set_value(std::move(answers[i]));
    } else if (jobs.size() == 1) {
      jobs[0]->result.set_exception(fault);
    } else {
      for (std::size_t i = 0; i < jobs.size(); ++i) run(mine, jobs.subspan(i, 1));
    }
  }
  /// Computes the requests as one mini-batch.
  std::vector<model_answer> compute(state& mine, std::span<const job_pointer> jobs) {
    const auto begin = clock::now();
    std::vector<model_answer> answers(jobs.size());
    int rows = 0;
    for (const job_pointer& j : jobs) rows += j->rows;
    forward(*mine.evaluator, jobs);
    std::vector<std::string_view> names;
    for (const job_pointer& j : jobs)
      for (const std::string& name : j->request.outputs)
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    for (const std::string_view name : names) {
      const any_variable& v = *form_.output(name);
      const named_values whole = values(*mine.evaluator, v);
      const std::size_t all = static_cast<std::size_t>(whole.shape[0]);
      const std::size_t row_bytes = all == 0 ? 0 : whole.bytes.size() / all;
      if (v.levels == 0 && all != static_cast<std::size_t>(rows))
        throw error(text() << "lamina: output " << name << ": expected " << rows
                           << " rows, one per sample, found " << all);
      std::size_t first = 0;
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        const std::size_t count =
            v.levels == 0 ? static_cast<std::size_t>(jobs[i]->rows) : all;  // one job, see merges_
        const std::vector<std::string>& wanted = jobs[i]->request.outputs;
        for (std::size_t k = 0; k < wanted.size(); ++k) {
          if (wanted[k] != name) continue;
          answers[i].outputs.resize(wanted.size());
          named_values& to = answers[i].outputs[k];
          to.name = whole.name;
          to.type = whole.type;
          to.shape = whole.shape;
          to.shape[0] = static_cast<std::int64_t>(count);
          to.bytes = whole.bytes.substr(first * row_bytes, count * row_bytes);
        }
        first += count;
      }
    }
    for (model_answer& a : answers) {
      a.version = mine.version;
      a.batch_rows = rows;
    }
    if (options_.on_batch)
      options_.on_batch({static_cast<int>(jobs.size()), rows, clock::now() - begin});
    return answers;
  }
  /// Concatenates the inputs of all requests, feeds them, and runs the program.
  void forward(any_evaluator& e, std::span<const job_pointer> jobs) const {
    const auto given = [&](const job_pointer& j, const std::string& name) -> const named_values& {
      return *std::find_if(j->request.inputs.begin(), j->request.inputs.end(),
                           [&](const named_values& v) { return v.name == name; });
    };
    std::vector<named_values> concatenated(form_.inputs.size());
    std::vector<any_feed> feeds;
    for (std::size_t i = 0; i < form_.inputs.size(); ++i) {
      const any_variable& v = form_.inputs[i];
      const named_values* from = &given(jobs[0], v.name);
      if (jobs.size() > 1) {
        for (const job_pointer& j : jobs) {
          const named_values& one = given(j, v.name);
          concatenated[i].bytes += one.bytes;
          concatenated[i].lengths.insert(concatenated[i].lengths.end(), one.lengths.begin(),
                                         one.lengths.end());
        }
        from = &concatenated[i];
      }
      any_feed feed(v.name, std::span<const float>());
      feed.type = v.type;
      feed.values = from->bytes.data();
      feed.count = from->bytes.size() / static_cast<std::size_t>(size_of(v.type));
      feed.lengths = from->lengths;
      feeds.push_back(feed);
    }
    e.forward(feeds);
  }
  template <element T>
  static named_values values_of(any_evaluator& e, const any_variable& v) {
    const array<T> from = e.activation<T>(v.name);
    named_values made{v.name, v.type, {}, {}, {}};
    for (const std::size_t d : from.shape()) made.shape.push_back(static_cast<std::int64_t>(d));
    made.bytes.assign(reinterpret_cast<const char*>(from.data()), from.size() * sizeof(T));
    return made;
  }
  static named_values values(any_evaluator& e, const any_variable& v) {
    switch (v.type) {
      case dtype::int16:
        return values_of<std::int16_t>(e, v);
      case dtype::int32:
        return values_of<std::int32_t>(e, v);
      case dtype::int64:
        return values_of<std::int64_t>(e, v);
      case dtype::float64:
        return values_of<double>(e, v);
      case dtype::uint8:
        return values_of<std::uint8_t>(e, v);
      case dtype::int8:
        return values_of<std::int8_t>(e, v);
      default:
        return values_of<float>(e, v);
    }
  }

  const batch_options options_;
  mutable std::mutex mutex_;  // guards current_ and version_
  std::shared_ptr<const any_model> current_;
  std::uint64_t version_ = 1;
  const request_form form_;
  const bool merges_;
  batching_queue<job_pointer, rows_of_job> queue_;
  std::vector<std::thread> workers_;
};

}}}  // namespace lamina::serve

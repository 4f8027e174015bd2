// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/ps_client.hpp - the trainer's side of a training with parameter
// servers, for steps together with other trainers and for independent ones.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <lamina/core/files/checksum.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/servers/array_list.hpp>
#include <lamina/distributed/servers/server_packet.hpp>
#include <lamina/distributed/servers/server_shards.hpp>
#include <lamina/distributed/servers/trainer_group.hpp>
#include <lamina/distributed/sync/allreduce.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Synchronises the parameters of a trainer with servers that hold them: it sends gradients and
/// receives parameters. When the training ends, each trainer tells the servers, and rank 0 sends
/// them all parameters. This base has what both kinds of trainers share.
class ps_client : public parameter_sync {
 public:
  LAMINA_COLD ~ps_client() override {
    arrays_.close_tables();
    if (!begun_) return;
    group_.is_served = false;
    try {
      leave();
    } catch (const error& e) {
      // If another process has failed, the next call throws its message; otherwise all processes
      // get this one.
      group_.fail(e.what());
    } catch (const std::exception& e) {
      char why[200];
      std::snprintf(why, sizeof why,
                    "lamina: distributed: expected memory in which rank %d tells the parameter "
                    "servers the end of its training, found none: %s",
                    group_.rank(), e.what());
      std::fprintf(stderr, "%s\n", why);  // a destructor cannot throw
      group_.fail(why);
    }
  }
  ps_client(const ps_client&) = delete;
  ps_client& operator=(const ps_client&) = delete;

  LAMINA_COLD void begin(const sync_facts& mine, float* const* accumulators, int states) override {
    if (begun_)
      throw error(
          "lamina: train: expected a trainer to load its state before the first step, where "
          "parameter servers hold it, found load() later");
    if (group_.is_served)
      throw error(
          "lamina: train: expected one trainer at a time with parameter servers, found one that "
          "begins while another exists");
    all_->describe(options_);
    facts_.describe(options_);
    all_->begin(mine, accumulators, states);
    all_.reset();
    begun_ = group_.is_served = true;
    arrays_.open_tables(accumulators, states);
  }
  void serve(const server_functions&, worker_pool&) override {}

 protected:
  ps_client(process_group& group, const trained_arrays& of, int rank, int ranks)
      : parameter_sync(rank, ranks),
        group_(group),
        arrays_(of),
        shards_(of, group.parameter_servers()),
        trainers_(trainer_group::trainers_of(group)),
        facts_(trainers_, no_arrays(of)),
        all_(std::make_unique<allreduce>(group, of)),
        unwinding_(std::uncaught_exceptions()),
        server_ranks_(static_cast<std::size_t>(group.parameter_servers())) {
    std::iota(server_ranks_.begin(), server_ranks_.end(), group.trainers());
  }

  static trained_arrays no_arrays(const trained_arrays& of) {
    return {nullptr, nullptr, nullptr, nullptr, 0, false, of.is_double};
  }
  int servers() const { return group_.parameter_servers(); }
  void post(int server, std::shared_ptr<const packet> what) {
    group_.post(server_ranks_[static_cast<std::size_t>(server)], std::move(what));
  }
  /// Waits for an answer of each server: calls f(server, answer).
  template <class F>
  void receive_answers(F&& f) {
    // A server may itself wait for another trainer before it answers, and then reports which one is
    // missing.
    constexpr int patiences = 2;
    std::vector<int> awaited = server_ranks_;
    while (!awaited.empty()) {
      const int from = group_.receive(answer_, awaited, patiences);
      std::erase(awaited, from);
      f(from - group_.trainers(), std::as_const(answer_));
    }
  }

  process_group& group_;
  array_list arrays_;
  server_shards shards_;
  trainer_group trainers_;
  allreduce facts_;  // exchanges the facts of all trainers

 private:
  LAMINA_COLD void leave() {
    packet_head head{.kind = packet_kind::leave};
    // After an error the parameters may be incomplete.
    if (group_.rank() == 0 && std::uncaught_exceptions() == unwinding_) head.has = 1;
    if (head.has != 0)
      for (const std::size_t n : arrays_.floats) head.floats += n;
    const auto last = new_packet(head);
    float* to = floats_of(*last);
    for (std::size_t i = 0; head.has != 0 && i < arrays_.count(); to += arrays_.floats[i], ++i)
      std::memcpy(to, arrays_.values[i], arrays_.floats[i] * sizeof(float));
    for (int s = 0; s < servers(); ++s) post(s, last);
  }

  std::unique_ptr<allreduce> all_;  // all processes, until training begins
  bool begun_ = false;
  int unwinding_;
  std::vector<int> server_ranks_;
  packet answer_;
};

/// The client of a trainer with a staleness of 0. Servers sum the gradients of all trainers and
/// update; the parameters have the same bits as with equally many trainers without servers. Each
/// trainer itself computes updates of embedding rows and updates with a clip by norm, as without
/// servers; but servers sum and update the rows of sharded tables.
class synchronous_client final : public ps_client {
 public:
  LAMINA_COLD synchronous_client(process_group& group, const trained_arrays& of)
      : ps_client(group, of, group.rank(), group.trainers()) {}

  // Stage 1: begin.

  LAMINA_COLD void require_samples(std::uint64_t checksum, bool shards) override {
    facts_.require_samples(checksum, shards);
  }
  LAMINA_COLD void gather_rows(std::int64_t* first, std::int64_t* count, int domains) override {
    facts_.gather_rows(first, count, domains);
  }

  // Stage 2: reduce.

  void gather_facts(void* all, std::size_t bytes, int local, int samples) override {
    facts_.use(update_);
    facts_.gather_facts(all, bytes, local, samples);
  }
  LAMINA_COLD void average(const float* const* copies, float* const* to, const std::size_t* floats,
                           int count, const part_weights& weights) override {
    facts_.average(copies, to, floats, count, weights);
  }
  LAMINA_COLD void all_reduce_sum(double* numbers, std::size_t count) override {
    facts_.all_reduce_sum(numbers, count);
  }
  LAMINA_COLD void all_reduce_sum(metric_sum& sum, bool is_sum) override {
    facts_.all_reduce_sum(sum, is_sum);
  }
  LAMINA_COLD void reduce_rows(engine::cpu::basic_selected_rows<float>* const* mine, int columns,
                               const part_weights& weights) override {
    facts_.reduce_rows(mine, columns, weights);
  }
  LAMINA_COLD void reduce_rows(engine::cpu::basic_selected_rows<double>* const* mine, int columns,
                               const part_weights& weights) override {
    facts_.reduce_rows(mine, columns, weights);
  }

  void reduce(const part_weights& weights, worker_pool&) override {
    head_ = {.kind = packet_kind::gradients, .weighted = weights.local > 1 ? 1 : 0};
    const std::size_t local = static_cast<std::size_t>(weights.local);
    for (std::size_t t = 0; t < local; ++t) {
      const double weight =
          weight_at(weights, static_cast<std::size_t>(rank_) * local + t, arrays_.is_double);
      if (weight == 0) continue;
      head_.has = 1;
      head_.weight = weight;
    }
  }

  // Stage 3: update.

  void update(const update_facts& facts, update_function how, void* trainer,
              worker_pool& pool) override {
    send_gradients(packet_kind::gradients, {facts.scalars, count_of(facts)});
    receive_answers([&](int server, const packet& answer) {
      behind_floats(answer, shards_.floats(server));
      copy_to(shards_.of(server), arrays_.values.data(), floats_of(answer));
    });
    const std::size_t threads = static_cast<std::size_t>(pool.size());
    if (arrays_.rows.empty()) return;
    pool.run([&](int t) {
      for (std::size_t k = static_cast<std::size_t>(t); k < arrays_.rows.size(); k += threads)
        how(trainer, arrays_.rows[k], 0, 0, nullptr);
    });
  }
  LAMINA_COLD void gather_sums() override {
    send_gradients(packet_kind::totals, {});
    if (arrays_.tables != nullptr) arrays_.tables->begin_squares();
    receive_answers([&](int server, const packet& answer) {
      packet_reader rest = behind_floats(answer, shards_.floats(server));
      copy_to(shards_.of(server), arrays_.gradients.data(), floats_of(answer));
      if (arrays_.tables != nullptr) arrays_.tables->read_squares(server, rest);
    });
  }
  LAMINA_COLD void update_tables(const update_facts& facts) override {
    if (arrays_.tables == nullptr) return;
    const auto told = new_packet({.kind = packet_kind::scales, .scalars = facts.count});
    told->add(facts.scalars, count_of(facts) * sizeof(float));
    told->add(facts.scales, arrays_.count() * sizeof(float));
    for (int s = 0; s < servers(); ++s) post(s, told);
  }

  // Stage 4: gather.

  LAMINA_COLD std::int64_t gather_states(float* const* of, int states,
                                         std::int64_t steps) override {
    const auto asks = new_packet({.kind = packet_kind::state});
    for (int s = 0; s < servers(); ++s) post(s, asks);
    std::vector<float*> pointers(arrays_.count());
    receive_answers([&](int server, const packet& answer) {
      const std::size_t floats = shards_.floats(server);
      behind_floats(answer, floats * static_cast<std::size_t>(states));
      for (std::size_t s = 0; s < static_cast<std::size_t>(states); ++s) {
        for (std::size_t i = 0; i < pointers.size(); ++i)
          pointers[i] = of[i * static_cast<std::size_t>(states) + s];
        copy_to(shards_.of(server), pointers.data(), floats_of(answer) + s * floats);
      }
    });
    return steps;
  }

 private:
  static std::size_t count_of(const update_facts& facts) {
    return static_cast<std::size_t>(facts.count);
  }
  /// Sends the gradients to all servers; `scalars` are the arguments of an update.
  void send_gradients(packet_kind kind, std::span<const float> scalars) {
    head_.kind = kind;
    head_.scalars = static_cast<std::int32_t>(scalars.size());
    for (int s = 0; s < servers(); ++s) {
      head_.floats = head_.has != 0 ? shards_.floats(s) : 0;
      const auto mine = new_packet(head_);
      if (head_.has != 0) copy_from(shards_.of(s), arrays_.gradients.data(), floats_of(*mine));
      if (head_.scalars > 0) mine->add(scalars.data(), scalars.size_bytes());
      if (arrays_.tables != nullptr) arrays_.tables->add_gradients(s, *mine);
      post(s, mine);
    }
  }

  packet_head head_;
};

/// The client of a trainer with a staleness above 0 (stale synchronous parallel: Ho et al. 2013,
/// "More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server"). In each step
/// it sends its gradients to all servers and waits for their current parameters. A server answers
/// when this trainer may begin its next step.
///
/// During a pass each trainer has separate moving statistics; at the end of the pass they become
/// the mean over the trainers, weighted by samples.
class asynchronous_client final : public ps_client {
 public:
  LAMINA_COLD asynchronous_client(process_group& group, const trained_arrays& of)
      : ps_client(group, of, 0, 1),
        alone_(trainer_group::alone(group)),
        local_(alone_, no_arrays(of)) {
    is_asynchronous_ = true;
    part_ = {group.rank(), group.trainers(),
             static_cast<std::uint64_t>(group.rank()) * 0x9e3779b97f4a7c15u};
    for (int i = 0; i < of.count; ++i)
      if (of.gradients[i] == nullptr && !of.has_rows[i]) statistics_.push_back(i);
  }

  // Stage 1: begin.

  LAMINA_COLD void require_samples(std::uint64_t checksum, bool shards) override {
    facts_.require_samples(checksum, shards);
    reads_shards_ = shards;
  }
  void gather_rows(std::int64_t*, std::int64_t*, int) override {}

  // Stage 2: reduce.

  void gather_facts(void*, std::size_t, int, int samples) override { samples_ += samples; }
  LAMINA_COLD void average(const float* const* copies, float* const* to, const std::size_t* floats,
                           int count, const part_weights& weights) override {
    local_.average(copies, to, floats, count, weights);
  }
  LAMINA_COLD void all_reduce_sum(double* numbers, std::size_t count) override {
    if (is_paused_) facts_.all_reduce_sum(numbers, count);
  }
  LAMINA_COLD void all_reduce_sum(metric_sum& sum, bool is_sum) override {
    if (is_paused_) facts_.all_reduce_sum(sum, is_sum);
  }
  LAMINA_COLD void reduce_rows(engine::cpu::basic_selected_rows<float>* const* mine, int columns,
                               const part_weights& weights) override {
    local_.reduce_rows(mine, columns, weights);
    reduced_.push_back({mine[0], columns});
  }
  LAMINA_COLD void reduce_rows(engine::cpu::basic_selected_rows<double>* const* mine, int columns,
                               const part_weights& weights) override {
    local_.reduce_rows(mine, columns, weights);
    reduced_.push_back({mine[0], columns});
  }

  void reduce(const part_weights& weights, worker_pool&) override {
    has_gradients_ = false;
    for (int t = 0; t < weights.local; ++t)
      if (weight_at(weights, static_cast<std::size_t>(t), arrays_.is_double) != 0)
        has_gradients_ = true;
    reduced_.clear();
    is_paused_ = false;
  }

  // Stage 3: update.

  LAMINA_COLD void gather_sums() override {}
  void update(const update_facts& facts, update_function, void*, worker_pool&) override {
    for (int s = 0; s < servers(); ++s) post(s, gradients_for(s, facts));
    receive_answers([this](int server, const packet& answer) { take_values(server, answer, 0); });
  }

  // Stage 4: gather.

  LAMINA_COLD void end_pass() override {
    // A checkpoint after the last mini-batch has already paused this trainer.
    if (!is_paused_) pause();
  }
  LAMINA_COLD std::int64_t gather_states(float* const* of, int states, std::int64_t) override {
    if (!is_paused_ && reads_shards_)
      throw error(
          "lamina: train: expected checkpoints at the ends of passes only "
          "(checkpoint.every_batches "
          "0), where trainers read shards of their own, found one within a pass");
    if (!is_paused_) pause();
    receive_answers([&](int server, const packet& answer) {
      packet_reader rest = take_values(server, answer, states);
      std::vector<float*> pointers(arrays_.count());
      const float* from = floats_of(answer) + shards_.floats(server);
      for (int s = 0; s < states; ++s, from += shards_.floats(server)) {
        for (std::size_t i = 0; i < pointers.size(); ++i)
          pointers[i] = of[static_cast<int>(i) * states + s];
        copy_to(shards_.of(server), pointers.data(), from);
        for (const server_shards::table_shard& t : shards_.tables(server))
          rest.read(pointers[static_cast<std::size_t>(t.parameter)] + t.whole().first,
                    t.floats() * sizeof(float));
      }
    });
    average_statistics();
    return updates_;
  }

 private:
  struct reduced_rows {
    void* rows;
    int columns;
  };

  LAMINA_COLD std::shared_ptr<packet> gradients_for(int server, const update_facts& facts) const {
    packet_head head{.kind = packet_kind::gradients, .has = has_gradients_ ? 1 : 0};
    head.rate_factor = static_cast<double>(facts.rate_factor);
    head.floats = has_gradients_ ? shards_.floats(server) : 0;
    auto made = new_packet(head);
    if (!has_gradients_) return made;
    copy_from(shards_.of(server), arrays_.gradients.data(), floats_of(*made));
    const std::size_t scales = facts.scales == nullptr ? 0 : arrays_.count();
    made->add(scales);
    made->add(facts.scales, scales * sizeof(float));
    for (const server_shards::table_shard& t : shards_.tables(server)) {
      std::size_t k = 0;
      while (arrays_.with_rows[k] != t.parameter) ++k;
      if (arrays_.is_double)
        add_rows<double>(*made, reduced_[k], t);
      else
        add_rows<float>(*made, reduced_[k], t);
    }
    if (arrays_.tables != nullptr) arrays_.tables->add_gradients(server, *made);
    return made;
  }
  template <class T>
  static void add_rows(packet& to, const reduced_rows& reduced,
                       const server_shards::table_shard& t) {
    const auto& rows = *static_cast<engine::cpu::basic_selected_rows<T>*>(reduced.rows);
    const auto is_mine = [&](int i) {
      return !t.has_rows || (rows.number(i) >= t.first && rows.number(i) < t.end);
    };
    int count = 0;
    for (int i = 0; i < rows.size(); ++i) count += is_mine(i) ? 1 : 0;
    to.add(reduced.columns);
    to.add(count);
    for (int i = 0; i < rows.size(); ++i) {
      if (!is_mine(i)) continue;
      to.add(rows.number(i) - (t.has_rows ? t.first : 0));
      to.add(rows.row(i), static_cast<std::size_t>(reduced.columns) * sizeof(T));
    }
  }
  /// Copies the parameters of an answer. Returns a reader at the bytes after them.
  LAMINA_COLD packet_reader take_values(int server, const packet& answer, int states) {
    packet_reader rest =
        behind_floats(answer, shards_.floats(server) * static_cast<std::size_t>(1 + states));
    updates_ = head_of(answer).steps;
    copy_to(shards_.of(server), arrays_.values.data(), floats_of(answer));
    for (const server_shards::table_shard& t : shards_.tables(server)) {
      float* const table = arrays_.values[static_cast<std::size_t>(t.parameter)] + t.whole().first;
      const int count = rest.read<int>();
      if (count < 0) rest.read(table, t.floats() * sizeof(float));
      for (int k = 0; k < count; ++k) {
        const auto row = static_cast<std::size_t>(rest.read<int>());
        rest.read(table + row * t.row_floats, t.row_floats * sizeof(float));
      }
    }
    return rest;
  }
  /// Tells the servers that this trainer waits for all others.
  LAMINA_COLD void pause() {
    const auto asks = new_packet({.kind = packet_kind::pause});
    for (int s = 0; s < servers(); ++s) post(s, asks);
    is_paused_ = true;
  }
  LAMINA_COLD void average_statistics() {
    double all = static_cast<double>(samples_);
    facts_.all_reduce_sum(&all, 1);
    const double fraction = all > 0 ? static_cast<double>(samples_) / all : 0;
    samples_ = 0;
    if (statistics_.empty()) return;
    std::vector<double> wide(static_cast<std::size_t>(group_.trainers()));
    trainers_.gather(&fraction, sizeof fraction, wide.data());
    const std::vector<float> narrow(wide.begin(), wide.end());
    std::vector<float*> values;
    std::vector<std::size_t> floats;
    for (const int i : differing_statistics()) {
      values.push_back(arrays_.values[static_cast<std::size_t>(i)]);
      floats.push_back(arrays_.floats[static_cast<std::size_t>(i)]);
    }
    if (values.empty()) return;
    const bool is_double = arrays_.is_double;
    facts_.average(values.data(), values.data(), floats.data(), static_cast<int>(values.size()),
                   {is_double ? static_cast<const void*>(wide.data()) : narrow.data(),
                    is_double ? sizeof(double) : sizeof(float), group_.trainers(), 1});
  }

  /// Returns the elements of statistics_ that differ between trainers. Frozen parameters are among
  /// statistics_ but are equal, so they need not be sent.
  LAMINA_COLD std::vector<int> differing_statistics() {
    std::vector<std::uint64_t> mine;
    for (const int i : statistics_) {
      checksum sum;
      sum.add(arrays_.values[static_cast<std::size_t>(i)],
              arrays_.floats[static_cast<std::size_t>(i)] * sizeof(float));
      mine.push_back(sum.value());
    }
    std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(group_.trainers()));
    trainers_.gather(mine.data(), mine.size() * sizeof(std::uint64_t), all.data());
    std::vector<int> found;
    for (std::size_t k = 0; k < mine.size(); ++k)
      for (std::size_t at = k; at < all.size(); at += mine.size())
        if (all[at] != all[k]) {
          found.push_back(statistics_[k]);
          break;
        }
    return found;
  }

  trainer_group alone_;
  allreduce local_;                    // arrays of this process only
  std::vector<int> statistics_;        // parameters that no server updates
  std::vector<reduced_rows> reduced_;  // the last gradients, in the order of arrays_.with_rows
  bool has_gradients_ = false;
  bool reads_shards_ = false;
  bool is_paused_ = false;    // whether this trainer has told the servers that it waits
  std::int64_t samples_ = 0;  // samples since the last pause of all trainers
  std::int64_t updates_ = 0;  // updates of a server, as its last answer tells
};

}}}  // namespace lamina::distributed

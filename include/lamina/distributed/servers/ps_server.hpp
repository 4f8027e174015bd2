// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/ps_server.hpp - a parameter server, for trainers that make their steps
// together and for independent ones.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/servers/array_list.hpp>
#include <lamina/distributed/servers/changed_rows.hpp>
#include <lamina/distributed/servers/server_packet.hpp>
#include <lamina/distributed/servers/server_shards.hpp>
#include <lamina/distributed/sync/allreduce.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/train/gradients/tree_sum.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// A parameter server, for both kinds of trainers. It holds one shard of the parameters and of the
/// optimizer's state, and handles packets one at a time, so that no trainer sees a partial update.
/// When all trainers have left, it has all parameters.
class ps_server : public parameter_sync {
 public:
  LAMINA_COLD ~ps_server() override { arrays_.close_tables(); }
  ps_server(const ps_server&) = delete;
  ps_server& operator=(const ps_server&) = delete;

  LAMINA_COLD void begin(const sync_facts& mine, float* const* accumulators, int states) override {
    all_->describe(options_);
    all_->begin(mine, accumulators, states);
    all_.reset();
    states_ = static_cast<std::size_t>(states);
    accumulators_.assign(accumulators, accumulators + arrays_.count() * states_);
    arrays_.open_tables(accumulators, states);
  }
  LAMINA_COLD void serve(const server_functions& functions, worker_pool& pool) override {
    functions_ = functions;
    pool_ = &pool;
    packet got, last;
    std::vector<int> awaited;
    while (left_ < group_.trainers()) {
      list_awaited(awaited);
      const int from = group_.receive(got, awaited);
      if (from >= group_.trainers())
        throw error(
            text() << "lamina: distributed: expected packets of trainers, found one of rank "
                   << from);
      const packet_kind kind = head_of(got).kind;
      if (kind == packet_kind::rows || kind == packet_kind::arrays) {
        answer_about_tables(from, got);
        continue;
      }
      if (kind != packet_kind::leave) {
        handle(from, got);
        continue;
      }
      ++left_;
      has_left_[static_cast<std::size_t>(from)] = true;
      if (head_of(got).has != 0) std::swap(last, got);
      handle_leave(from);
    }
    if (last.size() > 0) store_last(last);
  }

  void require_samples(std::uint64_t, bool) override {}
  void gather_rows(std::int64_t*, std::int64_t*, int) override {}
  void gather_facts(void*, std::size_t, int, int) override {
    throw error("lamina: train: expected pass() or train() on a parameter server, found a step");
  }
  void average(const float* const*, float* const*, const std::size_t*, int,
               const part_weights&) override {}
  void all_reduce_sum(double*, std::size_t) override {}
  void all_reduce_sum(metric_sum&, bool) override {}
  void reduce_rows(engine::cpu::basic_selected_rows<float>* const*, int,
                   const part_weights&) override {}
  void reduce_rows(engine::cpu::basic_selected_rows<double>* const*, int,
                   const part_weights&) override {}
  void reduce(const part_weights&, worker_pool&) override {}
  void gather_sums() override {}
  void update(const update_facts&, update_function, void*, worker_pool&) override {}
  std::int64_t gather_states(float* const*, int, std::int64_t steps) override { return steps; }

 protected:
  ps_server(process_group& group, const trained_arrays& of)
      : parameter_sync(0, group.trainers()),
        group_(group),
        arrays_(of),
        shards_(of, group.parameter_servers()),
        server_(group.rank() - group.trainers()),
        all_(std::make_unique<allreduce>(group, of)),
        has_left_(static_cast<std::size_t>(group.trainers())) {
    is_server_ = true;
  }

  /// Handles a packet of a trainer.
  virtual void handle(int from, packet& got) = 0;
  /// Handles the end of a trainer's training.
  virtual void handle_leave(int from) = 0;
  /// Lists the trainers that this server waits for.
  virtual void list_awaited(std::vector<int>& ranks) const = 0;

  const std::vector<server_shards::range>& mine() const { return shards_.of(server_); }
  const std::vector<server_shards::table_shard>& tables() const { return shards_.tables(server_); }
  std::size_t floats() const { return shards_.floats(server_); }
  bool has_left(int trainer) const { return has_left_[static_cast<std::size_t>(trainer)]; }

  /// Updates the shard by `gradients`, in the order of mine(), with all threads.
  void update_shard(float* gradients) {
    pool_->run([&](int t) {
      const std::size_t part = static_cast<std::size_t>(t),
                        parts = static_cast<std::size_t>(pool_->size());
      float* at = gradients;
      for (std::size_t k = 0; k < mine().size(); at += mine()[k].size(), ++k) {
        const server_shards::range& a = mine()[k];
        if (arrays_.whole) {
          if (k % parts == part)
            functions_.update(functions_.trainer, a.parameter, a.first, a.size(), at);
          continue;
        }
        const std::size_t lines = a.size() / alignment_floats;
        const std::size_t first = lines * part / parts * alignment_floats,
                          end = lines * (part + 1) / parts * alignment_floats;
        if (end > first)
          functions_.update(functions_.trainer, a.parameter, a.first + first, end - first,
                            at + first);
      }
    });
  }
  /// Copies the accumulators of the shard, one state after the other.
  LAMINA_COLD void copy_state(float* to) const {
    std::vector<float*> pointers(arrays_.count());
    for (std::size_t s = 0; s < states_; ++s, to += floats()) {
      for (std::size_t i = 0; i < pointers.size(); ++i)
        pointers[i] = accumulators_[i * states_ + s];
      copy_from(mine(), pointers.data(), to);
    }
  }

  process_group& group_;
  array_list arrays_;
  server_shards shards_;
  server_functions functions_{};
  worker_pool* pool_ = nullptr;
  std::size_t states_ = 0;
  std::vector<float*> accumulators_;  // [parameter * states + state]

 private:
  LAMINA_COLD void answer_about_tables(int from, const packet& got) {
    if (arrays_.tables == nullptr)
      throw error(text() << "lamina: distributed: expected a program without sharded tables, found "
                            "a packet about some from rank "
                         << from);
    if (head_of(got).kind == packet_kind::rows)
      arrays_.tables->answer_rows(from, got);
    else
      arrays_.tables->send_arrays(got);
  }
  /// Stores all parameters from the last packet of rank 0.
  LAMINA_COLD void store_last(const packet& got) {
    std::size_t all = 0;
    for (const std::size_t n : arrays_.floats) all += n;
    behind_floats(got, all);
    const float* from = floats_of(got);
    for (std::size_t i = 0; i < arrays_.count(); from += arrays_.floats[i], ++i)
      std::memcpy(arrays_.values[i], from, arrays_.floats[i] * sizeof(float));
  }

  int server_;
  std::unique_ptr<allreduce> all_;  // all processes, until training begins
  int left_ = 0;
  std::vector<bool> has_left_;
};

/// A parameter server with a staleness of 0. When it has received the gradients of all trainers, it
/// sums them in the order of the ranks with the weights of their parts (tree_sum), updates its
/// shard once and answers all trainers.
class synchronous_server final : public ps_server {
 public:
  LAMINA_COLD synchronous_server(process_group& group, const trained_arrays& of)
      : ps_server(group, of),
        parts_(static_cast<std::size_t>(group.trainers())),
        totals_(floats()) {}

 private:
  LAMINA_COLD void handle(int from, packet& got) override {
    if (head_of(got).kind == packet_kind::state) {
      const auto answer = new_packet({.floats = floats() * states_});
      copy_state(floats_of(*answer));
      return group_.post(from, answer);
    }
    if (head_of(got).kind == packet_kind::scales) return scale_tables(got);
    std::swap(parts_[static_cast<std::size_t>(from)], got);
    ++arrived_;
    if (arrived_ == group_.trainers()) finish_step();
    require_all();
  }
  LAMINA_COLD void handle_leave(int) override { require_all(); }
  LAMINA_COLD void list_awaited(std::vector<int>& ranks) const override {
    ranks.clear();
    for (int r = 0; r < group_.trainers(); ++r)
      if (parts_[static_cast<std::size_t>(r)].size() == 0 && !has_left(r)) ranks.push_back(r);
  }

  /// Throws lamina::error if one trainer makes a step that another does not make.
  LAMINA_COLD void require_all() const {
    if (arrived_ == 0) return;
    for (int r = 0; r < group_.trainers(); ++r)
      if (has_left(r))
        throw error(text() << "lamina: train: expected the same steps in each trainer, found that "
                              "rank "
                           << r << " has ended its training before others");
  }
  LAMINA_COLD void finish_step() {
    const packet_head head = head_of(parts_[0]);
    for (std::size_t r = 1; r < parts_.size(); ++r)
      if (head_of(parts_[r]).kind != head.kind)
        throw error(text() << "lamina: train: expected a clip by norm in all trainers or in none, "
                              "found another optimizer in rank "
                           << r << " than in rank 0");
    if (arrays_.is_double)
      sum<double>();
    else
      sum<float>();
    ps_embedding* const tables = arrays_.tables;
    if (tables != nullptr) sum_tables();
    const auto answer = new_packet({.floats = floats()});
    if (head.kind == packet_kind::totals) {
      // With sharded tables, the update begins when a trainer has sent their scales.
      if (tables == nullptr) functions_.begin(functions_.trainer, {});
      std::memcpy(floats_of(*answer), totals_.data(), floats() * sizeof(float));
      if (tables != nullptr) tables->add_squares(*answer);
      awaits_scales_ = tables != nullptr;
    } else {
      packet_reader behind = behind_floats(parts_[0], head.has != 0 ? floats() : 0);
      scalars_.resize(static_cast<std::size_t>(head.scalars));
      behind.read(scalars_.data(), scalars_.size() * sizeof(float));
      functions_.begin(functions_.trainer, {scalars_.data(), head.scalars, 1, nullptr});
      update_shard(totals_.data());
      if (tables != nullptr) tables->update(functions_);
      copy_from(mine(), arrays_.values.data(), floats_of(*answer));
    }
    for (packet& part : parts_) part.resize(0);
    arrived_ = 0;
    for (int r = 0; r < group_.trainers(); ++r) group_.post(r, answer);
  }
  /// Sums the gradients of sharded tables, which follow the scalars.
  LAMINA_COLD void sum_tables() {
    std::vector<packet_reader> behind;
    for (const packet& part : parts_) {
      const packet_head head = head_of(part);
      behind.push_back(behind_floats(part, head.has != 0 ? floats() : 0));
      behind.back().take(static_cast<std::size_t>(head.scalars) * sizeof(float));
    }
    arrays_.tables->sum(behind);
  }
  /// Updates the rows of sharded tables under a clip by norm. All trainers send the same scales,
  /// each before it requests rows for its next step, so the first packet suffices.
  LAMINA_COLD void scale_tables(const packet& got) {
    if (!std::exchange(awaits_scales_, false)) return;
    packet_reader behind = behind_floats(got, 0);
    scalars_.resize(static_cast<std::size_t>(head_of(got).scalars));
    behind.read(scalars_.data(), scalars_.size() * sizeof(float));
    scales_.resize(arrays_.count());
    behind.read(scales_.data(), scales_.size() * sizeof(float));
    functions_.begin(functions_.trainer,
                     {scalars_.data(), head_of(got).scalars, 1, scales_.data()});
    arrays_.tables->update(functions_);
  }
  template <class T>
  void sum() {
    const std::size_t ranks = parts_.size();
    std::vector<T> weight(ranks);
    std::vector<const T*> of(ranks);
    bool weighted = false;
    for (std::size_t r = 0; r < ranks; ++r) {
      const packet_head head = head_of(parts_[r]);
      weight[r] = head.has != 0 ? static_cast<T>(head.weight) : T(0);
      weighted = weighted || head.weighted != 0;
      behind_floats(parts_[r], head.has != 0 ? floats() : 0);
    }
    std::size_t at = 0;
    for (const server_shards::range& a : mine()) {
      for (std::size_t r = 0; r < ranks; ++r)
        of[r] = head_of(parts_[r]).has != 0
                    ? reinterpret_cast<const T*>(floats_of(std::as_const(parts_[r])) + at)
                    : nullptr;
      tree_sum<T>({of.data(), weighted ? nullptr : weight.data(), static_cast<int>(ranks)})
          .add(0, a.size() * sizeof(float) / sizeof(T), reinterpret_cast<T*>(totals_.data() + at));
      at += a.size();
    }
  }

  std::vector<packet> parts_;  // by trainer; empty: has not arrived yet
  int arrived_ = 0;
  engine::aligned_buffer totals_;
  std::vector<float> scalars_, scales_;
  bool awaits_scales_ = false;
};

/// A parameter server with a staleness s above 0. The gradients of each trainer are applied as a
/// separate update. A trainer that has made t steps since the last pause is answered, and may begin
/// its next step, when no other trainer has made fewer than t - s steps. A trainer that pauses, as
/// at the end of a pass, or that has ended its training does not count. When all trainers pause,
/// all have the same parameters, and their steps are counted from 0 again.
class asynchronous_server final : public ps_server {
 public:
  LAMINA_COLD asynchronous_server(process_group& group, const trained_arrays& of)
      : ps_server(group, of),
        staleness_(group.roles().staleness),
        trainers_(static_cast<std::size_t>(group.trainers())) {
    const std::size_t updates = 2 * trainers_.size() * (static_cast<std::size_t>(staleness_) + 2);
    for (const server_shards::table_shard& t : tables())
      changed_.emplace_back(static_cast<std::size_t>(t.end - t.first), updates);
  }

  LAMINA_COLD void begin(const sync_facts& mine, float* const* accumulators, int states) override {
    ps_server::begin(mine, accumulators, states);
    updates_ = mine.steps;
  }
  /// Returns the largest number of steps by which a trainer was ahead of the slowest one when it
  /// was answered.
  std::int64_t most_ahead() const { return most_ahead_; }

 private:
  struct trainer_state {
    std::int64_t steps = 0;  // steps since the last pause of all trainers
    std::int64_t seen = -1;  // the last update whose result the trainer has
    bool waits = false;      // whether it waits for the answer to its gradients
    bool pauses = false;
  };

  LAMINA_COLD void handle(int from, packet& got) override {
    trainer_state& of = trainers_[static_cast<std::size_t>(from)];
    if (head_of(got).kind == packet_kind::pause) {
      of.pauses = true;
      require_none_left();
    } else {
      if (head_of(got).has != 0) apply(got);
      ++of.steps;
      of.waits = true;
    }
    answer_trainers();
  }
  LAMINA_COLD void handle_leave(int) override {
    for (const trainer_state& t : trainers_)
      if (t.pauses) require_none_left();
    answer_trainers();  // trainers that have waited for this one
  }
  LAMINA_COLD void list_awaited(std::vector<int>& ranks) const override {
    ranks.clear();
    for (int r = 0; r < group_.trainers(); ++r) {
      const trainer_state& t = trainers_[static_cast<std::size_t>(r)];
      if (!t.waits && !t.pauses && !has_left(r)) ranks.push_back(r);
    }
  }
  LAMINA_COLD void require_none_left() const {
    for (int r = 0; r < group_.trainers(); ++r)
      if (has_left(r))
        throw error(text() << "lamina: train: expected the same passes in each trainer, found that "
                              "rank "
                           << r << " has ended its training before others");
  }

  /// Updates the shard and the tables by the gradients of a trainer.
  LAMINA_COLD void apply(packet& got) {
    packet_reader rest = behind_floats(got, floats());
    scales_.resize(rest.read<std::size_t>());
    rest.read(scales_.data(), scales_.size() * sizeof(float));
    const std::int64_t number = functions_.begin(
        functions_.trainer, {nullptr, 0, static_cast<float>(head_of(got).rate_factor),
                             scales_.empty() ? nullptr : scales_.data()});
    updates_ = number + 1;
    update_shard(floats_of(got));
    for (std::size_t k = 0; k < tables().size(); ++k)
      if (arrays_.is_double)
        apply_rows<double>(rest, k, number);
      else
        apply_rows<float>(rest, k, number);
    if (arrays_.tables == nullptr) return;
    std::vector<packet_reader> behind{rest};
    arrays_.tables->sum(behind);
    arrays_.tables->update(functions_);
  }
  template <class T>
  void apply_rows(packet_reader& from, std::size_t k, std::int64_t number) {
    const server_shards::table_shard& t = tables()[k];
    const int columns = from.read<int>(), count = from.read<int>();
    engine::cpu::basic_selected_rows<T> rows;
    rows.begin(columns);
    rows.reserve(static_cast<std::size_t>(count), columns);
    std::vector<T> values(static_cast<std::size_t>(columns));
    std::vector<int> numbers;
    for (int i = 0; i < count; ++i) {
      numbers.push_back(from.read<int>());
      from.read(values.data(), values.size() * sizeof(T));
      rows.add(numbers.back(), values.data());
    }
    const int end = t.has_rows ? t.end : -1;
    const bool these = functions_.update_rows(functions_.trainer, t.parameter, t.first, end, &rows);
    changed_[k].note(number, std::move(numbers), !these || !t.has_rows);
  }

  /// Answers all trainers that need not wait any longer.
  LAMINA_COLD void answer_trainers() {
    std::int64_t slowest = (std::numeric_limits<std::int64_t>::max)();
    bool all_pause = true;
    for (std::size_t r = 0; r < trainers_.size(); ++r) {
      if (trainers_[r].pauses) continue;
      all_pause = false;
      if (!has_left(static_cast<int>(r))) slowest = (std::min)(slowest, trainers_[r].steps);
    }
    for (std::size_t r = 0; r < trainers_.size(); ++r) {
      trainer_state& t = trainers_[r];
      if (all_pause) {
        answer(static_cast<int>(r), states_);
        t.pauses = false;
        t.steps = 0;
      } else if (t.waits && t.steps - slowest <= staleness_) {
        most_ahead_ = (std::max)(most_ahead_, t.steps - slowest);
        answer(static_cast<int>(r), 0);
        t.waits = false;
      }
    }
  }
  /// Sends the parameters of this server, and `states` of their accumulators.
  LAMINA_COLD void answer(int to, std::size_t states) {
    trainer_state& of = trainers_[static_cast<std::size_t>(to)];
    const auto made = new_packet(
        {.kind = packet_kind::answer, .steps = updates_, .floats = floats() * (1 + states)});
    copy_from(mine(), arrays_.values.data(), floats_of(*made));
    if (states > 0) copy_state(floats_of(*made) + floats());
    for (std::size_t k = 0; k < tables().size(); ++k) {
      const server_shards::table_shard& t = tables()[k];
      const float* const table =
          arrays_.values[static_cast<std::size_t>(t.parameter)] + t.whole().first;
      if (!changed_[k].since(of.seen, rows_)) {
        made->add(-1);
        made->add(table, t.floats() * sizeof(float));
        continue;
      }
      made->add(static_cast<int>(rows_.size()));
      for (const int row : rows_) {
        made->add(row);
        made->add(table + static_cast<std::size_t>(row) * t.row_floats,
                  t.row_floats * sizeof(float));
      }
    }
    for (std::size_t s = 0; s < states; ++s)
      for (const server_shards::table_shard& t : tables())
        made->add(
            accumulators_[static_cast<std::size_t>(t.parameter) * states_ + s] + t.whole().first,
            t.floats() * sizeof(float));
    of.seen = updates_ - 1;
    group_.post(to, made);
  }

  std::int64_t staleness_;
  std::vector<trainer_state> trainers_;
  std::vector<changed_rows> changed_;  // by shard of a table
  std::int64_t updates_ = 0, most_ahead_ = 0;
  std::vector<float> scales_;
  std::vector<int> rows_;
};

}}}  // namespace lamina::distributed

// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/serving_arrays.hpp - the base of parameter servers, for both modes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/distributed/exchanged_arrays.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/servers/array_list.hpp>
#include <lamina/distributed/servers/server_packet.hpp>
#include <lamina/distributed/servers/server_shards.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The arrays of a parameter server. It holds one shard of the parameters and of the optimizer's
/// state, and handles packets one at a time, so that no trainer sees a partial update. When all
/// trainers have left, it has all parameters.
class serving_arrays : public shared_arrays {
 public:
  LAMINA_COLD ~serving_arrays() override { arrays_.close_tables(); }
  serving_arrays(const serving_arrays&) = delete;
  serving_arrays& operator=(const serving_arrays&) = delete;

  LAMINA_COLD void begin(const shared_facts& mine, float* const* accumulators,
                         int states) override {
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
  void join_shares(std::int64_t*, std::int64_t*, int) override {}
  void gather_facts(void*, std::size_t, int, int) override {
    throw error("lamina: train: expected pass() or train() on a parameter server, found a step");
  }
  void average(const float* const*, float* const*, const std::size_t*, int,
               const part_weights&) override {}
  void add_up(double*, std::size_t) override {}
  void add_up(metric_sum&, bool) override {}
  void join_rows(engine::cpu::basic_selected_rows<float>* const*, int,
                 const part_weights&) override {}
  void join_rows(engine::cpu::basic_selected_rows<double>* const*, int,
                 const part_weights&) override {}
  void reduce(const part_weights&, worker_pool&) override {}
  void bring_totals() override {}
  void update(update_function, void*, worker_pool&) override {}
  void collect(float* const*, int) override {}

 protected:
  serving_arrays(process_group& group, const trained_arrays& of)
      : shared_arrays(0, group.trainers()),
        group_(group),
        arrays_(of),
        shards_(of, group.parameter_servers()),
        server_(group.rank() - group.trainers()),
        all_(std::make_unique<exchanged_arrays>(group, of)),
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
  const std::vector<server_shards::table_piece>& tables() const { return shards_.tables(server_); }
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
      throw error(text() << "lamina: distributed: expected a program without divided tables, found "
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
  std::unique_ptr<exchanged_arrays> all_;  // all processes, until training begins
  int left_ = 0;
  std::vector<bool> has_left_;
};

}}}  // namespace lamina::distributed

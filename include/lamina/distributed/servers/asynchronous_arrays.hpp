// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/asynchronous_arrays.hpp - a trainer that makes its steps
// independently, within the staleness bound of the slowest one.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/core/checksum.hpp>
#include <lamina/distributed/servers/served_arrays.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The arrays of a trainer with a staleness above 0 (stale synchronous parallel: Ho et al. 2013,
/// "More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server"). In each step
/// it sends its gradients to all servers and waits for their current parameters. A server answers
/// when this trainer may begin its next step.
///
/// During a pass each trainer has separate moving statistics; at the end of the pass they become
/// the mean over the trainers, weighted by samples.
class asynchronous_arrays final : public served_arrays {
 public:
  LAMINA_COLD asynchronous_arrays(process_group& group, const trained_arrays& of)
      : served_arrays(group, of, 0, 1),
        alone_(trainer_group::alone(group)),
        local_(alone_, no_arrays(of)) {
    is_asynchronous_ = true;
    part_ = {group.rank(), group.trainers(),
             static_cast<std::uint64_t>(group.rank()) * 0x9e3779b97f4a7c15u};
    for (int i = 0; i < of.count; ++i)
      if (of.gradients[i] == nullptr && !of.has_rows[i]) statistics_.push_back(i);
  }

  LAMINA_COLD void require_samples(std::uint64_t checksum, bool shares) override {
    facts_.require_samples(checksum, shares);
    reads_shares_ = shares;
  }
  void join_shares(std::int64_t*, std::int64_t*, int) override {}
  void gather_facts(void*, std::size_t, int, int samples) override { samples_ += samples; }
  LAMINA_COLD void average(const float* const* copies, float* const* to, const std::size_t* floats,
                           int count, const part_weights& weights) override {
    local_.average(copies, to, floats, count, weights);
  }
  LAMINA_COLD void add_up(double* numbers, std::size_t count) override {
    if (is_paused_) facts_.add_up(numbers, count);
  }
  LAMINA_COLD void add_up(metric_sum& sum, bool is_sum) override {
    if (is_paused_) facts_.add_up(sum, is_sum);
  }
  LAMINA_COLD void join_rows(engine::cpu::basic_selected_rows<float>* const* mine, int columns,
                             const part_weights& weights) override {
    local_.join_rows(mine, columns, weights);
    joined_.push_back({mine[0], columns});
  }
  LAMINA_COLD void join_rows(engine::cpu::basic_selected_rows<double>* const* mine, int columns,
                             const part_weights& weights) override {
    local_.join_rows(mine, columns, weights);
    joined_.push_back({mine[0], columns});
  }

  void reduce(const part_weights& weights, worker_pool&) override {
    has_gradients_ = false;
    for (int t = 0; t < weights.local; ++t)
      if (weight_at(weights, static_cast<std::size_t>(t), arrays_.is_double) != 0)
        has_gradients_ = true;
    joined_.clear();
    is_paused_ = false;
  }
  LAMINA_COLD void bring_totals() override {}
  LAMINA_COLD void note(const update_facts& facts) override {
    rate_factor_ = facts.rate_factor;
    scales_.clear();
    if (facts.scales != nullptr) scales_.assign(facts.scales, facts.scales + arrays_.count());
  }
  void update(update_function, void*, worker_pool&) override {
    for (int s = 0; s < servers(); ++s) post(s, gradients_for(s));
    receive_answers([this](int server, const packet& answer) { take_values(server, answer, 0); });
  }

  LAMINA_COLD void end_pass() override {
    // A checkpoint after the last mini-batch has already paused this trainer.
    if (!is_paused_) pause();
  }
  LAMINA_COLD void collect(float* const* of, int states) override {
    if (!is_paused_ && reads_shares_)
      throw error(
          "lamina: train: expected checkpoints at the ends of passes only "
          "(checkpoint.every_batches "
          "0), where trainers read shares of their own, found one within a pass");
    if (!is_paused_) pause();
    receive_answers([&](int server, const packet& answer) {
      packet_reader rest = take_values(server, answer, states);
      std::vector<float*> pointers(arrays_.count());
      const float* from = floats_of(answer) + shards_.floats(server);
      for (int s = 0; s < states; ++s, from += shards_.floats(server)) {
        for (std::size_t i = 0; i < pointers.size(); ++i)
          pointers[i] = of[static_cast<int>(i) * states + s];
        copy_to(shards_.of(server), pointers.data(), from);
        for (const server_shards::table_piece& t : shards_.tables(server))
          rest.read(pointers[static_cast<std::size_t>(t.parameter)] + t.whole().first,
                    t.floats() * sizeof(float));
      }
    });
    average_statistics();
  }
  std::int64_t updates(std::int64_t) const override { return updates_; }

 private:
  struct joined_rows {
    void* rows;
    int columns;
  };

  LAMINA_COLD std::shared_ptr<packet> gradients_for(int server) const {
    packet_head head{.kind = packet_kind::gradients, .has = has_gradients_ ? 1 : 0};
    head.rate_factor = static_cast<double>(rate_factor_);
    head.floats = has_gradients_ ? shards_.floats(server) : 0;
    auto made = new_packet(head);
    if (!has_gradients_) return made;
    copy_from(shards_.of(server), arrays_.gradients.data(), floats_of(*made));
    made->add(scales_.size());
    made->add(scales_.data(), scales_.size() * sizeof(float));
    for (const server_shards::table_piece& t : shards_.tables(server)) {
      std::size_t k = 0;
      while (arrays_.with_rows[k] != t.parameter) ++k;
      if (arrays_.is_double)
        add_rows<double>(*made, joined_[k], t);
      else
        add_rows<float>(*made, joined_[k], t);
    }
    if (arrays_.tables != nullptr) arrays_.tables->add_gradients(server, *made);
    return made;
  }
  template <class T>
  static void add_rows(packet& to, const joined_rows& joined, const server_shards::table_piece& t) {
    const auto& rows = *static_cast<engine::cpu::basic_selected_rows<T>*>(joined.rows);
    const auto is_mine = [&](int i) {
      return !t.has_rows || (rows.number(i) >= t.first && rows.number(i) < t.end);
    };
    int count = 0;
    for (int i = 0; i < rows.size(); ++i) count += is_mine(i) ? 1 : 0;
    to.add(joined.columns);
    to.add(count);
    for (int i = 0; i < rows.size(); ++i) {
      if (!is_mine(i)) continue;
      to.add(rows.number(i) - (t.has_rows ? t.first : 0));
      to.add(rows.row(i), static_cast<std::size_t>(joined.columns) * sizeof(T));
    }
  }
  /// Copies the parameters of an answer. Returns a reader at the bytes after them.
  LAMINA_COLD packet_reader take_values(int server, const packet& answer, int states) {
    packet_reader rest =
        behind_floats(answer, shards_.floats(server) * static_cast<std::size_t>(1 + states));
    updates_ = head_of(answer).steps;
    copy_to(shards_.of(server), arrays_.values.data(), floats_of(answer));
    for (const server_shards::table_piece& t : shards_.tables(server)) {
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
    facts_.add_up(&all, 1);
    const double share = all > 0 ? static_cast<double>(samples_) / all : 0;
    samples_ = 0;
    if (statistics_.empty()) return;
    std::vector<double> wide(static_cast<std::size_t>(group_.trainers()));
    trainers_.gather(&share, sizeof share, wide.data());
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
  exchanged_arrays local_;           // arrays of this process only
  std::vector<int> statistics_;      // parameters that no server updates
  std::vector<joined_rows> joined_;  // the last gradients, in the order of arrays_.with_rows
  std::vector<float> scales_;
  float rate_factor_ = 1;
  bool has_gradients_ = false;
  bool reads_shares_ = false;
  bool is_paused_ = false;    // whether this trainer has told the servers that it waits
  std::int64_t samples_ = 0;  // samples since the last pause of all trainers
  std::int64_t updates_ = 0;  // updates of a server, as its last answer tells
};

}}}  // namespace lamina::distributed

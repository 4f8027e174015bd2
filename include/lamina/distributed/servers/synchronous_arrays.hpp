// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/synchronous_arrays.hpp - a trainer with parameter servers that makes
// each step together with all others.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <lamina/distributed/servers/served_arrays.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The arrays of a trainer with a staleness of 0. Servers sum the gradients of all trainers and
/// update; the parameters have the same bits as with equally many trainers without servers. Each
/// trainer itself computes updates of embedding rows and updates with a clip by norm, as without
/// servers; but servers sum and update the rows of divided tables.
class synchronous_arrays final : public served_arrays {
 public:
  LAMINA_COLD synchronous_arrays(process_group& group, const trained_arrays& of)
      : served_arrays(group, of, group.rank(), group.trainers()) {}

  LAMINA_COLD void require_samples(std::uint64_t checksum, bool shares) override {
    facts_.require_samples(checksum, shares);
  }
  LAMINA_COLD void join_shares(std::int64_t* first, std::int64_t* count, int domains) override {
    facts_.join_shares(first, count, domains);
  }
  void gather_facts(void* all, std::size_t bytes, int local, int samples) override {
    facts_.use(update_);
    facts_.gather_facts(all, bytes, local, samples);
  }
  LAMINA_COLD void average(const float* const* copies, float* const* to, const std::size_t* floats,
                           int count, const part_weights& weights) override {
    facts_.average(copies, to, floats, count, weights);
  }
  LAMINA_COLD void add_up(double* numbers, std::size_t count) override {
    facts_.add_up(numbers, count);
  }
  LAMINA_COLD void add_up(metric_sum& sum, bool is_sum) override { facts_.add_up(sum, is_sum); }
  LAMINA_COLD void join_rows(engine::cpu::basic_selected_rows<float>* const* mine, int columns,
                             const part_weights& weights) override {
    facts_.join_rows(mine, columns, weights);
  }
  LAMINA_COLD void join_rows(engine::cpu::basic_selected_rows<double>* const* mine, int columns,
                             const part_weights& weights) override {
    facts_.join_rows(mine, columns, weights);
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
  LAMINA_COLD void note(const update_facts& numbers) override {
    scalars_.assign(numbers.scalars, numbers.scalars + numbers.count);
    scales_.clear();
    if (numbers.scales != nullptr) scales_.assign(numbers.scales, numbers.scales + arrays_.count());
  }
  void update(update_function how, void* trainer, worker_pool& pool) override {
    send_gradients(packet_kind::gradients);
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
  LAMINA_COLD void bring_totals() override {
    send_gradients(packet_kind::totals);
    if (arrays_.tables != nullptr) arrays_.tables->begin_squares();
    receive_answers([&](int server, const packet& answer) {
      packet_reader rest = behind_floats(answer, shards_.floats(server));
      copy_to(shards_.of(server), arrays_.gradients.data(), floats_of(answer));
      if (arrays_.tables != nullptr) arrays_.tables->read_squares(server, rest);
    });
  }
  LAMINA_COLD void update_tables() override {
    if (arrays_.tables == nullptr) return;
    const auto told = new_packet(
        {.kind = packet_kind::scales, .scalars = static_cast<std::int32_t>(scalars_.size())});
    told->add(scalars_.data(), scalars_.size() * sizeof(float));
    told->add(scales_.data(), scales_.size() * sizeof(float));
    for (int s = 0; s < servers(); ++s) post(s, told);
  }

  LAMINA_COLD void collect(float* const* of, int states) override {
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
  }

 private:
  void send_gradients(packet_kind kind) {
    head_.kind = kind;
    head_.scalars = kind == packet_kind::gradients ? static_cast<std::int32_t>(scalars_.size()) : 0;
    for (int s = 0; s < servers(); ++s) {
      head_.floats = head_.has != 0 ? shards_.floats(s) : 0;
      const auto mine = new_packet(head_);
      if (head_.has != 0) copy_from(shards_.of(s), arrays_.gradients.data(), floats_of(*mine));
      if (head_.scalars > 0) mine->add(scalars_.data(), scalars_.size() * sizeof(float));
      if (arrays_.tables != nullptr) arrays_.tables->add_gradients(s, *mine);
      post(s, mine);
    }
  }

  packet_head head_;
  std::vector<float> scalars_, scales_;
};

}}}  // namespace lamina::distributed

// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/synchronous_server.hpp - a parameter server whose trainers make each
// step together.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/owned_array.hpp>
#include <lamina/core/text.hpp>
#include <lamina/distributed/servers/serving_arrays.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/train/tree_sum.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// A parameter server with a staleness of 0. When it has received the gradients of all trainers, it
/// sums them in the order of the ranks with the weights of their parts (tree_sum), updates its
/// shard once and answers all trainers.
class synchronous_server final : public serving_arrays {
 public:
  LAMINA_COLD synchronous_server(process_group& group, const trained_arrays& of)
      : serving_arrays(group, of),
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
    served_tables* const tables = arrays_.tables;
    if (tables != nullptr) sum_tables();
    const auto answer = new_packet({.floats = floats()});
    if (head.kind == packet_kind::totals) {
      // With divided tables, the update begins when a trainer has sent their scales.
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
  /// Sums the gradients of divided tables, which follow the scalars.
  LAMINA_COLD void sum_tables() {
    std::vector<packet_reader> behind;
    for (const packet& part : parts_) {
      const packet_head head = head_of(part);
      behind.push_back(behind_floats(part, head.has != 0 ? floats() : 0));
      behind.back().take(static_cast<std::size_t>(head.scalars) * sizeof(float));
    }
    arrays_.tables->sum(behind);
  }
  /// Updates the rows of divided tables under a clip by norm. All trainers send the same scales,
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

}}}  // namespace lamina::distributed

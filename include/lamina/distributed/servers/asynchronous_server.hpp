// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/asynchronous_server.hpp - a parameter server that applies gradients as
// they arrive, and bounds the staleness of trainers.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/distributed/servers/changed_rows.hpp>
#include <lamina/distributed/servers/serving_arrays.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// A parameter server with a staleness s above 0. The gradients of each trainer are applied as a
/// separate update. A trainer that has made t steps since the last pause is answered, and may begin
/// its next step, when no other trainer has made fewer than t - s steps. A trainer that pauses, as
/// at the end of a pass, or that has ended its training does not count. When all trainers pause,
/// all have the same parameters, and their steps are counted from 0 again.
class asynchronous_server final : public serving_arrays {
 public:
  LAMINA_COLD asynchronous_server(process_group& group, const trained_arrays& of)
      : serving_arrays(group, of),
        staleness_(group.roles().staleness),
        trainers_(static_cast<std::size_t>(group.trainers())) {
    const std::size_t updates = 2 * trainers_.size() * (static_cast<std::size_t>(staleness_) + 2);
    for (const server_shards::table_piece& t : tables())
      changed_.emplace_back(static_cast<std::size_t>(t.end - t.first), updates);
  }

  LAMINA_COLD void begin(const shared_facts& mine, float* const* accumulators,
                         int states) override {
    serving_arrays::begin(mine, accumulators, states);
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
    const server_shards::table_piece& t = tables()[k];
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
      const server_shards::table_piece& t = tables()[k];
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
      for (const server_shards::table_piece& t : tables())
        made->add(
            accumulators_[static_cast<std::size_t>(t.parameter) * states_ + s] + t.whole().first,
            t.floats() * sizeof(float));
    of.seen = updates_ - 1;
    group_.post(to, made);
  }

  std::int64_t staleness_;
  std::vector<trainer_state> trainers_;
  std::vector<changed_rows> changed_;  // by piece of a table
  std::int64_t updates_ = 0, most_ahead_ = 0;
  std::vector<float> scales_;
  std::vector<int> rows_;
};

}}}  // namespace lamina::distributed

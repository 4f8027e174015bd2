// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/ps_embedding.hpp - the sharded tables of a process_group whose
// parameter servers own the rows.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/embedding/peer_embedding.hpp>
#include <lamina/distributed/embedding/sharded_file.hpp>
#include <lamina/distributed/packet.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/servers/server_packet.hpp>
#include <lamina/distributed/servers/trainer_group.hpp>
#include <lamina/distributed/sync/rows_exchange.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>
#include <lamina/train/parameter_sync.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Sharded tables with parameter servers: each server owns a shard of the rows, and a trainer owns
/// none. During a training, from open() to close(), trainers request rows from the servers by
/// packets whenever they need some, and send them gradients; servers only answer. At other times
/// all processes, including the servers, make the same calls, as without servers.
class ps_embedding final : public peer_embedding {
 public:
  /// All processes must make it. Throws lamina::error if their tables or seeds differ.
  LAMINA_COLD ps_embedding(process_group& group, std::vector<embedding_table> tables,
                           std::uint64_t seed)
      : peer_embedding(group, std::move(tables), seed, group.trainers()),
        gradients_(tables_.size()),
        squares_(tables_.size()),
        narrow_(tables_.size()),
        wide_(tables_.size()) {
    is_served_ = true;
    for (auto& g : gradients_) g.resize(static_cast<std::size_t>(group.parameter_servers()));
  }

  /// A table in a training: its parameter, whether that is updated, and its arrays (the table and
  /// its accumulators).
  struct trained_table {
    int parameter = -1;
    bool updated = false;
    std::vector<float*> arrays;
  };
  /// Begins a training. `of` has all tables.
  LAMINA_COLD void open(std::vector<trained_table> of) {
    trained_ = std::move(of);
    is_open_ = true;
  }
  LAMINA_COLD void close() { is_open_ = false; }

  /// Throws lamina::error when a server calls it during a training.
  LAMINA_COLD void fetch(const looked_up_ids* of, std::size_t count, purpose why) override {
    if (!is_open_) return peer_embedding::fetch(of, count, why);
    if (group().is_parameter_server())
      throw error(
          "lamina: distributed: expected an evaluation with sharded tables on trainers only while "
          "a trainer exists, found one on a parameter server: ask world.is_parameter_server()");
    const std::vector<std::vector<int>>& wanted = begin_fetch(of, count);
    std::vector<int> awaited;
    for (int s = 0; s < group().parameter_servers(); ++s) ask_for_rows(s, wanted, awaited);
    packet answer;
    while (!awaited.empty()) {
      const int from = group().receive(answer, awaited, patiences);
      std::erase(awaited, from);
      take_rows(from, answer, wanted);
    }
    note_touched();
  }

  LAMINA_COLD void reduce_rows(int table, engine::cpu::basic_selected_rows<float>* const* mine,
                               const part_weights& weights) override {
    reduce_rows_as(table, mine, weights);
  }
  LAMINA_COLD void reduce_rows(int table, engine::cpu::basic_selected_rows<double>* const* mine,
                               const part_weights& weights) override {
    reduce_rows_as(table, mine, weights);
  }
  /// During a training, returns the sum over the servers, or the sum of this trainer alone if it
  /// makes its steps independently.
  LAMINA_COLD double all_reduce_sum(int table, double mine) override {
    return is_asynchronous() ? mine : squares_[static_cast<std::size_t>(table)];
  }

  /// During a training, the trainers call it, and rank 0 tells the servers; a call on a server does
  /// nothing.
  LAMINA_COLD void write(const std::string& path, const std::vector<tensor_entry>& entries,
                         const std::vector<embedding_array>& arrays) override {
    if (!is_open_) return peer_embedding::write(path, entries, arrays);
    if (group().is_parameter_server()) return;
    if (group().rank() == 0) ask_for_arrays(arrays);
    trainer_group trainers = trainer_group::trainers_of(group());
    sharded_file(group(), sharded(), trainers).write(path, entries, arrays);
  }

  /// On a trainer: appends the gradients of its parts for the rows of a server to a packet.
  LAMINA_COLD void add_gradients(int server, packet& to) const {
    for (const auto& of_table : gradients_) {
      const packet& mine = of_table[static_cast<std::size_t>(server)];
      if (mine.size() == 0) to.add(0);  // no gradient: the table is not trained
      to.add(mine.data(), mine.size());
    }
  }
  /// On a trainer: begins to read the sums of squares; read_squares() may be called for the servers
  /// in any order.
  LAMINA_COLD void begin_squares() {
    of_server_.assign(tables_.size() * static_cast<std::size_t>(group().parameter_servers()), 0);
  }
  LAMINA_COLD void read_squares(int server, packet_reader& from) {
    const std::size_t servers = static_cast<std::size_t>(group().parameter_servers());
    for (std::size_t t = 0; t < squares_.size(); ++t) {
      of_server_[t * servers + static_cast<std::size_t>(server)] = from.read<double>();
      squares_[t] = 0;  // added in the order of the servers, so that all trainers have the same
      for (std::size_t s = 0; s < servers; ++s) squares_[t] += of_server_[t * servers + s];
    }
  }

  /// On a server: sums the gradients of some trainers, in their order, as add_gradients() wrote
  /// them. Throws lamina::error if a row belongs to another server.
  LAMINA_COLD void sum(std::vector<packet_reader>& from) {
    for (int t = 0; t < static_cast<int>(tables_.size()); ++t)
      if (is_double(t))
        sum_table(from, t, wide_[static_cast<std::size_t>(t)]);
      else
        sum_table(from, t, narrow_[static_cast<std::size_t>(t)]);
  }
  /// On a server: updates the rows by these sums, and appends the squares of the sums.
  LAMINA_COLD void update(const server_functions& by) {
    for (int t = 0; t < static_cast<int>(tables_.size()); ++t) {
      const trained_table& trained = trained_[static_cast<std::size_t>(t)];
      void* const rows = is_double(t) ? static_cast<void*>(&wide_[static_cast<std::size_t>(t)])
                                      : &narrow_[static_cast<std::size_t>(t)];
      if (trained.updated) by.update_rows(by.trainer, trained.parameter, 0, -1, rows);
    }
  }
  LAMINA_COLD void add_squares(packet& to) const {
    for (int t = 0; t < static_cast<int>(tables_.size()); ++t)
      to.add(is_double(t) ? engine::cpu::squares_of(wide_[static_cast<std::size_t>(t)])
                          : engine::cpu::squares_of(narrow_[static_cast<std::size_t>(t)]));
  }
  /// On a server: answers a packet that requests rows.
  LAMINA_COLD void answer_rows(int to, const packet& got) {
    packet_reader asks = behind_floats(got, 0);
    const auto answer = new_packet({.kind = packet_kind::rows});
    for (int t = 0; t < static_cast<int>(tables_.size()); ++t) {
      const std::size_t wide = at(t).row_bytes();
      for (int left = asks.read<int>(); left > 0; --left) {
        const int row = require_own(t, asks.read<int>());
        const std::size_t begin = answer->size();
        answer->resize(begin + wide);
        at(t).copy_out(bytes(t), row, answer->data() + begin);
      }
    }
    group().post(to, answer);
  }
  /// On a server: sends the rows of the arrays that a packet names to rank 0, which writes a file.
  LAMINA_COLD void send_arrays(const packet& got) {
    packet_reader asks = behind_floats(got, 0);
    sharded_file file(group(), sharded());
    for (int left = asks.read<int>(); left > 0; --left) {
      const auto t = static_cast<std::size_t>(asks.read<int>());
      const auto number = static_cast<std::size_t>(asks.read<int>());
      if (t >= trained_.size() || number >= trained_[t].arrays.size())
        throw error("lamina: distributed: expected an array of a sharded table, found another");
      file.send_rows({static_cast<int>(t), tables_[t].name, trained_[t].arrays[number]});
    }
  }

 private:
  // A server may itself wait for another trainer before it answers, and then reports which one is
  // missing.
  static constexpr int patiences = 2;

  bool is_asynchronous() const { return group().roles().staleness > 0; }
  bool is_double(int table) const { return at(table).table().type == dtype::float64; }
  int rank_of(int server) const { return group().trainers() + server; }

  int require_own(int table, int row) const {
    if (row < first(table) || row >= end(table))
      throw error(text() << "lamina: distributed: table " << at(table).table().name
                         << ": expected rows " << first(table) << " to " << end(table) - 1
                         << ", found " << row);
    return row;
  }

  /// Calls f(row) for the wanted rows of a table that belong to a rank; `wanted` is sorted.
  template <class F>
  void each_wanted(int rank, int table, const std::vector<int>& wanted, F&& f) const {
    const int begin = at(table).first(rank), end = at(table).end(rank);
    for (auto row = std::lower_bound(wanted.begin(), wanted.end(), begin);
         row != wanted.end() && *row < end; ++row)
      f(*row);
  }
  LAMINA_COLD void ask_for_rows(int server, const std::vector<std::vector<int>>& wanted,
                                std::vector<int>& awaited) {
    const auto asks = new_packet({.kind = packet_kind::rows});
    int all = 0;
    for (int t = 0; t < static_cast<int>(wanted.size()); ++t) {
      std::vector<int> rows;
      each_wanted(rank_of(server), t, wanted[static_cast<std::size_t>(t)],
                  [&](int row) { rows.push_back(row); });
      asks->add(static_cast<int>(rows.size()));
      asks->add(rows.data(), rows.size() * sizeof(int));
      all += static_cast<int>(rows.size());
    }
    if (all == 0) return;
    group().post(rank_of(server), asks);
    awaited.push_back(rank_of(server));
  }
  LAMINA_COLD void take_rows(int rank, const packet& answer,
                             const std::vector<std::vector<int>>& wanted) {
    if (head_of(answer).kind != packet_kind::rows)
      throw error(text() << "lamina: distributed: expected rows of sharded tables from rank "
                         << rank << ", found another packet");
    packet_reader from = behind_floats(answer, 0);
    for (int t = 0; t < static_cast<int>(wanted.size()); ++t)
      each_wanted(rank, t, wanted[static_cast<std::size_t>(t)],
                  [&](int row) { at(t).copy_in(from.take(at(t).row_bytes()), row, bytes(t)); });
  }
  LAMINA_COLD void ask_for_arrays(const std::vector<embedding_array>& arrays) {
    const auto asks = new_packet({.kind = packet_kind::arrays});
    asks->add(static_cast<int>(arrays.size()));
    for (const embedding_array& a : arrays) {
      const std::vector<float*>& known = trained_[static_cast<std::size_t>(a.table)].arrays;
      std::size_t number = 0;
      while (number < known.size() && known[number] != a.memory) ++number;
      if (number == known.size())
        throw error(text() << "lamina: distributed: expected an array of the training, found "
                           << a.name << ": has another trainer begun with this model?");
      asks->add(a.table);
      asks->add(static_cast<int>(number));
    }
    for (int s = 0; s < group().parameter_servers(); ++s) group().post(rank_of(s), asks);
  }

  /// Keeps the gradients of the parts of this trainer, by server, for the next packets. A trainer
  /// that makes its steps independently sums its parts itself.
  template <class T>
  LAMINA_COLD void reduce_rows_as(int table, engine::cpu::basic_selected_rows<T>* const* mine,
                                  const part_weights& weights) {
    const auto local = static_cast<std::size_t>(weights.local);
    const bool alone = is_asynchronous();
    if (alone) {
      std::vector<T> weight;
      for (std::size_t t = 0; t < local; ++t)
        weight.push_back(static_cast<T>(weight_at(weights, t, sizeof(T) == sizeof(double))));
      trainer_group self = trainer_group::alone(group());
      rows_exchange<T>(self).reduce({mine, mine + local}, at(table).table().columns, weight);
    }
    std::vector<packet>& to = gradients_[static_cast<std::size_t>(table)];
    for (packet& l : to) {
      l.resize(0);
      l.add(alone ? 1 : weights.local);
    }
    const std::size_t before = static_cast<std::size_t>(group().rank()) * local;
    std::vector<int> counts(to.size());
    for (std::size_t t = 0; t < (alone ? 1 : local); ++t) {
      const double weight = alone ? 1 : weight_at(weights, before + t, sizeof(T) == sizeof(double));
      const auto& rows = *mine[t];
      const auto server_of = [&](int i) {
        return static_cast<std::size_t>(at(table).owner(rows.number(i)) - group().trainers());
      };
      counts.assign(to.size(), 0);
      for (int i = 0; i < rows.size(); ++i) ++counts[server_of(i)];
      for (std::size_t s = 0; s < to.size(); ++s) {
        to[s].add(weight);
        to[s].add(counts[s]);
      }
      for (int i = 0; i < rows.size(); ++i) {
        packet& l = to[server_of(i)];
        l.add(rows.number(i));
        l.add(rows.row(i), at(table).row_bytes());
      }
    }
    // The servers have the gradients, so this trainer has no row to update.
    if (!alone) mine[0]->begin(at(table).table().columns);
  }
  /// Sums the parts of the trainers in the order and with the operations of rows_owner.
  template <class T>
  LAMINA_COLD void sum_table(std::vector<packet_reader>& from, int table,
                             engine::cpu::basic_selected_rows<T>& sum) {
    sum.begin(at(table).table().columns);
    std::vector<T> values(static_cast<std::size_t>(at(table).table().columns));
    bool is_first = true;
    for (packet_reader& one : from)
      for (int parts = one.read<int>(); parts > 0; --parts, is_first = false) {
        const T weight = static_cast<T>(one.read<double>());
        for (int left = one.read<int>(); left > 0; --left) {
          const int row = require_own(table, one.read<int>());
          one.read(values.data(), at(table).row_bytes());
          if (is_first || weight != 0) sum.add(row, values.data(), is_first ? T(1) : weight);
        }
        if (is_first) sum.scale(weight);
      }
  }

  std::vector<trained_table> trained_;
  bool is_open_ = false;
  std::vector<std::vector<packet>> gradients_;  // by table and server: not sent yet
  std::vector<double> squares_, of_server_;     // by table; by table and server
  // On a server, by table: the sums of gradients, in the type of the table.
  std::vector<engine::cpu::basic_selected_rows<float>> narrow_;
  std::vector<engine::cpu::basic_selected_rows<double>> wide_;
};

}}}  // namespace lamina::distributed

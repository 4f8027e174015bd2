// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/embedding/peer_embedding.hpp - the sharded tables of a process_group:
// processes send each other rows as bytes.
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

#include <lamina/core/files/checksum.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/embedding/row_mapping.hpp>
#include <lamina/distributed/embedding/rows_owner.hpp>
#include <lamina/distributed/embedding/sharded_file.hpp>
#include <lamina/distributed/embedding/sharded_table.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/model/parameters/tensor_file.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>
#include <lamina/train/parameter_sync.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Accumulators in mappings of the size of whole tables.
class sharded_states final : public embedding_states {
 public:
  LAMINA_COLD sharded_states(const std::vector<sharded_table>& tables, int rank, int count,
                             const float* initial)
      : count_(count) {
    for (const sharded_table& table : tables)
      for (int s = 0; s < count; ++s) {
        row_mapping& m = all_.emplace_back(table.memory_bytes(), table.table().name);
        if (initial[s] == 0) continue;
        if (table.table().type == dtype::float64)
          fill(table, rank, m, static_cast<double>(initial[s]));
        else
          fill(table, rank, m, initial[s]);
      }
  }
  float* at(int table, int s) const override {
    const row_mapping& m = all_[static_cast<std::size_t>(table * count_ + s)];
    return reinterpret_cast<float*>(m.data());
  }

 private:
  template <class Real>
  static void fill(const sharded_table& table, int rank, const row_mapping& m, Real value) {
    for (const sharded_table::slice& s : table.slices()) {
      Real* const first = reinterpret_cast<Real*>(m.data() + s.begin);
      const std::size_t step = s.step / sizeof(Real);
      std::fill(first + static_cast<std::size_t>(table.first(rank)) * step,
                first + static_cast<std::size_t>(table.end(rank)) * step, value);
    }
  }

  int count_;
  std::vector<row_mapping> all_;
};

/// The sharded tables of the models of a process_group, which must outlive them.
class peer_embedding : public sharded_embedding {
 public:
  /// All processes must call it. Ranks below `first_owner` own no rows. Throws lamina::error if
  /// tables or seeds of the processes differ.
  LAMINA_COLD peer_embedding(process_group& group, std::vector<embedding_table> tables,
                             std::uint64_t seed, int first_owner = 0)
      : sharded_embedding(group.rank(), group.size(), std::move(tables)), group_(group) {
    require_same(seed);
    for (const embedding_table& t : tables_) {
      if (t.type != dtype::float32 && t.type != dtype::float64)
        throw error(text() << "lamina: distributed: table " << t.name
                           << ": expected float or double, found " << name_of(t.type));
      const sharded_table& table = sharded_.emplace_back(t, ranks_, first_owner);
      row_mapping& memory = memory_.emplace_back(table.memory_bytes(), t.name);
      for (const sharded_table::slice& s : table.slices()) {
        const std::size_t begin = s.begin + static_cast<std::size_t>(table.first(rank_)) * s.step;
        const std::size_t end = s.begin + static_cast<std::size_t>(table.end(rank_)) * s.step;
        memory.fill(begin, end);
        own_bytes_ += end - begin;
      }
    }
  }

  int first(int table) const override { return at(table).first(rank_); }
  int end(int table) const override { return at(table).end(rank_); }
  float* memory(int table) const override {
    return reinterpret_cast<float*>(memory_[static_cast<std::size_t>(table)].data());
  }

  LAMINA_COLD void fetch(const looked_up_ids* of, std::size_t count, purpose why) override {
    begin_fetch(of, count);
    const std::size_t tables = tables_.size(), ranks = static_cast<std::size_t>(ranks_);
    const std::size_t me = static_cast<std::size_t>(rank_);
    // Layout by rank: the purpose, then the number of rows by table and owner.
    const std::size_t words = 1 + tables * ranks;
    std::vector<int> mine(words), all(words * ranks);
    mine[0] = static_cast<int>(why);
    for (std::size_t t = 0; t < tables; ++t)
      for (const int row : wanted_[t])
        ++mine[1 + t * ranks + static_cast<std::size_t>(sharded_[t].owner(row))];
    group_.gather(mine.data(), words * sizeof(int), all.data());
    for (std::size_t r = 1; r < ranks; ++r)
      if (all[r * words] != all[0])
        throw error(text() << "lamina: distributed: expected that all processes train, or that all "
                              "evaluate, found "
                           << name_of_purpose(all[0]) << " in rank 0 and "
                           << name_of_purpose(all[r * words]) << " in rank " << r);
    const auto rows_between = [&](std::size_t t, std::size_t from, std::size_t owner) {
      return static_cast<std::size_t>(all[from * words + 1 + t * ranks + owner]);
    };

    // Sends the numbers of the rows to their owners.
    std::vector<process_group::message> sends, receives;
    asked_.resize(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      std::size_t rows = 0;
      for (std::size_t t = 0; t < tables; ++t) rows += r == me ? 0 : rows_between(t, r, me);
      asked_[r].resize(rows);
      if (rows > 0) receives.push_back({static_cast<int>(r), asked_[r].data(), rows * sizeof(int)});
    }
    asking_.assign(ranks, {});
    for (std::size_t t = 0; t < tables; ++t)
      for (const int row : wanted_[t])
        asking_[static_cast<std::size_t>(sharded_[t].owner(row))].push_back(row);
    for (std::size_t r = 0; r < ranks; ++r)
      if (!asking_[r].empty())
        sends.push_back({static_cast<int>(r), asking_[r].data(), asking_[r].size() * sizeof(int)});
    group_.exchange(sends, receives);

    // Receives the rows from their owners.
    sends.clear(), receives.clear();
    sent_.resize(ranks), received_.resize(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      std::size_t leaving = 0, arriving = 0;
      for (std::size_t t = 0; t < tables; ++t) {
        leaving += r == me ? 0 : rows_between(t, r, me) * sharded_[t].row_bytes();
        arriving += rows_between(t, me, r) * sharded_[t].row_bytes();
      }
      sent_[r].resize(leaving), received_[r].resize(arriving);
      std::byte* to = sent_[r].data();
      const int* row = asked_[r].data();
      for (std::size_t t = 0; t < tables && r != me; ++t)
        for (std::size_t k = rows_between(t, r, me); k > 0; --k, to += sharded_[t].row_bytes())
          sharded_[t].copy_out(memory_[t].data(), *row++, to);
      if (leaving > 0) sends.push_back({static_cast<int>(r), sent_[r].data(), leaving});
      if (arriving > 0) receives.push_back({static_cast<int>(r), received_[r].data(), arriving});
    }
    group_.exchange(sends, receives);
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::byte* from = received_[r].data();
      const int* row = asking_[r].data();
      for (std::size_t t = 0; t < tables; ++t)
        for (std::size_t k = rows_between(t, me, r); k > 0; --k, from += sharded_[t].row_bytes())
          sharded_[t].copy_in(from, *row++, memory_[t].data());
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
  LAMINA_COLD double all_reduce_sum(int, double number) override {
    std::vector<double> all(static_cast<std::size_t>(ranks_));
    group_.gather(&number, sizeof number, all.data());
    double sum = 0;
    for (const double one : all) sum += one;
    return sum;
  }
  LAMINA_COLD std::shared_ptr<embedding_states> make_states(int count,
                                                            const float* initial) override {
    return std::make_shared<sharded_states>(sharded_, rank_, count, initial);
  }

  LAMINA_COLD void import_rows(int table, int first_row, int count, const void* from) override {
    const std::byte* row = static_cast<const std::byte*>(from);
    for (int r = first_row; r < first_row + count; ++r, row += at(table).row_bytes())
      at(table).copy_in(row, r, memory_[static_cast<std::size_t>(table)].data());
  }
  LAMINA_COLD void write(const std::string& path, const std::vector<tensor_entry>& entries,
                         const std::vector<embedding_array>& arrays) override {
    sharded_file(group_, sharded_).write(path, entries, arrays);
  }
  LAMINA_COLD std::vector<tensor_entry> read(const std::string& path,
                                             const std::vector<embedding_array>& arrays) override {
    return sharded_file::read(path, arrays);
  }
  LAMINA_COLD void read_rows(const std::string& path,
                             const std::vector<embedding_array>& arrays) override {
    sharded_file(group_, sharded_).read_rows(path, arrays);
  }

 protected:
  const sharded_table& at(int table) const { return sharded_[static_cast<std::size_t>(table)]; }
  const std::vector<sharded_table>& sharded() const { return sharded_; }
  std::byte* bytes(int table) const { return memory_[static_cast<std::size_t>(table)].data(); }
  process_group& group() const { return group_; }

  /// Begins a fetch: finds the rows of other ranks that the look-ups read, by table, each once,
  /// sorted.
  const std::vector<std::vector<int>>& begin_fetch(const looked_up_ids* of, std::size_t count) {
    release_rows();
    find_wanted(of, count);
    return wanted_;
  }
  /// Ends a fetch after the wanted rows have been copied to memory.
  void note_touched() {
    for (std::size_t t = 0; t < tables_.size(); ++t)
      touched_bytes_ += wanted_[t].size() * sharded_[t].slices().size() * row_mapping::page();
  }

 private:
  /// Rows of other ranks stay in memory until their pages exceed `least_kept` bytes and the
  /// fraction 1 / `part_kept` of the own rows.
  static constexpr std::size_t least_kept = std::size_t{1} << 20, part_kept = 128;

  static const char* name_of_purpose(int why) {
    return why == static_cast<int>(purpose::training) ? "a step of training" : "an evaluation";
  }
  LAMINA_COLD void require_same(std::uint64_t seed) {
    checksum sum;
    for (const embedding_table& t : tables_) {
      sum.add(t.name.data(), t.name.size());
      const std::int64_t facts[] = {t.rows, t.columns, static_cast<int>(t.type)};
      sum.add(facts, sizeof facts);
    }
    const std::uint64_t mine[2] = {sum.value(), seed};
    std::vector<std::uint64_t> all(2 * static_cast<std::size_t>(ranks_));
    group_.gather(mine, sizeof mine, all.data());
    for (std::size_t r = 1; r < static_cast<std::size_t>(ranks_); ++r)
      for (std::size_t k = 0; k < 2; ++k)
        if (all[2 * r + k] != all[k])
          throw error(text() << "lamina: model: expected the same "
                             << (k == 0 ? "tables" : "seed of the model")
                             << " in each process, found " << all[k] << " in rank 0 and "
                             << all[2 * r + k] << " in rank " << r);
  }

  /// Finds the rows of other ranks that the look-ups read: by table, each once, sorted.
  void find_wanted(const looked_up_ids* of, std::size_t count) {
    wanted_.resize(tables_.size());
    for (auto& w : wanted_) w.clear();
    for (std::size_t k = 0; k < count; ++k) {
      const sharded_table& table = at(of[k].table);
      std::vector<int>& to = wanted_[static_cast<std::size_t>(of[k].table)];
      const std::int64_t rows = table.table().rows;
      const std::int64_t first = table.first(rank_), end = table.end(rank_);
      for (std::size_t i = 0; i < of[k].count; ++i) {
        const std::int64_t id = of[k].ids[i];
        if (id < 0 || id >= rows || id == of[k].padding || (id >= first && id < end)) continue;
        to.push_back(static_cast<int>(id));
      }
    }
    for (auto& w : wanted_) {
      std::sort(w.begin(), w.end());
      w.erase(std::unique(w.begin(), w.end()), w.end());
    }
  }
  /// Returns the memory of rows of other ranks to the system when it exceeds its limit.
  void release_rows() {
    if (touched_bytes_ <= (std::max)(least_kept, own_bytes_ / part_kept)) return;
    touched_bytes_ = 0;
    for (std::size_t t = 0; t < sharded_.size(); ++t)
      for (const sharded_table::slice& s : sharded_[t].slices()) {
        const auto row = [&](int r) { return s.begin + static_cast<std::size_t>(r) * s.step; };
        memory_[t].release(row(0), row(sharded_[t].first(rank_)));
        memory_[t].release(row(sharded_[t].end(rank_)), row(sharded_[t].table().rows));
      }
  }
  template <class T>
  void reduce_rows_as(int table, engine::cpu::basic_selected_rows<T>* const* mine,
                      const part_weights& weights) {
    std::vector<T> weight(static_cast<std::size_t>(weights.count));
    const std::byte* from = static_cast<const std::byte*>(weights.first);
    for (T& w : weight) {
      std::memcpy(&w, from, sizeof w);
      from += weights.stride;
    }
    rows_owner<T>(group_).reduce({mine, mine + weights.local}, at(table), weight);
  }

  process_group& group_;
  std::vector<sharded_table> sharded_;
  std::vector<row_mapping> memory_;
  std::size_t own_bytes_ = 0;
  std::size_t touched_bytes_ = 0;                 // size of pages touched by rows of others
  std::vector<std::vector<int>> wanted_;          // by table: rows of other ranks, sorted
  std::vector<std::vector<int>> asked_, asking_;  // by rank: rows, by table
  std::vector<std::vector<std::byte>> sent_, received_;
};

}}}  // namespace lamina::distributed

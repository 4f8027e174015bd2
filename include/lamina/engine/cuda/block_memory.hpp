// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/block_memory.hpp - what a machine at a place has besides for programs with
// loops and branches: numbers on the host, arrays of tensors, arrays of rows that operators make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <lamina/engine/call/block_schedule.hpp>
#include <lamina/engine/cuda/graph_parts.hpp>
#include <lamina/engine/cuda/host_values.hpp>
#include <lamina/engine/cuda/place_array.hpp>
#include <lamina/engine/cuda/run_key.hpp>
#include <lamina/engine/cuda/schedule_table.hpp>

namespace lamina::engine::cuda {

/// What the host knows of the arguments of program P's schedule.
template <class P, class Backend>
struct host_table {
  using plan_type = plan<P>;
  using schedule = schedule_table<P, Backend>;
  using blocks = block_schedule<P, schedule>;
  static constexpr const auto& values = host_values_of<P>;
  static constexpr const auto& padded = graph_blocks_of<P>.padded;
  static constexpr const auto& parts = graph_parts_of<P>;
  static constexpr int arguments = schedule::arguments;
  static constexpr int domains = P::desc.count.domains;

  struct frame_number {
    int argument, word;
  };
  struct rank_arguments {
    list_range arguments;
    int width;       // words of a row
    int loop, word;  // the loop whose frames keep it, or -1, and the word with its address
  };
  struct table_type {
    bool here[at_least_one(schedule::groups)];   // by group: the host runs it
    bool inner[at_least_one(schedule::groups)];  // by group: it is of a loop or branch
    bool sent[at_least_one(arguments)];          // a result of the host that the place needs
    int number[at_least_one(arguments)];         // of a number on the host, or -1
    list_range frames[at_least_one(blocks::loop_count)];  // by loop: numbers that its frames keep
    int words[at_least_one(blocks::loop_count)];
    frame_number frame_numbers[at_least_one(arguments)];
    rank_arguments ranks[at_least_one(arguments)];     // by rank table
    int of_ranks[at_least_one(arguments)];             // arguments, table by table
    int made_ranks[at_least_one(schedule::groups)];    // by group: the table that it makes, or -1
    bool node[at_least_one(P::desc.count.blocks)];  // a recorded graph may run the block
    bool divides[domains];  // something is divided by the rows of a domain that is not fed
    int number_count, ranks_count;
  };
  static constexpr table_type make() {
    constexpr const auto& lowered = plan_type::lowered;
    table_type t{};
    int of[at_least_one(lowered.count.variables)];  // by variable: its number
    for (int& n : of) n = -1;
    for (int a = 0; a < arguments; ++a) {
      t.number[a] = -1;
      const int v = plan_type::code.arguments[a];
      if (v < 0) {
        for (int d = batch::domain; d < domains; ++d)
          if (is_constant(v) && constant_index(v) == inverse_rows(d))
            t.divides[d] = !plan_type::fed.of[d];
        continue;
      }
      if (!values.computed[v] || is_ranks(v)) continue;
      if (of[v] < 0) of[v] = t.number_count++;
      t.number[a] = of[v];
    }
    for (int g = 0; g < schedule::groups; ++g) {
      const instruction& i = head_of(g);
      t.here[g] = values.makes(lowered, i);
      t.inner[g] = i.block > 0;
      const group_code& c = plan_type::code.groups[g];
      for (int a = c.arguments + i.input_count; t.here[g] && a < c.arguments + c.argument_count;
           ++a)
        t.sent[a] = t.number[a] >= 0 && values.sent[plan_type::code.arguments[a]];
    }
    for (int b = 0; b < P::desc.count.blocks; ++b) t.node[b] = values.node[b];
    int used = 0;
    for (int l = 0; l < blocks::loop_count; ++l) {
      t.frames[l] = {used, 0};
      int word_of[at_least_one(lowered.count.variables)];
      for (int& w : word_of) w = -1;
      for (int a = 0; a < arguments; ++a) {
        const int v = plan_type::code.arguments[a];
        if (t.number[a] < 0 || plan_type::reach.frame(v) != blocks::table.loops[l].body) continue;
        if (word_of[v] < 0) word_of[v] = t.words[l]++;
        t.frame_numbers[used++] = {a, word_of[v]};
        ++t.frames[l].count;
      }
    }
    find_ranks(t);
    return t;
  }
  static constexpr const instruction& head_of(int g) {
    return plan_type::lowered
        .instructions[plan_type::grouped.order[plan_type::grouped.groups[g].first]];
  }
  /// Whether what the host computes has rows: then it is a rank table.
  static constexpr bool is_ranks(int v) { return plan_type::lowered.variables[v].rows < 0; }
  static constexpr void find_ranks(table_type& t) {
    for (int& n : t.made_ranks) n = -1;
    int used = 0;
    for (int v = 0; v < plan_type::lowered.count.variables; ++v) {
      if (!values.computed[v] || !is_ranks(v)) continue;
      rank_arguments& table = t.ranks[t.ranks_count];
      table = {{used, 0}, row_width(plan_type::lowered.variables[v]), -1, 0};
      for (int g = 0; g < schedule::groups; ++g) {
        const group_code& c = plan_type::code.groups[g];
        for (int a = c.arguments; a < c.arguments + c.argument_count; ++a) {
          if (plan_type::code.arguments[a] != v) continue;
          t.of_ranks[used++] = a;
          ++table.arguments.count;
          if (head_of(g).schema == &schema_of<lod_rank_table>()) t.made_ranks[g] = t.ranks_count;
        }
      }
      for (int l = 0; l < blocks::loop_count; ++l)
        if (plan_type::reach.frame(v) == blocks::table.loops[l].body)
          table.loop = l, table.word = t.words[l]++;
      ++t.ranks_count;
    }
  }
  static constexpr table_type table = make();

  /// Whether the host knows the rows of every domain before a run begins: those of steps depend on
  /// the lengths of sequences that are fed, and others are padded in a graph. What somebody may ask
  /// for behind a run has fed rows.
  static constexpr bool knows_rows = [] {
    for (int d = 0; d < domains; ++d)
      if (!plan_type::fed.of[d] && P::desc.domains[d].kind != domain_kind::step && !padded.of[d])
        return false;
    for (int n = 0; n < plan_type::pinned.count; ++n)
      if (!plan_type::fed
               .of[domain_of_rows(plan_type::lowered.variables[plan_type::pinned.ids[n]].rows)])
        return false;
    return true;
  }();
  /// By domain: its rows, where padded ones are as many as there may be.
  static void find_most_rows(const int* rows, int* most) {
    for (int d = 0; d < domains; ++d)
      most[d] = padded.of[d] ? most[P::desc.domains[d].parent] : rows[d];
  }
  /// Whether what a run does depends on the numbers of rows and on the lengths of sequences alone,
  /// so that it may be recorded.
  static constexpr bool repeats = !values.waits && knows_rows;
  /// The same where graphs decide which blocks run.
  static constexpr bool repeats_with_nodes = !values.reads && knows_rows;
};

/// Numbers of the host on their way to a place, each at a place of its own until the run is over.
template <class Backend>
class sent_numbers {
 public:
  explicit sent_numbers(Backend& b) : backend_(b) {}
  /// All that was sent has arrived.
  void clear() { chunk_ = used_ = 0; }
  void send(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    char* const at = take(bytes);
    std::memcpy(at, from, bytes);
    backend_.upload(to, at, bytes);
  }

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
  char* take(std::size_t bytes) {
    for (;; ++chunk_, used_ = 0) {
      if (chunk_ == chunks_.size()) {
        chunks_.emplace_back(backend_);
        chunks_.back().reserve(bytes > chunk_bytes ? bytes : chunk_bytes);
      }
      if (chunks_[chunk_].size() - used_ < bytes) continue;
      char* const at = chunks_[chunk_].data() + used_;
      used_ += bytes;
      return at;
    }
  }

  Backend& backend_;
  std::vector<staging_buffer<Backend>> chunks_;
  std::size_t chunk_ = 0, used_ = 0;
};

/// Numbers, tables and arrays of one machine.
template <class P, class Backend>
class block_memory {
 public:
  using known = host_table<P, Backend>;
  using schedule = typename known::schedule;
  static constexpr int domains = known::domains;

  LAMINA_COLD explicit block_memory(Backend& b) : backend_(b), sent_(b) {
    for (int i = 0; i < known::plan_type::memory.arrays; ++i)
      arrays_.emplace_back(place_chunks<Backend>{&b});
    for (int d = 0; d < domains; ++d) made_.emplace_back(b), offsets_.emplace_back(b);
    for (int a = 0; a < schedule::arguments; ++a) {
      if (known::table.number[a] >= 0)
        on_host_[a] = reinterpret_cast<float*>(&numbers_[known::table.number[a]]);
      else if (schedule::table.slots[a].space == memory_space::array)
        on_host_[a] = reinterpret_cast<float*>(&array(schedule::table.slots[a].offset));
    }
  }

  const void* array_address(int i) const { return &arrays_[static_cast<std::size_t>(i)]; }
  place_array<Backend>& array(int i) { return arrays_[static_cast<std::size_t>(i)]; }
  /// Where the host has arguments; null for what only the place has.
  float* const* on_host() const { return on_host_; }

  /// Room for the rank table that group g makes, if it does: a row for each of its sequences.
  void make_ranks(int g, const int* rows) {
    const int n = known::table.made_ranks[g];
    if (n < 0) return;
    const auto& table = known::table.ranks[n];
    const argument_info& info = schedule::table.info[known::table.of_ranks[table.arguments.first]];
    ranks_[n].resize(static_cast<std::size_t>(operator_call::rows_of(rows, info.rows) + 1) *
                     static_cast<std::size_t>(table.width) / 2);
    place_ranks(n, ranks_[n].data());
  }
  /// The numbers that a frame keeps lie in its words.
  void place_own(int loop, std::uintptr_t* words) {
    const list_range r = known::table.frames[loop];
    for (int i = r.first; i < r.first + r.count; ++i)
      on_host_[known::table.frame_numbers[i].argument] =
          reinterpret_cast<float*>(words + known::table.frame_numbers[i].word);
  }
  /// The rank tables that a frame keeps are copied to memory of its own (`push`: of so many floats)
  /// when its iteration ends, ...
  template <class Push>
  void keep_own(int loop, std::uintptr_t* words, const Push& push) {
    for (int n = 0; n < known::table.ranks_count; ++n) {
      if (known::table.ranks[n].loop != loop) continue;
      float* const to = push(2 * ranks_[n].size());
      std::memcpy(to, ranks_[n].data(), ranks_[n].size() * sizeof(std::int64_t));
      words[known::table.ranks[n].word] = reinterpret_cast<std::uintptr_t>(to);
    }
  }
  /// ... and read there when its gradient begins.
  void restore_own(int loop, const std::uintptr_t* words) {
    for (int n = 0; n < known::table.ranks_count; ++n)
      if (known::table.ranks[n].loop == loop)
        place_ranks(n, reinterpret_cast<void*>(words[known::table.ranks[n].word]));
  }

  /// Whether parts of the program become graphs, for the whole is none.
  bool records_parts() const { return records_parts_; }
  void record_parts(bool records) { records_parts_ = records; }
  auto& part_key() { return part_key_; }

  void begin_run() { sent_.clear(); }
  /// Copies numbers to the place; they may be others right after.
  void send(void* to, const void* from, std::size_t bytes) {
    void* const kept = bytes > 0 ? backend_.staging_of_graph(bytes) : nullptr;
    if (kept == nullptr) return sent_.send(to, from, bytes);
    std::memcpy(kept, from, bytes);
    backend_.upload(to, kept, bytes);
  }
  /// Where the sequences of a domain that is not fed begin, on the host and at the place.
  int* make_offsets(int domain, int sequences) {
    std::vector<int>& made = host_offsets_[domain];
    const std::size_t wanted = static_cast<std::size_t>(sequences) + 1;
    if (made.size() < wanted) made.resize(wanted);
    return made.data();
  }
  int* offsets_at_place(int domain, std::size_t bytes) {
    auto& made = offsets_[static_cast<std::size_t>(domain)];
    if (bytes > made.size()) made.reserve(bytes + bytes / 4);
    return reinterpret_cast<int*>(made.data());
  }

  /// Makes room for the rows of a domain that is not fed; returns whether its arrays have moved.
  bool grow(int domain, int rows, int width) {
    int& capacity = capacity_[domain];
    if (rows <= capacity) return false;
    // The old memory is released first: where there is none for more, there is room for no row.
    capacity = 0;
    // Rows of another run are a little more or less.
    const int wanted = rows + rows / 4;
    made_[static_cast<std::size_t>(domain)].reserve(
        static_cast<std::size_t>(width) * static_cast<std::size_t>(wanted) * sizeof(float));
    capacity = wanted;
    return true;
  }
  /// Makes room for rows that graphs pad, and sets their numbers; returns whether arrays have
  /// moved.
  bool reserve_padded(const int* width, int* rows) {
    known::find_most_rows(rows, rows);
    bool moved = false;
    for (int d = 0; d < domains; ++d)
      if (known::padded.of[d]) moved = grow(d, rows[d], width[d]) || moved;
    return moved;
  }
  float* begin(int domain) const {
    return reinterpret_cast<float*>(made_[static_cast<std::size_t>(domain)].data());
  }
  int capacity(int domain) const { return capacity_[domain]; }

  /// Sends what the host computed in a group to the place, where somebody there needs it.
  void send(int first, int end, float* const* at_place) {
    for (int a = first; a < end; ++a)
      if (known::table.sent[a]) {
        const dtype type = schedule::table.info[a].type;
        backend_.template elements<detail::fill_body>(
            {at_place[a], 1, divider(1), type, load_number(on_host_[a], type, 0), 1});
      }
  }

 private:
  void place_ranks(int n, void* at) {
    const list_range r = known::table.ranks[n].arguments;
    for (int i = r.first; i < r.first + r.count; ++i)
      on_host_[known::table.of_ranks[i]] = static_cast<float*>(at);
  }

  Backend& backend_;
  std::vector<place_array<Backend>> arrays_;
  std::vector<device_buffer<Backend>> made_;  // by domain: arenas of those that are not fed
  std::vector<device_buffer<Backend>> offsets_;
  std::vector<int> host_offsets_[domains];
  std::vector<std::int64_t> ranks_[at_least_one(known::table.ranks_count)];
  sent_numbers<Backend> sent_;
  std::uint64_t numbers_[at_least_one(known::table.number_count)] = {};
  float* on_host_[at_least_one(schedule::arguments)] = {};
  int capacity_[domains] = {};
  run_key<P, known::values.ranks> part_key_;
  bool records_parts_ = false;
};

namespace detail {
/// The memory of a program without blocks.
struct no_block_memory {
  template <class Backend>
  explicit no_block_memory(Backend&) {}
};
}  // namespace detail

}  // namespace lamina::engine::cuda

// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/block_engine.hpp - groups of a schedule at a place, and its loops and
// branches.
#pragma once

#include <algorithm>
#include <cstdint>

#include <lamina/engine/call/block_runner.hpp>
#include <lamina/engine/cuda/condition_body.hpp>
#include <lamina/engine/cuda/frame_copy_body.hpp>
#include <lamina/engine/cuda/group_runner.hpp>
#include <lamina/engine/cuda/machine_memory.hpp>
#include <lamina/engine/cuda/row_loop_runner.hpp>

namespace lamina::engine::cuda {

/// How blocks are run at a place: the host walks along them and knows where all arrays lie and how
/// many rows they have; kernels follow.
template <class P, class Backend>
struct place_block_engine {
  using memory_type = machine_memory<P, Backend>;
  using schedule = schedule_table<P, Backend>;
  using context_type = run_state;
  using chunks = place_chunks<Backend>;
  using known = host_table<P, Backend>;

  static void run_group(memory_type& m, int g, const run_state& state) {
    if (!known::table.here[g]) {
      if constexpr (has_row_loops<P>)
        if (m.steps().is_open())
          return group_runner<P, Backend>::told(
              g, [&] { row_loop_runner<P, Backend>::add(m, g, state); });
      return group_runner<P, Backend>::run(m.backend(), m, g, state);
    }
    m.blocks().make_ranks(g, m.rows());
    const auto& e = schedule::table.entries[g];
    e.run_here(m.backend(), {schedule::program, m.blocks().on_host() + e.first_argument,
                             schedule::table.info + e.first_argument, e.group, state, g,
                             m.arguments() + e.first_argument});
    const int next = g + 1 < schedule::groups ? schedule::table.entries[g + 1].first_argument
                                              : schedule::arguments;
    m.blocks().send(e.first_argument, next, m.arguments());
  }
  static bool is_true(memory_type& m, int argument) { return m.is_true(argument); }
  /// Behind the groups from g on that are one graph while the host walks along the others; g if
  /// there is none.
  static int part_end(memory_type& m, int g, int end) {
    if (!m.blocks().records_parts() || known::parts.of[g] == part_step::none) return g;
    if constexpr (has_row_loops<P>)
      if (m.steps().is_open()) return g;
    int e = g;
    while (e < end && known::parts.of[e] != part_step::none &&
           (known::parts.of[e] != part_step::node || m.backend().knows_conditions()))
      ++e;
    return e - g < least_part ? g : e;
  }
  /// Runs groups g to before `end` by `work`.
  template <class Work>
  static void run_part(memory_type& m, int g, int end, unsigned long long given,
                       context_type& context, const Work& work) {
    const int block = known::parts.block[g];
    auto& key = m.blocks().part_key();
    key.begin(g, given, m.data_turn());
    key.add_rows(m);
    bool draws = false;
    for (int k = g; k < end; ++k) draws = draws || known::parts.of[k] == part_step::draw;
    if (draws && block > 0) {
      context.passes = m.fixed().passes(block);
      m.backend().template elements<detail::fill_body>(
          {m.fixed().passes(block), 1, divider(1), dtype::int32,
           static_cast<double>(context.iteration + 1), 1});
    }
    m.blocks().record_parts(false);
    m.backend().replay(key.view(), work);
    m.blocks().record_parts(true);
    context.passes = nullptr;
  }
  /// A graph that is being recorded takes over what a condition at the place decides on.
  static bool takes_over(memory_type& m, int block) {
    return known::table.node[block] && m.backend().records_conditions();
  }
  /// Whether it has as many rows of a domain as there may be: then they are known.
  static bool pads(memory_type& m, int domain) {
    if (!known::padded.of[domain] || !m.backend().records_conditions()) return false;
    int most[known::domains];
    known::find_most_rows(m.rows(), most);
    m.make_rows(domain, most[domain]);
    return true;
  }
  /// Where the place counts the passes of a block that a graph repeats; else null.
  static const unsigned* passes(memory_type& m, int block) {
    return takes_over(m, block) ? m.fixed().passes(block) : nullptr;
  }
  static void hand_over(memory_type& m, int group, const block_call& c, int argument,
                        std::uint64_t limit, const frame_copies& frames, const run_once& pass) {
    Backend& b = m.backend();
    const int packs = static_cast<int>(frames.floats / pack_width);
    unsigned* const done = m.fixed().begun(c.block);
    if (c.use == block_use::loop_gradient) {
      const unsigned* const begun = m.fixed().begun(known::blocks::table.loops[c.loop].body);
      return b.template add_conditional<iterations_left_body>(true, {begun, done, true}, [&] {
        if (packs > 0)
          b.template elements<take_frame_body>({frames.copies, frames.frame, begun, done, packs});
        pass();
      });
    }
    // Of rows that a mask has chosen the first one says what the mask says, if there are any.
    bool wanted = true;
    if (const argument_info& info = schedule::table.info[argument]; c.use == block_use::if_rows) {
      if (operator_call::rows_of(m.rows(), info.rows) == 0) return;
      wanted = known::padded.truth[domain_of_rows(info.rows)];
    }
    const bool keeps = packs > 0 && frames.most < limit;
    const std::uint64_t most = std::min<std::uint64_t>(keeps ? frames.most : limit, 1u << 31);
    b.template add_conditional<condition_body>(
        c.use == block_use::loop,
        {reinterpret_cast<const std::uint8_t*>(m.arguments()[argument]), wanted, done,
         m.fixed().passes(c.block), static_cast<unsigned>(most),
         keeps ? loop_fault::no_room : loop_fault::endless, m.fixed().fault(), group, true},
        [&] {
          pass();
          if (packs > 0)
            b.template elements<keep_frame_body>({frames.frame, frames.copies, done, packs});
        });
  }
  template <class Rest>
  static void run_if_kept(memory_type& m, int block, const frame_copies& frames, const Rest& rest) {
    m.backend().template add_conditional<frames_kept_body>(
        false, {m.fixed().begun(block), static_cast<unsigned>(frames.most), true}, rest);
  }
  /// Whether the groups of the block that group g runs become one kernel (row_loop.hpp); then what
  /// is listed between these two is launched by the second.
  static bool begin_steps(memory_type& m, int g, int block) requires(has_row_loops<P>) {
    return row_loop_runner<P, Backend>::begin(m, g, block);
  }
  static void end_steps(memory_type& m, int g) requires(has_row_loops<P>) {
    group_runner<P, Backend>::told(g, [&] { row_loop_runner<P, Backend>::end(m); });
  }
  static int* rows(memory_type& m) { return m.rows(); }
  static const int** offsets(memory_type& m) { return m.host_offsets(); }
  static constexpr int own_words(int loop) { return known::table.words[loop]; }
  static void place_own(memory_type& m, int loop, std::uintptr_t* words) {
    m.blocks().place_own(loop, words);
  }
  template <class Push>
  static void keep_own(memory_type& m, int loop, std::uintptr_t* words, const Push& push) {
    m.blocks().keep_own(loop, words, push);
  }
  static void restore_own(memory_type& m, int loop, const std::uintptr_t* words) {
    m.blocks().restore_own(loop, words);
  }
};

/// Runs the blocks of program P.
template <class P, class Backend>
class place_block_runner : public engine::block_runner<P, place_block_engine<P, Backend>> {
 public:
  explicit place_block_runner(Backend& b)
      : engine::block_runner<P, place_block_engine<P, Backend>>(place_chunks<Backend>{&b}) {}
};

}  // namespace lamina::engine::cuda

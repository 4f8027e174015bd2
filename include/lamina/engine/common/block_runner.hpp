// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/block_runner.hpp - runs the blocks of a schedule, with their loops and
// branches.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/engine/common/loop_frames.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Runs the blocks of program P on the memory of a machine. The template argument Engine provides:
///   memory_type, schedule, context_type (an argument of kernels), chunks (memory of values);
///   static void run_group(memory_type&, int group, const context_type&);
///   static bool is_true(memory_type&, int argument);
///   static int* rows(memory_type&);   by domain
///   static const int** offsets(memory_type&);
///   static constexpr int own_words(int loop);   words that the engine adds to a frame's head
///   static void set_own_addresses(memory_type&, int loop, std::uintptr_t*);   gets these words
///   static void bind_rows(memory_type&);   called after the rows of a mini-batch were set
/// An engine that stores additional values in the frame of an iteration (loop_frames.hpp) also
/// provides:
///   static void keep_own(memory_type&, int loop, std::uintptr_t*, push);
///   static void restore_own(memory_type&, int loop, const std::uintptr_t*);
/// The memory type provides fed_data(n), the address of the n-th array of fed data. If the frame
/// keeps the variable of that array, the engine's kernel of read_minibatch copies the array into
/// the frame.
template <class P, class Engine>
class block_runner : loop_frames<P, Engine> {
  using base = loop_frames<P, Engine>;
  using base::context_, base::frames_, base::last_, base::memory_, base::table;
  using typename base::context_type, typename base::memory_type, typename base::tables;
  using typename base::schedule, typename base::word;

 public:
  using base::base;

  /// Sets the maximum number of iterations of one loop; run() throws lamina::error if a loop needs
  /// more. Without this limit, the frames of an endless loop would take all memory.
  void limit_iterations(std::uint64_t most) { limit_ = most; }

  /// Throws lamina::error for a loop that has reached the limit. `condition` is the number of the
  /// loop's condition variable.
  [[noreturn]] LAMINA_COLD void fail_endless(int condition) const {
    fail_endless_loop<schedule>(condition, limit_);
  }

  /// Sets the source from which read_minibatch gets its mini-batches.
  void read_from(const minibatch_source& source) { source_ = source; }

  /// The last group of the outermost block that the last run reached; -1: none.
  int reached() const { return reached_; }

  void run(memory_type& memory, unsigned long long given, std::uint64_t seed, std::uint64_t step) {
    reached_ = -1;
    base::begin_run(memory, seed, step);
    own_source_ = {this, &next_minibatch, &field, source_.processes};
    if constexpr (requires { context_.source; })
      if (source_.next != nullptr) context_.source = &own_source_;
    for (std::uint64_t& n : iterations_) n = 0;
    loop_ = -1;
    run_block(0, given);
  }

 private:
  void run_block(int block, unsigned long long given) {
    const list_range arrays = table.block_arrays[block];
    for (int i = arrays.first; i < arrays.first + arrays.count; ++i)
      memory_->array(table.arrays[i]).clear();
    const std::uint64_t outer = context_.iteration;
    context_.iteration = iterations_[block]++;
    const list_range r = table.entries[block];
    run_groups(r.first, r.first + r.count, given);
    context_.iteration = outer;
  }
  void run_groups(int g, int end, unsigned long long given) {
    for (; g < end; ++g) {
      const auto& e = schedule::table.entries[g];
      if ((e.feeds & ~given) != 0) continue;
      if (g < table.entries[0].first + table.entries[0].count) reached_ = g;
      if constexpr (tables::has_views) context_.view = table.told[g];
      if (e.run != nullptr) {
        Engine::run_group(*memory_, g, context_);
        continue;
      }
      call(table.calls[e.group.rows], e.first_argument);
    }
  }
  void run_inner(int block) { run_block(block, ~0ull); }

  void call(const block_call& c, int argument) {
    switch (c.use) {
      case block_use::loop:
        return run_loop(c, argument);
      case block_use::loop_gradient:
        if constexpr (tables::keeps_frames) run_gradient(c);
        return;
      case block_use::if_true:
        if (is_true(argument)) run_inner(c.block);
        return;
      case block_use::if_rows:
        if (context_.rows_of(schedule::table.info[argument].rows) > 0) run_inner(c.block);
        return;
    }
  }
  bool is_true(int argument) const { return Engine::is_true(*memory_, argument); }

  LAMINA_NOINLINE void run_loop(const block_call& c, int argument) {
    const loop_desc& loop = table.loops[c.loop];
    last_[c.loop] = nullptr;
    const int outer = loop_;
    for (std::uint64_t n = 0; is_true(argument); ++n) {
      if (n == limit_) fail_endless(c.condition);
      loop_ = c.loop;
      base::forget_rows(loop);
      if (tables::keeps_frames && loop.keeps) {
        base::begin(c.loop, loop);
        run_inner(c.block);
        base::end(c.loop, loop);
      } else if (!tables::keeps_frames || !tables::nests_loops || loop.inner == 0) {
        run_inner(c.block);
      } else {
        // This loop keeps no frames, but its inner loops may. The gradients of the inner loops run
        // in the same iteration of this loop, so the end of the iteration frees the frames.
        const auto below = frames_.top();
        run_inner(c.block);
        frames_.reset(below);
      }
    }
    loop_ = outer;
  }
  LAMINA_NOINLINE void run_gradient(const block_call& c) {
    const loop_desc& loop = table.loops[c.loop];
    word* const last = last_[c.loop];
    while (word* const frame = last_[c.loop]) {
      base::restore(c.loop, loop, frame);
      run_inner(c.block);
      last_[c.loop] = base::template from_word<word>(frame[base::before_word]);
      if (tables::repeats_gradients && c.again)
        base::swap_arrays(loop, frame);
      else
        base::free(loop, frame);
    }
    if (tables::repeats_gradients && c.again) last_[c.loop] = last;
  }

  static bool next_minibatch(void* self) {
    block_runner& runner = *static_cast<block_runner*>(self);
    const bool more = runner.source_.next(runner.source_.self);
    runner.context_.scratch = runner.memory_->scratch();
    if (runner.loop_ >= 0) runner.keep_minibatch(runner.loop_);
    return more;
  }

  static const void* field(void* self, int data) {
    return static_cast<block_runner*>(self)->memory_->fed_data(data);
  }

  minibatch_source source_{}, own_source_{};
  std::uint64_t iterations_[bound(tables::blocks)] = {};
  std::uint64_t limit_ = 1000000;
  int loop_ = -1;  // the innermost loop that is running
  int reached_ = -1;
};

}}}  // namespace lamina::engine

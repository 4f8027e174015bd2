// SPDX-License-Identifier: Apache-2.0
// lamina/engine/call/block_runner.hpp - loops and branches: blocks of a schedule, their frames.
//
// An iteration whose values its gradient reads has a frame: a head, and the kept values of each row
// domain behind each other. Kernels write them where they stay: when an iteration begins, or its
// gradient does, the arguments that lie in the frame get their addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lamina/engine/call/array_pool.hpp>
#include <lamina/engine/call/block_error.hpp>
#include <lamina/engine/call/block_schedule.hpp>
#include <lamina/engine/call/frame_copies.hpp>
#include <lamina/engine/call/frame_memory.hpp>
#include <lamina/engine/call/row_maker.hpp>

namespace lamina::engine {

/// Runs the blocks of program P over the memory of a machine. Engine tells how:
///   memory_type, schedule, context_type (what kernels are given), chunks (where values lie);
///   static void run_group(memory_type&, int group, const context_type&);
///   static bool is_true(memory_type&, int argument);
///   static int* rows(memory_type&);   by domain
///   static const int** offsets(memory_type&);
///   static constexpr int own_words(int loop);   words of a frame that are the engine's ...
///   static void place_own(memory_type&, int loop, std::uintptr_t*);   ... and where they lie
/// and, where something else may walk along a block:
///   static bool pads(memory_type&, int domain);   whether it knows the rows of one that is made
///   static bool takes_over(memory_type&, int block);
///   static const unsigned* passes(memory_type&, int block);   where it counts those
///   static void hand_over(memory_type&, int group, const block_call&, int argument,
///                         std::uint64_t limit, const frame_copies&, run_once);
///   static void run_if_kept(memory_type&, int block, const frame_copies&, rest);   what follows
/// and, where it does all iterations of some loops at once:
///   static bool begin_steps(memory_type&, int group, int block);   whether it does so with these
///   static void end_steps(memory_type&, int group);
template <class P, class Engine>
class block_runner {
 public:
  using memory_type = typename Engine::memory_type;
  using schedule = typename Engine::schedule;
  using context_type = typename Engine::context_type;
  using chunks = typename Engine::chunks;
  using array_type = tensor_array<chunks>;
  using tables = block_schedule<P, schedule>;

  block_runner() = default;
  explicit block_runner(chunks from) : arrays_(from), frames_{{}, frame_stack<chunks>(from)} {}

  /// The most iterations of one loop; one more throws, or the frames of a loop that never ends
  /// would take all memory.
  void limit_iterations(std::uint64_t most) { limit_ = most; }

  /// Throws: a loop has not ended, and its condition is a variable of this number.
  [[noreturn]] LAMINA_COLD void fail_endless(int condition) const {
    fail_endless_loop<schedule>(condition, limit_);
  }

  /// Where read_minibatch gets its data.
  void read_from(const minibatch_source& source) { source_ = source; }

  void run(memory_type& memory, unsigned long long given, std::uint64_t seed, std::uint64_t step) {
    memory_ = &memory;
    maker_ = {this, &set_rows, &make_offsets, &show, &knows_rows};
    if constexpr (tables::has_views)
      for (int i = 0; i < tables::array_count; ++i)
        memory.array(i).use_memory(table.array_memory[i]);
    context_ = memory.context(seed, step, &maker_);
    own_source_ = {this, &next_minibatch};
    if constexpr (requires { context_.source; })
      if (source_.next != nullptr) context_.source = &own_source_;
    frames_.reset({});
    if constexpr (tables::keeps_arrays) arrays_.give_back_all();
    for (int d = 0; d < domains; ++d) {
      if (!table.fed[d]) Engine::rows(memory)[d] = 0;
      known_[d] = table.fed[d] || pads(d);
    }
    context_.scratch = memory.scratch();
    for (std::uint64_t& n : iterations_) n = 0;
    run_block(0, given);
  }

 private:
  static constexpr int domains = P::desc.count.domains;
  static constexpr const typename tables::table_type& table = tables::table;

  /// The head of a frame: the frame before, the heights of the stacks below and at its end, then a
  /// word for each kept domain, two for each domain whose rows the iteration made, one for each
  /// loop inside, one for each array, one for each view.
  using memory_of_frames = frame_memory<chunks>;
  using word = typename memory_of_frames::word;
  enum : int {
    before_word,
    begin_words,
    end_words = begin_words + memory_of_frames::mark_words,
    first_word = end_words + memory_of_frames::mark_words
  };

  template <class T>
  static word to_word(T* p) {
    return reinterpret_cast<word>(p);
  }
  template <class T>
  static T* from_word(word w) {
    return reinterpret_cast<T*>(w);
  }

  void run_block(int block, unsigned long long given) {
    const list_range arrays = table.block_arrays[block];
    for (int i = arrays.first; i < arrays.first + arrays.count; ++i)
      memory_->array(table.arrays[i]).clear();
    const context_type outer = context_;
    context_.iteration = iterations_[block]++;
    if constexpr (hands_over) context_.passes = Engine::passes(*memory_, block);
    const list_range r = table.entries[block];
    run_groups(r.first, r.first + r.count, given);
    context_.iteration = outer.iteration;
    if constexpr (hands_over) context_.passes = outer.passes;
  }
  void run_groups(int g, int end, unsigned long long given) {
    for (; g < end; ++g) {
      const auto& e = schedule::table.entries[g];
      if ((e.feeds & ~given) != 0) continue;
      if constexpr (tables::has_views) context_.view = table.told[g];
      if (e.run != nullptr) {
        Engine::run_group(*memory_, g, context_);
        continue;
      }
      const block_call& c = table.calls[e.group.rows];
      if constexpr (hands_over) {
        if (Engine::takes_over(*memory_, c.block)) {
          hand_over(g, c, e.first_argument);
          if (c.use == block_use::loop && copies_.of(c.loop).floats > 0)
            return Engine::run_if_kept(*memory_, c.block, copies_.of(c.loop),
                                       [&] { run_groups(g + 1, end, given); });
          continue;
        }
      }
      call(g, c, e.first_argument);
    }
  }
  void run_inner(int block) { run_block(block, ~0ull); }
  static void run_inner_of(void* self, int block) {
    static_cast<block_runner*>(self)->run_inner(block);
  }

  void call(int group, const block_call& c, int argument) {
    bool joined = false;
    if constexpr (requires { Engine::begin_steps(*memory_, group, c.block); })
      joined = Engine::begin_steps(*memory_, group, c.block);
    run_block_of(c, argument);
    if constexpr (requires { Engine::end_steps(*memory_, group); })
      if (joined) Engine::end_steps(*memory_, group);
  }
  void run_block_of(const block_call& c, int argument) {
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

  static constexpr bool hands_over = requires { &Engine::takes_over; };
  void hand_over(int group, const block_call& c, int argument) {
    if (c.use == block_use::loop && table.loops[c.loop].keeps)
      copies_.make(
          c.loop, frames_.values, limit_, [this](int domain) { return rows_of(domain); },
          [this](const kept_rows& kept, float* data) { place(kept, data); });
    Engine::hand_over(*memory_, group, c, argument, limit_,
                      c.loop < 0 ? frame_copies{} : copies_.of(c.loop),
                      {this, c.block, &run_inner_of});
  }

  LAMINA_NOINLINE void run_loop(const block_call& c, int argument) {
    const loop_desc& loop = table.loops[c.loop];
    last_[c.loop] = nullptr;
    std::uint64_t n = 0;
    for (; is_true(argument); ++n) {
      if (n == limit_) fail_endless(c.condition);
      for (int i = loop.domains; tables::makes_rows && i < loop.domains + loop.domain_count; ++i)
        known_[table.made_domains[i]] = pads(table.made_domains[i]);
      if (tables::keeps_frames && loop.keeps) {
        begin(c.loop, loop);
        run_inner(c.block);
        end(c.loop, loop);
      } else if (!tables::keeps_frames || !tables::nests_loops || loop.inner == 0) {
        run_inner(c.block);
      } else {
        // Frames of loops inside, whose gradients are inside too.
        const auto below = frames_.top();
        run_inner(c.block);
        frames_.reset(below);
      }
    }
    if constexpr (hands_over) copies_.note_walk(c.loop, n);
  }
  LAMINA_NOINLINE void run_gradient(const block_call& c) {
    const loop_desc& loop = table.loops[c.loop];
    word* const last = last_[c.loop];
    while (word* const frame = last_[c.loop]) {
      restore(c.loop, loop, frame);
      run_inner(c.block);
      last_[c.loop] = from_word<word>(frame[before_word]);
      if (tables::repeats_gradients && c.again)
        swap_arrays(loop, frame);
      else
        free(loop, frame);
    }
    if (tables::repeats_gradients && c.again) last_[c.loop] = last;
  }

  // -- frames ------------------------------------------------------------------------------------

  void begin(int l, const loop_desc& loop) {
    const auto below = frames_.top();
    const int words = first_word + loop.kept_count + 2 * loop.domain_count + loop.inner +
                      loop.array_count + loop.view_count + Engine::own_words(l);
    word* const frame = reinterpret_cast<word*>(
        frames_.heads.push(static_cast<std::size_t>(words) * sizeof(word) / sizeof(float)));
    frame[before_word] = to_word(last_[l]);
    memory_of_frames::keep(below, frame + begin_words);
    last_[l] = frame;
    for (int k = 0; k < loop.kept_count; ++k) {
      frame[first_word + k] = 0;
      const kept_rows& kept = table.kept[loop.kept + k];
      if (!kept.late || known_[kept.domain]) push_rows(loop, frame, k);
    }
    if (Engine::own_words(l) > 0)
      Engine::place_own(*memory_, l, frame + words - Engine::own_words(l));
  }
  // Memory for the kept values of one domain.
  void push_rows(const loop_desc& loop, word* frame, int k) {
    const kept_rows& kept = table.kept[loop.kept + k];
    float* const data = frames_.values.push(static_cast<std::size_t>(kept.width) *
                                            static_cast<std::size_t>(rows_of(kept.domain)));
    frame[first_word + k] = to_word(data);
    place(kept, data);
  }
  int rows_of(int domain) const {
    return domain == once::domain ? 1 : Engine::rows(*memory_)[domain];
  }
  void place(const kept_rows& kept, float* data) {
    float** const arguments = memory_->arguments();
    const std::ptrdiff_t rows = rows_of(kept.domain);
    for (int i = kept.first; i < kept.first + kept.count; ++i)
      arguments[table.frame_arguments[i].argument] = data + table.frame_arguments[i].offset * rows;
  }

  void end(int l, const loop_desc& loop) {
    keep_values(l, loop);
    memory_of_frames::keep(frames_.top(), last_[l] + end_words);
  }
  void keep_values(int l, const loop_desc& loop) {
    word* at = last_[l] + first_word + loop.kept_count;
    for (int i = loop.domains; tables::makes_rows && i < loop.domains + loop.domain_count; ++i) {
      const int d = table.made_domains[i];
      *at++ = known_[d] ? static_cast<word>(Engine::rows(*memory_)[d]) + 1 : 0;
      *at++ = to_word(known_[d] ? kept_offsets(d) : nullptr);
    }
    for (int inner = 0; tables::nests_loops && inner < tables::loop_count; ++inner)
      if (table.loops[inner].parent == l) *at++ = to_word(last_[inner]);
    for (int i = loop.arrays; tables::keeps_arrays && i < loop.arrays + loop.array_count; ++i) {
      array_type* const spare = arrays_.take();
      spare->clear();
      spare->swap(memory_->array(table.kept_arrays[i]));
      *at++ = to_word(spare);
    }
    for (int i = loop.views; tables::keeps_views && i < loop.views + loop.view_count; ++i)
      *at++ = to_word(
          memory_->arguments()[table.view_arguments[table.views[table.kept_views[i]].first]]);
  }
  // A copy of where the sequences of a domain begin; null for other rows.
  int* kept_offsets(int domain) {
    if (schedule::program.domains[domain].kind != domain_kind::sequence) return nullptr;
    const std::size_t n =
        static_cast<std::size_t>(rows_of(schedule::program.domains[domain].parent)) + 1;
    int* const to = reinterpret_cast<int*>(frames_.heads.push(n));
    for (std::size_t i = 0; i < n; ++i) to[i] = Engine::offsets(*memory_)[domain][i];
    return to;
  }

  void restore(int l, const loop_desc& loop, word* frame) {
    word* at = frame + first_word + loop.kept_count;
    for (int i = loop.domains; tables::makes_rows && i < loop.domains + loop.domain_count; ++i) {
      const int d = table.made_domains[i];
      const word rows = *at++;
      const int* const offsets = from_word<const int>(*at++);
      known_[d] = rows != 0;
      if (!known_[d]) continue;
      if (offsets != nullptr) Engine::offsets(*memory_)[d] = offsets;
      memory_->make_rows(d, static_cast<int>(rows) - 1);
      if constexpr (requires { memory_->send_offsets(d); })
        if (offsets != nullptr) memory_->send_offsets(d);
    }
    for (int inner = 0; tables::nests_loops && inner < tables::loop_count; ++inner)
      if (table.loops[inner].parent == l) last_[inner] = from_word<word>(*at++);
    at = swap_arrays(loop, frame);
    for (int i = loop.views; tables::keeps_views && i < loop.views + loop.view_count; ++i)
      show(table.kept_views[i], from_word<float>(*at++));
    for (int k = 0; k < loop.kept_count; ++k)
      if (frame[first_word + k] != 0)
        place(table.kept[loop.kept + k], from_word<float>(frame[first_word + k]));
    if (Engine::own_words(l) > 0) Engine::place_own(*memory_, l, at);
  }

  static word* array_words(const loop_desc& loop, word* frame) {
    return frame + first_word + loop.kept_count + 2 * loop.domain_count + loop.inner;
  }
  // The arrays of an iteration, and those that it had left in the frame; returns what follows them.
  word* swap_arrays(const loop_desc& loop, word* frame) {
    word* at = array_words(loop, frame);
    for (int i = loop.arrays; tables::keeps_arrays && i < loop.arrays + loop.array_count; ++i)
      memory_->array(table.kept_arrays[i]).swap(*from_word<array_type>(*at++));
    return at;
  }
  // Nobody reads the frame any more.
  void free(const loop_desc& loop, word* frame) {
    word* const arrays = array_words(loop, frame);
    for (int i = tables::keeps_arrays ? loop.array_count : 0; i-- > 0;)
      arrays_.give_back(from_word<array_type>(arrays[i]));
    frames_.free(frame + begin_words, frame + end_words);
  }

  // -- rows --------------------------------------------------------------------------------------

  static bool next_minibatch(void* self) {
    block_runner& runner = *static_cast<block_runner*>(self);
    const bool more = runner.source_.next(runner.source_.self);
    runner.context_.scratch = runner.memory_->scratch();
    return more;
  }
  static void set_rows(void* self, int domain, int rows) {
    static_cast<block_runner*>(self)->set_rows(domain, rows);
  }
  static void show(void* self, int view, void* data) {
    static_cast<block_runner*>(self)->show(view, static_cast<float*>(data));
  }
  void show(int view, float* data) {
    const list_range r = table.views[view];
    for (int i = r.first; i < r.first + r.count; ++i)
      memory_->arguments()[table.view_arguments[i]] = data;
  }
  static bool knows_rows(void* self, int domain) {
    return static_cast<block_runner*>(self)->known_[domain];
  }
  static int* make_offsets(void* self, int domain, int sequences) {
    return static_cast<block_runner*>(self)->memory_->make_offsets(domain, sequences);
  }
  bool pads(int domain) {
    if constexpr (hands_over) return Engine::pads(*memory_, domain);
    return false;
  }
  void set_rows(int domain, int rows) {
    if (known_[domain]) {
      // Of a step's rows an operator may make the first ones only.
      const bool fewer = rows < Engine::rows(*memory_)[domain] &&
                         schedule::program.domains[domain].kind == domain_kind::step;
      if (Engine::rows(*memory_)[domain] == rows || fewer) return;
      if (!table.changes[domain] || tables::keeps_rows(domain))
        fail_changed_rows<schedule>(domain, Engine::rows(*memory_)[domain], rows);
    }
    memory_->make_rows(domain, rows);
    context_.scratch = memory_->scratch();
    known_[domain] = true;
    if constexpr (tables::makes_rows && tables::keeps_frames) {
      const int l = table.loop_of_domain[domain];
      if (l < 0 || !table.loops[l].keeps) return;
      const loop_desc& loop = table.loops[l];
      for (int k = 0; k < loop.kept_count; ++k)
        if (table.kept[loop.kept + k].domain == domain) push_rows(loop, last_[l], k);
    }
  }

  memory_type* memory_ = nullptr;
  context_type context_{};
  row_maker maker_{};
  minibatch_source source_{}, own_source_{};
  array_pool<chunks> arrays_;
  memory_of_frames frames_;
  word* last_[at_least_one(tables::loop_count)] = {};
  bool known_[domains] = {};
  std::uint64_t iterations_[at_least_one(tables::blocks)] = {};
  [[no_unique_address]] std::conditional_t<hands_over, loops_with_copies<tables>, no_copies>
      copies_;
  std::uint64_t limit_ = 1000000;
};

}  // namespace lamina::engine

// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/loop_frames.hpp - the frames of loop iterations, and the numbers of rows
// that operators set in iterations.
//
// A frame holds the values of one loop iteration that the gradient of the iteration reads later. It
// consists of a head (a list of words) and the kept values, grouped by row domain. Kernels write
// these values directly into the frame: when an iteration or its gradient starts, loop_frames sets
// the addresses of the kernels' arguments to the memory of the frame.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/common/array_pool.hpp>
#include <lamina/engine/common/block_schedule.hpp>
#include <lamina/engine/common/domain_rows.hpp>
#include <lamina/engine/common/frame_memory.hpp>
#include <lamina/program/names.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Throws lamina::error for a loop that has not ended after `limit` iterations. `condition` is the
/// number of the loop's condition variable.
template <class Schedule>
[[noreturn]] LAMINA_COLD void fail_endless_loop(int condition, std::uint64_t limit) {
  text message("lamina: while: expected the condition '");
  std::string name(static_cast<std::size_t>(name_length(Schedule::program, condition)), ' ');
  name_writer w{name.data()};
  write_name(Schedule::program, condition, w);
  message << name << "' to be false after " << limit << " iterations, found true";
  LAMINA_THROW error(message);
}

/// Throws lamina::error because the number of rows of a domain has changed from `expected` to
/// `found`.
template <class Schedule>
[[noreturn]] LAMINA_COLD void fail_changed_rows(int domain, int expected, int found) {
  text message("lamina: rows of '");
  const domain_desc& d = Schedule::program.domains[domain];
  message << (domain == batch::domain ? std::string_view("batch")
                                      : std::string_view(Schedule::program.characters + d.offset,
                                                         static_cast<std::size_t>(d.length)))
          << "': expected " << expected << ", found " << found;
  LAMINA_THROW error(message);
}

/// The frames of the loops of program P while a machine runs its blocks. block_runner.hpp describes
/// the template argument Engine.
template <class P, class Engine>
class loop_frames {
 protected:
  using memory_type = typename Engine::memory_type;
  using schedule = typename Engine::schedule;
  using context_type = typename Engine::context_type;
  using chunks = typename Engine::chunks;
  using array_type = tensor_array<chunks>;
  using tables = block_schedule<P, schedule>;
  static constexpr int domains = counts_of<P>.domains;
  static constexpr const auto& table = tables::table;
  /// Whether the engine stores additional values in a frame.
  static constexpr bool keeps_own = requires { &Engine::restore_own; };

  loop_frames() = default;
  explicit loop_frames(chunks from) : arrays_(from), frames_{{}, frame_stack<chunks>(from)} {}

  /// The words in the head of a frame: the address of the previous frame, the heights of the stacks
  /// before and after the frame, one word per kept domain, two per domain whose rows the iteration
  /// makes or reads, one per inner loop, one per tensor array and one per view.
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

  /// Begins a run: removes all frames, and marks the rows of fed data as known and all other rows
  /// as unknown.
  void begin_run(memory_type& memory, std::uint64_t seed, std::uint64_t step) {
    memory_ = &memory;
    allocator_ = {this, &set_rows_of, &make_offsets, &show_of, &knows_rows};
    if constexpr (tables::has_views)
      for (int i = 0; i < tables::array_count; ++i)
        memory.array(i).use_memory(table.array_memory[i]);
    context_ = memory.context(seed, step, &allocator_);
    frames_.reset({});
    if constexpr (tables::keeps_arrays) arrays_.give_back_all();
    for (int d = 0; d < domains; ++d) {
      if (!table.fed[d]) Engine::rows(memory)[d] = 0;
      known_[d] = table.fed[d];
    }
    context_.scratch = memory.scratch();
  }

  void begin(int l, const loop_desc& loop) {
    const auto below = frames_.top();
    const int words = first_word + loop.kept_count + 2 * loop.domain_count + loop.inner +
                      loop.array_count + loop.view_count + Engine::own_words(l);
    word* const frame = reinterpret_cast<word*>(
        frames_.heads.push(static_cast<std::size_t>(words) * sizeof(word) / sizeof(float)));
    frame[before_word] = to_word(last_[l]);
    memory_of_frames::keep(below, frame + begin_words);
    last_[l] = frame;
    if (tables::keeps_minibatches && loop.reads)
      for (int i = 0; i < 2 * loop.domain_count; ++i) domain_words(loop, frame)[i] = 0;
    for (int k = 0; k < loop.kept_count; ++k) {
      frame[first_word + k] = 0;
      const kept_rows& kept = table.kept[loop.kept + k];
      if (!kept.late || known_[kept.domain]) push_rows(loop, frame, k);
    }
    if (Engine::own_words(l) > 0)
      Engine::set_own_addresses(*memory_, l, frame + words - Engine::own_words(l));
  }
  static word* domain_words(const loop_desc& loop, word* frame) {
    return frame + first_word + loop.kept_count;
  }
  /// Records that an iteration of loop `l` has read a mini-batch: marks its rows as known and
  /// allocates memory for its kept data. Throws lamina::error if one iteration with a frame reads
  /// two mini-batches with different numbers of rows.
  void keep_minibatch(int l) {
    if constexpr (tables::keeps_minibatches) {
      const loop_desc& loop = table.loops[l];
      if (!loop.keeps) return mark_minibatch();
      word* const frame = last_[l];
      word* at = domain_words(loop, frame);
      for (int i = loop.domains; i < loop.domains + loop.domain_count; ++i, at += 2) {
        const int d = table.made_domains[i];
        if (!table.fed[d]) continue;
        require_rows(d, at[0]);
        at[0] = static_cast<word>(Engine::rows(*memory_)[d]) + 1;
        at[1] = to_word(kept_offsets(d));
      }
      mark_minibatch();
      for (int k = 0; k < loop.kept_count; ++k)
        if (table.fed[table.kept[loop.kept + k].domain] && frame[first_word + k] == 0)
          push_rows(loop, frame, k);
    } else {
      mark_minibatch();
    }
  }
  void mark_minibatch() {
    for (int d = batch::domain; d < domains; ++d)
      if (table.fed[d]) known_[d] = true;
  }
  // Throws if the frame of the iteration has already recorded another number of rows. `kept` is the
  // recorded number + 1, or 0 if the frame has recorded none.
  void require_rows(int domain, word kept) const {
    if (kept != 0 && kept != static_cast<word>(Engine::rows(*memory_)[domain]) + 1)
      fail_changed_rows<schedule>(domain, static_cast<int>(kept) - 1,
                                  Engine::rows(*memory_)[domain]);
  }
  // Allocates memory for the kept values of one domain.
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
    word* at = domain_words(loop, last_[l]);
    for (int i = loop.domains; tables::makes_rows && i < loop.domains + loop.domain_count; ++i) {
      const int d = table.made_domains[i];
      if (tables::keeps_minibatches && table.fed[d]) {
        require_rows(d, at[0]);
        at += 2;
        continue;
      }
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
    if constexpr (keeps_own)
      Engine::keep_own(*memory_, l, at,
                       [this](std::size_t floats) { return frames_.heads.push(floats); });
  }
  // Copies a domain's sequence offsets to memory of the stack of heads and returns the copy;
  // returns null for a domain without sequences.
  int* kept_offsets(int domain) {
    if (schedule::program.domains[domain].kind != domain_kind::sequence) return nullptr;
    const std::size_t n =
        static_cast<std::size_t>(rows_of(schedule::program.domains[domain].parent)) + 1;
    int* const to = reinterpret_cast<int*>(frames_.heads.push(n));
    for (std::size_t i = 0; i < n; ++i) to[i] = Engine::offsets(*memory_)[domain][i];
    return to;
  }

  void restore(int l, const loop_desc& loop, word* frame) {
    word* at = domain_words(loop, frame);
    if constexpr (tables::keeps_minibatches)
      if (loop.reads) bind_minibatch(loop, at);
    for (int i = loop.domains; tables::makes_rows && i < loop.domains + loop.domain_count; ++i) {
      const int d = table.made_domains[i];
      if (tables::keeps_minibatches && table.fed[d]) {
        at += 2;
        continue;
      }
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
    if (Engine::own_words(l) > 0) Engine::set_own_addresses(*memory_, l, at);
    if constexpr (keeps_own) Engine::restore_own(*memory_, l, at);
  }

  // Restores the rows and sequences of the mini-batch that an iteration has read, before its
  // gradient runs.
  void bind_minibatch(const loop_desc& loop, const word* at) {
    bool known = false, same = true;
    [[maybe_unused]] const word* first = at;
    for (int i = loop.domains; i < loop.domains + loop.domain_count; ++i, at += 2) {
      const int d = table.made_domains[i];
      if (!table.fed[d]) continue;
      known_[d] = at[0] != 0;
      if (!known_[d]) continue;
      int& rows = Engine::rows(*memory_)[d];
      known = true;
      same = same && rows == static_cast<int>(at[0]) - 1;
      rows = static_cast<int>(at[0]) - 1;
      if (at[1] != 0) Engine::offsets(*memory_)[d] = from_word<const int>(at[1]);
    }
    if (known && !same) {
      Engine::bind_rows(*memory_);
      context_.scratch = memory_->scratch();
    }
    if constexpr (requires { memory_->send_offsets(0); })
      for (int i = loop.domains; i < loop.domains + loop.domain_count; ++i, first += 2)
        if (table.fed[table.made_domains[i]] && first[0] != 0 && first[1] != 0)
          memory_->send_offsets(table.made_domains[i]);
  }

  static word* array_words(const loop_desc& loop, word* frame) {
    return frame + first_word + loop.kept_count + 2 * loop.domain_count + loop.inner;
  }
  // Exchanges the current tensor arrays with the arrays that the iteration kept in the frame.
  // Returns the address of the next word of the head.
  word* swap_arrays(const loop_desc& loop, word* frame) {
    word* at = array_words(loop, frame);
    for (int i = loop.arrays; tables::keeps_arrays && i < loop.arrays + loop.array_count; ++i)
      memory_->array(table.kept_arrays[i]).swap(*from_word<array_type>(*at++));
    return at;
  }
  // Releases a frame after the last gradient that reads it.
  void free(const loop_desc& loop, word* frame) {
    word* const arrays = array_words(loop, frame);
    for (int i = tables::keeps_arrays ? loop.array_count : 0; i-- > 0;)
      arrays_.give_back(from_word<array_type>(arrays[i]));
    frames_.free(frame + begin_words, frame + end_words);
  }
  /// Marks the rows that an iteration of the loop makes as unknown. The runner calls it before each
  /// iteration.
  void forget_rows(const loop_desc& loop) {
    for (int i = loop.domains; tables::makes_rows && i < loop.domains + loop.domain_count; ++i)
      known_[table.made_domains[i]] = false;
  }

  memory_type* memory_ = nullptr;
  context_type context_{};
  array_pool<chunks> arrays_;
  memory_of_frames frames_;
  word* last_[bound(tables::loop_count)] = {};

 private:
  static void set_rows_of(void* self, int domain, int rows) {
    static_cast<loop_frames*>(self)->set_rows(domain, rows);
  }
  static void show_of(void* self, int view, void* data) {
    static_cast<loop_frames*>(self)->show(view, static_cast<float*>(data));
  }
  void show(int view, float* data) {
    const list_range r = table.views[view];
    for (int i = r.first; i < r.first + r.count; ++i)
      memory_->arguments()[table.view_arguments[i]] = data;
  }
  static bool knows_rows(void* self, int domain) {
    return static_cast<loop_frames*>(self)->known_[domain];
  }
  static int* make_offsets(void* self, int domain, int sequences) {
    return static_cast<loop_frames*>(self)->memory_->make_offsets(domain, sequences);
  }
  void set_rows(int domain, int rows) {
    if (known_[domain]) {
      // An operator may write only the first rows of a time step, that is, fewer rows than the step
      // has.
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

  row_allocator allocator_{};
  bool known_[bound(domains)] = {};
};

}}}  // namespace lamina::engine

// SPDX-License-Identifier: Apache-2.0
// lamina/model/evaluation/loops_on_threads.hpp - several threads share the work of one call of a
// machine.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>
#include <utility>

#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/cpu/schedule/parallel_run.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// While this object exists, an evaluator or gradient machine shares its work with the threads of a
/// pool. Large operators are divided over the threads: products, convolutions, normalisations and
/// pointwise operators by rows of the batch, operators on one long array by elements. Small
/// operators are computed by the calling thread alone. Results have the same bits as with one
/// thread.
///
///   lamina::worker_pool pool(2);
///   lamina::evaluator e(model);
///   lamina::loops_on_threads loops(e, pool);
///   e.forward(lamina::feed<"image">(many));
///
/// Several machines may use one pool, but not at the same time. With a pool of one thread, nothing
/// changes. For a program with loops or branches this does not compile. To train with several
/// threads, use train_options::threads instead.
template <class Machine>
class loops_on_threads {
  using program =
      typename std::remove_reference_t<decltype(std::declval<Machine&>().machine())>::program;
  static constexpr bool has_blocks = engine::cpu::machine<program>::has_blocks;
  static_assert(check<!has_blocks>,
                "lamina: loops_on_threads: a program with loops or branches runs on one thread");

 public:
  loops_on_threads(Machine& of, worker_pool& pool) : of_(of.machine()), run_(of_, pool) {}
  loops_on_threads(const loops_on_threads&) = delete;
  loops_on_threads& operator=(const loops_on_threads&) = delete;
  ~loops_on_threads() {
    if constexpr (!has_blocks) of_.run_by({nullptr, nullptr});
  }

 private:
  // Replaces parallel_run after an error was reported, so that it causes no further errors.
  struct one_thread {
    one_thread(engine::cpu::machine<program>&, worker_pool&) {}
  };
  engine::cpu::machine<program>& of_;
  std::conditional_t<has_blocks, one_thread, engine::cpu::parallel_run<program>> run_;
};

namespace detail {

/// The threads that an evaluator owns; none by default. They move with the evaluator.
class owned_threads {
 public:
  owned_threads() = default;
  template <class Program>
  LAMINA_COLD owned_threads(engine::cpu::machine<Program>& of, int threads) {
    if (threads < 1 || threads > 256)
      LAMINA_THROW error(text() << "lamina: evaluator: expected 1 to 256 threads, found "
                                << threads);
    constexpr bool has_blocks = engine::cpu::machine<Program>::has_blocks;
    static_assert(check<!has_blocks>,
                  "lamina: loops_on_threads: a program with loops or branches runs on one thread");
    if constexpr (!has_blocks) {
      if (threads == 1) return;
      struct all_type {
        worker_pool pool;
        engine::cpu::parallel_run<Program> run;
        all_type(engine::cpu::machine<Program>& m, int count) : pool(count), run(m, pool) {}
      };
      all_ = new all_type(of, threads);
      end_ = [](void* all) { delete static_cast<all_type*>(all); };
    }
  }
  owned_threads(owned_threads&& other) noexcept
      : all_(std::exchange(other.all_, nullptr)), end_(other.end_) {}
  owned_threads& operator=(owned_threads&& other) noexcept {
    std::swap(all_, other.all_);
    std::swap(end_, other.end_);
    return *this;
  }
  ~owned_threads() {
    if (all_ != nullptr) end_(all_);
  }

 private:
  void* all_ = nullptr;
  void (*end_)(void*) = nullptr;
};

}  // namespace detail

}}  // namespace lamina

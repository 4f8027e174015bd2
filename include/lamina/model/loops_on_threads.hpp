// SPDX-License-Identifier: Apache-2.0
// lamina/model/loops_on_threads.hpp - several threads for one large request.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>
#include <utility>

#include <lamina/core/check.hpp>
#include <lamina/engine/cpu/schedule/parallel_run.hpp>

namespace lamina::inline LAMINA_ABI {

/// During its lifetime, an evaluator or a gradient machine shares the loops of its large operators
/// with the threads of a pool: rows of the batch in products, convolutions, normalisations and
/// pointwise operators, or the elements of one long array. Results are bit by bit those of one
/// thread. Small operators stay on the calling thread.
///
///   lamina::worker_pool pool(2);
///   lamina::evaluator e(model);
///   lamina::loops_on_threads loops(e, pool);
///   e.forward(lamina::feed<"image">(many));
///
/// A pool may serve many machines, one at a time. With a pool of one nothing changes. Programs with
/// loops or branches are refused at compile time; for training in parts of mini-batches there is
/// train_options::threads.
template <class Machine>
class loops_on_threads {
  using program =
      typename std::remove_reference_t<decltype(std::declval<Machine&>().machine())>::program;
  static constexpr bool has_blocks = engine::cpu::machine<program>::has_blocks;
  static_assert(check<!has_blocks>,
                "lamina: loops_on_threads: a program with loops or branches runs on one thread");

 public:
  loops_on_threads(Machine& of, worker_pool& pool) : run_(of.machine(), pool) {}

 private:
  // A valid type where the program is refused.
  struct one_thread {
    one_thread(engine::cpu::machine<program>&, worker_pool&) {}
  };
  std::conditional_t<has_blocks, one_thread, engine::cpu::parallel_run<program>> run_;
};

}  // namespace lamina::inline LAMINA_ABI

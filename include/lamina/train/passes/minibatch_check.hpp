// SPDX-License-Identifier: Apache-2.0
// lamina/train/passes/minibatch_check.hpp - compile-time errors for a trainer: a program that
// cannot be trained, and samples that do not fit it.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/check.hpp>
#include <lamina/model/feeding/sample_fields.hpp>
#include <lamina/model/names/cost_kind.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/reader/begin_pass.hpp>
#include <lamina/train/reads_minibatches.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Whether an optimizer of type Opt can train P. If not, causes a compile-time error with the
/// reason.
template <program_type P, class Opt>
constexpr bool is_trainable() {
  constexpr cost_kind cost = cost_kind_of<P>();
  constexpr bool reads = reads_minibatches<P>();
  static_assert(check<!reads>,
                "lamina: train: the program has layer::read_minibatch, so it trains itself: "
                "lamina::run(model, reader)");
  constexpr bool has_cost = cost != cost_kind::none || reads;
  static_assert(check<has_cost>, "lamina: train: the program returns no cost");
  constexpr bool has_parameters = counts_of<P>.parameters > 0 || cost == cost_kind::none || reads;
  static_assert(check<has_parameters>, "lamina: train: the program has no parameters to train");
  static_assert(check<(cost != cost_kind::array || reads), gets_type<typename P::result>>,
                "lamina: train: the cost is one number; take its mean over the batch first");
  if constexpr (cost == cost_kind::number && !reads) {
    constexpr bool accepts = accepts_gradients<P, Opt>;
    static_assert(check<accepts, gets_type<Opt>>,
                  "lamina: train: an embedding with is_sparse has gradients of rows, which sgd, "
                  "momentum, adagrad, adam, rmsprop and lamb take");
    constexpr bool keeps = keeps_operands<P>;
    static_assert(check<keeps, faulty_name<with_backward<P>::desc>>,
                  "lamina: store: a gradient needs the value from before the store; store after "
                  "minimize, or read a copy, layer::assign(x)");
  }
  return true;
}

/// Whether the samples of a mini-batch fit the data layers of P. If not, causes a compile-time
/// error with the reason, except for a mini-batch that is not a range: the caller reports that.
template <program_type P, class Batch>
constexpr bool are_samples() {
  constexpr bool batched = std::ranges::range<Batch&>;
  constexpr int layers = counts_of<P>.data;
  constexpr int fields = fields_a_sample<layers, Batch>;
  constexpr bool fits = fields == layers;
  static_assert(check<fits, expects<layers>, gets<fields>>,
                "lamina: reader: a sample has one field for each data layer of the program");
  using fed = field_check<P, Batch, (fits && batched)>;
  static_assert(check<fed::ok, typename fed::name, typename fed::expected, typename fed::found>,
                "lamina: reader: a field holds what its data layer takes: as many numbers, and "
                "integers where it takes integers");
  return batched && fits && fed::ok;
}

/// Whether a reader yields mini-batches whose samples fit. If not, causes a compile-time error with
/// the reason.
template <program_type P, class Reader>
constexpr bool are_minibatches() {
  constexpr bool readable = reader::readable<Reader>;
  static_assert(check<readable, gets_type<Reader>>,
                "lamina: reader: expected a reader: a copyable range, or a callable without "
                "arguments (or of the pass number) that returns a range");
  constexpr bool batched = reader::yields_batches<Reader>;
  static_assert(check<batched, gets_type<reader::yield_of<Reader>>>,
                "lamina: reader: expected mini-batches, ranges of samples: put | "
                "lamina::reader::batch(n) after the reader");
  if constexpr (readable && batched)
    return are_samples<P, reader::yield_of<Reader>>();
  else
    return false;
}

}}}  // namespace lamina::detail

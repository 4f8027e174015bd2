// SPDX-License-Identifier: Apache-2.0
// lamina/train/divided_feed.hpp - feeds mini-batches to a training loop that several processes run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <optional>
#include <utility>

#include <lamina/core/checksum.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/model/batch_view.hpp>
#include <lamina/model/feeder.hpp>
#include <lamina/model/minibatch_position.hpp>
#include <lamina/reader/begin_pass.hpp>
#include <lamina/train/cost_rows.hpp>
#include <lamina/train/run_summary.hpp>
#include <lamina/train/world_calls.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Feeds a machine its part of each mini-batch. Either all processes read the same mini-batches and
/// each computes a part, or each reads its share of them. A process whose share has ended takes
/// part without samples until all shares have ended; then a new pass begins in all processes.
template <program_type P, class Reader, class Machine>
class divided_feed {
 public:
  divided_feed(Reader& batches, Machine& machine, run_summary& summary, world_calls& calls,
               const world& all, bool shares)
      : batches_(batches),
        machine_(machine),
        summary_(summary),
        calls_(calls),
        rank_(all.rank()),
        ranks_(all.size()),
        shares_(shares) {
    if constexpr (requires { P::ranks; }) {
      if (P::ranks > 0 && P::ranks != ranks_)
        throw error(text() << "lamina: run: expected " << P::ranks
                           << " processes, for which grad_all_reduce made the program, found "
                           << ranks_);
    }
  }
  divided_feed(const divided_feed&) = delete;
  divided_feed& operator=(const divided_feed&) = delete;

  /// Runs the machine. Adds the position of the last mini-batch to an error about a row.
  void run(std::uint64_t seed) {
    machine_.read_from({this, &next, nullptr, &calls_});
    try {
      machine_.run(~0ull, seed, 0);
    } catch (const row_error& e) {
      minibatch_position at = position();
      --at.batch;
      at.first_sample -= samples_;
      const std::int64_t sample = part_.sample_of(e.domain(), e.row());
      at.fail(e, sample < 0 ? sample : sample + first_, part_.position_of(e.domain(), e.row()));
    }
  }

 private:
  using pass_type = decltype(reader::begin_pass(std::declval<Reader&>(), std::uint64_t{}));
  using iterator_type = decltype(std::declval<pass_type&>().begin());
  static constexpr bool has_fixed_weights = [] {
    if constexpr (requires { P::ranks; })
      return P::ranks > 0;
    else
      return false;
  }();

  static bool next(void* self) { return static_cast<divided_feed*>(self)->take(); }
  bool take() {
    if (!goes_on_) {
      at_.reset();
      pass_.emplace(reader::begin_pass(batches_, passes_++));
      at_.emplace(pass_->begin());
    }
    minibatch_share mine;
    if (*at_ == pass_->end()) {
      feeder_.clear();
    } else {
      try {
        feeder_.fill(**at_);
      } catch (const row_error& e) {
        position().fail(e, e.row());
      }
      ++*at_;
      mine.more = !(*at_ == pass_->end());
    }
    const batch_view<P> whole = feeder_.view();
    first_ = shares_ ? 0 : first_of_part(whole, rank_, ranks_);
    part_ = shares_ ? whole : whole.part(first_, first_of_part(whole, rank_ + 1, ranks_));
    mine.samples = part_.size();
    mine.read = whole.size();
    if (summary_.minibatches == 0) {
      checksum sum;
      feeder_.add_to(sum);
      mine.checksum = sum.value();
    }
    samples_ = calls_.read(mine, shares_, has_fixed_weights);
    if (samples_ == 0)
      throw error(text() << "lamina: run: expected at least one mini-batch in pass " << passes_ - 1
                         << " of the reader, found none");
    if (shares_) calls_.rows_before(part_.rows.count, part_.rows.first, batch_view<P>::domains);
    goes_on_ = mine.more;
    ++summary_.minibatches;
    summary_.samples += samples_;
    part_.feed_to(machine_);
    return goes_on_;
  }
  /// The position of the next mini-batch among all mini-batches of the run.
  minibatch_position position() const {
    return {.batch = summary_.minibatches, .first_sample = summary_.samples};
  }

  Reader& batches_;
  Machine& machine_;
  run_summary& summary_;
  world_calls& calls_;
  int rank_, ranks_;
  bool shares_;
  feeder<P> feeder_;
  batch_view<P> part_;
  int first_ = 0;             // the first sample of the part
  std::int64_t samples_ = 0;  // samples of the last mini-batch over all processes
  bool goes_on_ = false;      // whether any process has another mini-batch in this pass
  std::optional<pass_type> pass_;
  std::optional<iterator_type> at_;
  std::uint64_t passes_ = 0;
};

}}}  // namespace lamina::detail

// SPDX-License-Identifier: Apache-2.0
// lamina/model/feeding/minibatch_position.hpp - adds the mini-batch and the sample to an error
// message.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/feeding/batch_view.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The position of a mini-batch in a pass. All numbers begin with 0, as in events.
struct minibatch_position {
  std::int64_t pass = -1;  // -1: there is only one pass
  std::int64_t batch = 0;
  std::int64_t first_sample = 0;  // the number of the mini-batch's first sample in the pass

  /// Throws lamina::error with the message of `e` and the position. `sample` is the number of the
  /// sample in the mini-batch, and `position` the number of the element in the sample's sequence;
  /// -1 if not known.
  [[noreturn]] LAMINA_API LAMINA_COLD void fail(const error& e, std::int64_t sample,
                                                std::int64_t position = -1) const;
};

namespace detail {

/// Returns f(). If f, which fills a mini-batch or computes with it, throws an error, adds the
/// position to its message.
template <program_type P, class F>
auto at_minibatch(const minibatch_position& at, const batch_view<P>& batch, const F& f) {
  LAMINA_TRY { return f(); }
  LAMINA_CATCH(const row_error& e) {
    at.fail(e, batch.sample_of(e.domain(), e.row()), batch.position_of(e.domain(), e.row()));
  }
  LAMINA_CATCH(const error& e) { at.fail(e, -1); }
}

}  // namespace detail
#if LAMINA_DEFINES

void minibatch_position::fail(const error& e, std::int64_t sample, std::int64_t position) const {
  text message(e.what());
  message << " (mini-batch " << batch;
  if (pass >= 0) message << " of pass " << pass;
  if (sample >= 0) message << ", sample " << first_sample + sample;
  if (sample >= 0 && position >= 0) message << ", position " << position;
  LAMINA_THROW error(message << ")");
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina

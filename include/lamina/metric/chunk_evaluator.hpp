// SPDX-License-Identifier: Apache-2.0
// lamina/metric/chunk_evaluator.hpp - precision, recall and F1 of chunks over mini-batches.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace metric {

/// Adds up the counts that layer::chunk_eval returns for each mini-batch. From the sums it computes
/// precision = correct / found, recall = correct / labelled, and F1 = 2 precision recall /
/// (precision + recall). A result is 0 if its divisor is 0. Throws lamina::error for a negative
/// count, for more correct chunks than found or labelled chunks, and for eval() before an update.
/// Fluid: fluid.metrics.ChunkEvaluator.
class chunk_evaluator {
 public:
  struct result {
    double precision, recall, f1;
  };

  /// Adds the numbers of one mini-batch: of chunks that the predictions contain, of chunks that the
  /// labels contain, and of chunks that both contain.
  void update(std::int64_t found, std::int64_t labelled, std::int64_t correct) {
    if (found < 0 || labelled < 0 || correct < 0 || correct > found || correct > labelled)
      throw error(text() << "lamina: metric::chunk_evaluator: expected at most as many correct "
                            "chunks as found and labelled ones, found "
                         << correct << " of " << found << " and " << labelled);
    found_ += found, labelled_ += labelled, correct_ += correct;
    updated_ = true;
  }
  result eval() const {
    if (!updated_)
      throw error("lamina: metric::chunk_evaluator: expected an update before eval, found none");
    const auto ratio = [](double part, double whole) { return whole > 0 ? part / whole : 0.0; };
    const double p = ratio(static_cast<double>(correct_), static_cast<double>(found_));
    const double r = ratio(static_cast<double>(correct_), static_cast<double>(labelled_));
    return {p, r, ratio(2 * p * r, p + r)};
  }
  void reset() { *this = chunk_evaluator{}; }

 private:
  std::int64_t found_ = 0, labelled_ = 0, correct_ = 0;
  bool updated_ = false;
};

}}}  // namespace lamina::metric

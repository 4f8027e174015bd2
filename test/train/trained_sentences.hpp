// SPDX-License-Identifier: Apache-2.0
// test/train/trained_sentences.hpp - trains programs on sentences by any number of threads.
#pragma once

#include <vector>

#include "train/costs_of_rows.hpp"
#include "train/net.hpp"

namespace trained_sentences {

using words = std::vector<std::int64_t>;

/// Sentences that become longer, so that the parts differ in their words and in their number.
template <class Sample>
std::vector<Sample> sentences(int count) {
  std::vector<Sample> all;
  for (int i = 0; i < count; ++i) {
    words word, tag;
    for (int k = 0; k <= i % 7 * 2; ++k) {
      word.push_back((i * 5 + k * 3) % 9);
      tag.push_back((i + k * 2) % 5);
    }
    if constexpr (std::tuple_size_v<Sample> == 3)
      all.push_back({word, tag, i % 5});
    else
      all.push_back({word, tag});
  }
  return all;
}

/// What a run was told after each mini-batch: the cost, then the metrics.
using values = std::vector<double>;

template <class Sample, class P>
lamina::model<P> trained(P program, int threads, values* told = nullptr,
                         const std::vector<Sample>& samples = sentences<Sample>(29)) {
  lamina::model m{program, 3};
  test::optimizer::sgd{.learning_rate = 0.5f}.train(
      m, samples | test::reader::batch(7),
      {.passes = 3, .threads = threads, .on_event = [&](const lamina::event& e) {
         if (told == nullptr || !e.is_end_iteration()) return;
         told->push_back(e.cost);
         for (const auto& metric : e.metrics) told->push_back(metric.value);
       }});
  return m;
}

}  // namespace trained_sentences

// SPDX-License-Identifier: Apache-2.0
// lamina/metric/bleu.hpp - the BLEU score, which compares translations with reference translations.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace metric {

/// Options of bleu.
struct bleu_options {
  std::size_t max_n = 4;  ///< the longest n-grams that count
};

/// The BLEU score of all translations since the last reset, between 0 and 1:
///   exp(min(0, 1 - r / c)) * (p_1 * ... * p_N)^(1 / N)
/// p_n is the fraction of the n-grams of the translations that occur in a reference; an n-gram
/// counts at most as often as it occurs in the reference that contains it most often. c is the
/// total length of all translations. r is the total length of one reference per translation: the
/// reference whose length is nearest to the translation's, and the shorter reference if two are
/// equally near. There is no smoothing: if for some n there is no common n-gram, BLEU is 0. Words
/// may be numbers or texts; marks such as "<e>" count as words unless the caller removes them.
/// Throws lamina::error if max_n is 0, for an update without a reference, and for eval() before an
/// update. Source: Papineni et al. 2002.
class bleu {
 public:
  explicit bleu(bleu_options options = {})
      : options_(options), common_(options.max_n), all_(options.max_n) {
    if (options.max_n == 0)
      throw error("lamina: metric::bleu: expected n-grams of at least 1 word, found max_n of 0");
  }

  /// Adds a translation and its reference.
  template <class Word>
  void update(const std::vector<Word>& translation, const std::vector<Word>& reference) {
    update(translation, std::vector<std::vector<Word>>{reference});
  }
  /// Adds a translation and one or more references for it.
  template <class Word>
  void update(const std::vector<Word>& translation,
              const std::vector<std::vector<Word>>& references) {
    if (references.empty())
      throw error("lamina: metric::bleu: expected at least one reference, found none");
    const std::size_t length = translation.size();
    std::size_t nearest = references[0].size();
    for (const auto& reference : references) {
      const std::size_t known = distance(nearest, length);
      const std::size_t found = distance(reference.size(), length);
      if (found < known || (found == known && reference.size() < nearest))
        nearest = reference.size();
    }
    for (std::size_t n = 1; n <= options_.max_n; ++n) {
      std::map<std::vector<Word>, std::uint64_t> most;
      for (const auto& reference : references)
        for (const auto& [words, count] : n_grams(reference, n))
          most[words] = (std::max)(most[words], count);
      for (const auto& [words, count] : n_grams(translation, n)) {
        const auto found = most.find(words);
        if (found != most.end()) common_[n - 1] += (std::min)(count, found->second);
        all_[n - 1] += count;
      }
    }
    length_ += length;
    reference_length_ += nearest;
    ++updates_;
  }

  double eval() const {
    if (updates_ == 0)
      throw error("lamina: metric::bleu: expected an update before eval, found none");
    double log_precision = 0;
    for (std::size_t n = 0; n < options_.max_n; ++n) {
      if (common_[n] == 0) return 0;
      log_precision += std::log(static_cast<double>(common_[n]) / static_cast<double>(all_[n]));
    }
    const double shortness =
        1 - static_cast<double>(reference_length_) / static_cast<double>(length_);
    return std::exp((std::min)(0., shortness) +
                    log_precision / static_cast<double>(options_.max_n));
  }

  void reset() { *this = bleu(options_); }

 private:
  static std::size_t distance(std::size_t a, std::size_t b) { return a < b ? b - a : a - b; }

  template <class Word>
  static std::map<std::vector<Word>, std::uint64_t> n_grams(const std::vector<Word>& words,
                                                            std::size_t n) {
    std::map<std::vector<Word>, std::uint64_t> counts;
    for (std::size_t at = 0; at + n <= words.size(); ++at) {
      const auto first = words.begin() + static_cast<std::ptrdiff_t>(at);
      ++counts[{first, first + static_cast<std::ptrdiff_t>(n)}];
    }
    return counts;
  }

  bleu_options options_;
  std::vector<std::uint64_t> common_, all_;  // by length of the n-grams: the number of common and
                                             // of all n-grams
  std::uint64_t length_ = 0, reference_length_ = 0, updates_ = 0;
};

}}}  // namespace lamina::metric

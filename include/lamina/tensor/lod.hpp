// SPDX-License-Identifier: Apache-2.0
// lamina/tensor/lod.hpp - the LoD ("level of details") of an array: the sequences that its rows
// form.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Sequences of rows, or nested sequences, stored as offsets. In the last level, sequence i
/// consists of the rows from entry i up to, but not including, entry i + 1. In each level above,
/// sequence i consists of sequences of the next level in the same way. For example, the lengths
/// [[2, 1], [3, 0, 4]] are two documents: one of two sentences, with three and zero words, and one
/// of one sentence with four words. Their offsets are [[0, 2, 3], [0, 3, 3, 7]]. Without any level,
/// the rows form no sequences. Fluid: LoD. Unlike in Fluid, a level may have no sequences; its
/// offsets are then [0].
class lod {
 public:
  using level = std::vector<std::size_t>;

  lod() = default;
  /// Makes a LoD from offsets. Throws lamina::error unless each level begins with 0, never
  /// decreases, and its last offset is the number of sequences of the level below. Fluid: CheckLoD.
  explicit lod(std::vector<level> offsets) : levels_(std::move(offsets)) { check_levels(); }
  /// Makes a LoD from lengths of sequences, Fluid's recursive_sequence_lengths.
  static lod from_lengths(const std::vector<level>& lengths) {
    std::vector<level> offsets;
    for (const level& l : lengths) {
      level& to = offsets.emplace_back(1, std::size_t{0});
      for (const std::size_t n : l) to.push_back(to.back() + n);
    }
    return lod(std::move(offsets));
  }

  /// Returns the number of levels.
  std::size_t levels() const { return levels_.size(); }
  bool empty() const { return levels_.empty(); }
  /// Returns the offsets of a level; 0 is the outermost.
  const level& offsets(std::size_t l) const {
    require_level(l);
    return levels_[l];
  }
  /// Returns the offsets of the last level: the first row of each sequence.
  const level& last() const { return offsets(levels() - 1); }
  /// Returns the number of sequences of a level.
  std::size_t sequences(std::size_t l) const { return offsets(l).size() - 1; }
  /// Returns the number of sequences of the last level.
  std::size_t sequences() const { return last().size() - 1; }
  /// Returns the number of rows of all sequences together.
  std::size_t rows() const { return last().back(); }
  /// Returns the number of rows of sequence i of the last level.
  std::size_t length(std::size_t i) const { return last().at(i + 1) - last().at(i); }
  /// Returns the lengths of the sequences of each level. Fluid: recursive_sequence_lengths.
  std::vector<level> recursive_sequence_lengths() const {
    std::vector<level> lengths;
    for (const level& l : levels_) {
      level& to = lengths.emplace_back();
      for (std::size_t i = 0; i + 1 < l.size(); ++i) to.push_back(l[i + 1] - l[i]);
    }
    return lengths;
  }

  /// Returns the offsets of a level, counted in rows instead of in sequences of the level below.
  /// Fluid: ToAbsOffset.
  level absolute(std::size_t l) const {
    level rows = offsets(l);
    for (std::size_t below = l + 1; below < levels(); ++below)
      for (std::size_t& at : rows) at = levels_[below][at];
    return rows;
  }
  /// Returns the LoD without its last level. The rows of the result are the sequences of that
  /// level.
  lod above() const {
    require_level(0);
    lod r(*this);
    r.levels_.pop_back();
    return r;
  }
  /// Returns the LoD with one more level at the end, in which each current row becomes a sequence;
  /// `lengths` has one length per current row.
  lod below(const level& lengths) const {
    std::vector<level> all = recursive_sequence_lengths();
    all.push_back(lengths);
    return from_lengths(all);
  }
  /// Returns the sequences [first, end) of the outermost level. Throws lamina::error if the range
  /// is invalid. Fluid: SliceLevels.
  lod slice(std::size_t first, std::size_t end) const {
    if (first > end || end > sequences(0))
      throw error(text() << "lamina: lod: expected a part of " << sequences(0)
                         << " sequences, found [" << first << ", " << end << ")");
    lod r;
    for (const level& l : levels_) {
      level& to = r.levels_.emplace_back();
      for (std::size_t i = first; i <= end; ++i) to.push_back(l[i] - l[first]);
      const std::size_t next_first = l[first], next_end = l[end];
      first = next_first;
      end = next_end;
    }
    return r;
  }
  /// Returns the sequences of this LoD followed by those of `other`, which must have the same
  /// number of levels; otherwise throws lamina::error.
  lod concat(const lod& other) const {
    if (levels() != other.levels())
      throw error(text() << "lamina: lod: expected " << levels() << " levels as in the first part, "
                         << "found " << other.levels());
    lod r(*this);
    for (std::size_t l = 0; l < levels(); ++l) {
      const std::size_t before = r.levels_[l].back();
      for (std::size_t i = 1; i < other.levels_[l].size(); ++i)
        r.levels_[l].push_back(before + other.levels_[l][i]);
    }
    return r;
  }

  bool operator==(const lod&) const = default;

 private:
  LAMINA_API LAMINA_COLD void require_level(std::size_t l) const;
  LAMINA_API LAMINA_COLD void check_levels() const;

  std::vector<level> levels_;
};

/// Returns the lengths as text: "[[2, 1], [3, 0, 4]]".
inline std::string to_string(const lod& l) {
  text out;
  out << "[";
  const char* between = "";
  for (const lod::level& lengths : l.recursive_sequence_lengths()) {
    out << between << "[";
    for (std::size_t i = 0; i < lengths.size(); ++i) out << (i == 0 ? "" : ", ") << lengths[i];
    out << "]";
    between = ", ";
  }
  out << "]";
  return out;
}

#if LAMINA_DEFINES

void lod::require_level(std::size_t l) const {
  if (l >= levels())
    throw error(text() << "lamina: lod: expected a level below " << levels() << ", found "
                       << static_cast<std::ptrdiff_t>(l));
}

void lod::check_levels() const {
  for (std::size_t l = 0; l < levels(); ++l) {
    const level& offset = levels_[l];
    if (offset.empty() || offset[0] != 0)
      throw error(text() << "lamina: lod: expected level " << l << " to begin with offset 0, "
                         << (offset.empty() ? "found no offset" : "found another"));
    for (std::size_t i = 1; i < offset.size(); ++i)
      if (offset[i] < offset[i - 1])
        throw error(text() << "lamina: lod: expected ascending offsets in level " << l << ", found "
                           << offset[i - 1] << " before " << offset[i]);
    if (l + 1 < levels() && offset.back() + 1 != levels_[l + 1].size())
      throw error(text() << "lamina: lod: expected " << offset.back() << " sequences in level "
                         << l + 1 << " as level " << l << " says, found "
                         << static_cast<std::ptrdiff_t>(levels_[l + 1].size()) - 1);
  }
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina

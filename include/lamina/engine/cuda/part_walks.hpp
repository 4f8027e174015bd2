// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/part_walks.hpp - how a team walks along one part of sums over all rows: of a
// channel, whose elements lie side by side in each row, or of neighbouring columns.
#pragma once

#include <cstddef>

#include <lamina/engine/cuda/divider.hpp>
#include <lamina/engine/cuda/pack.hpp>
#include <lamina/engine/cuda/team.hpp>

namespace lamina::engine::cuda {

/// Sums over all rows of images, a number or some a channel, cut into parts. A term is what a
/// thread takes at once, a pack or a float of a channel; or, where teams take columns, a row.
struct part_sum_arguments {
  int rows, channels, size;  // size: elements of a channel in a row
  bool packs;                // whether rows and channels are whole packs
  divider row_terms;         // of a channel in a row
  int terms, parts, part_terms;
  int term_elements;  // of a channel or column
  divider inner;  // numbers of a channel that a part leaves: more than one where its columns are
  std::ptrdiff_t numbers;  // that a part leaves for each of the sums
  float* found;            // by sum, part and number
  int lines, width;

  LAMINA_INLINE LAMINA_FN bool is_whole() const { return parts == 1 && inner.divisor() == 1; }
  LAMINA_INLINE LAMINA_FN int first(int part) const { return part * part_terms; }
  LAMINA_INLINE LAMINA_FN int end(int part) const {
    return terms - first(part) < part_terms ? terms : first(part) + part_terms;
  }
  /// Elements of a channel or column that a part has.
  LAMINA_INLINE LAMINA_FN int elements(int part) const {
    return (end(part) - first(part)) * term_elements;
  }
  LAMINA_INLINE LAMINA_FN float& at(int sum, int part, int number) const {
    return found[(static_cast<std::ptrdiff_t>(sum) * parts + part) * numbers + number];
  }
};

/// A part of one channel: neighbouring threads have neighbouring packs, from row to row. A step of
/// all threads is the same everywhere, so that no thread divides more than at its first term.
template <class Pack, class Team>
class channel_walk {
 public:
  using pack_type = Pack;
  static constexpr int width = Pack::width;

  LAMINA_INLINE LAMINA_FN channel_walk(const part_sum_arguments& a, const Team& team, int channel,
                                       int part)
      : team_(team),
        part_(part),
        channel_(channel),
        begin_(channel * a.size),
        row_terms_(a.row_terms.divisor()),
        first_(a.first(part) + team.rank()),
        end_(a.end(part)),
        elements_(a.elements(part)),
        at_(first_),
        step_at_(team.size()) {
    row_ = a.row_terms.divide(at_);
    step_rows_ = a.row_terms.divide(step_at_);
  }
  LAMINA_INLINE LAMINA_FN int elements() const { return elements_; }
  LAMINA_INLINE LAMINA_FN int channel() const { return channel_; }
  /// f(row, column) for each pack of this thread.
  template <class F>
  LAMINA_INLINE LAMINA_FN void each(const F& f) const {
    int row = row_, at = at_;
    for (int k = first_; k < end_; k += team_.size()) {
      f(row, begin_ + at * width);
      row += step_rows_;
      at += step_at_;
      if (at >= row_terms_) {
        at -= row_terms_;
        ++row;
      }
    }
  }
  /// The number of the channel of each lane.
  LAMINA_INLINE LAMINA_FN Pack number(const float* of) const { return filled<Pack>(of[channel_]); }
  /// The sum over all threads, and here over the lanes.
  LAMINA_INLINE LAMINA_FN Pack total(const Pack& x) const {
    float sum = x.v[0];
    LAMINA_CUDA_UNROLL
    for (int j = 1; j < width; ++j) sum += x.v[j];
    return filled<Pack>(sum_of(team_, sum));
  }
  /// f(part, number, lane) for each number that this thread leaves, and the lane that has it.
  template <class F>
  LAMINA_INLINE LAMINA_FN void leave(const F& f) const {
    if (team_.rank() == 0) f(part_, channel_, 0);
  }

 private:
  const Team& team_;
  int part_, channel_, begin_, row_terms_, first_, end_, elements_;
  int row_, at_, step_rows_, step_at_;
};

/// What the lanes of a team have found, by pack.
template <class Shape>
struct column_lanes {
  pack of[Shape::lanes][Shape::packs];
};

/// A part of neighbouring columns, of as many as `Shape` has packs; its lanes take every row in
/// turn.
template <class Pack, class Shape, class Team>
class column_walk {
 public:
  using pack_type = Pack;
  static constexpr int width = Pack::width;
  using shared = column_lanes<Shape>;

  LAMINA_INLINE LAMINA_FN column_walk(const part_sum_arguments& a, const Team& team, shared& s,
                                      int tile, int part)
      : team_(team),
        shared_(s),
        sizes_(a.inner),
        part_(part),
        first_(a.first(part)),
        end_(a.end(part)),
        x_(team.rank() % Shape::packs),
        y_(team.rank() / Shape::packs) {
    column_ = (tile * Shape::packs + x_) * width;
    inside_ = column_ < a.channels * a.size;
  }
  LAMINA_INLINE LAMINA_FN int elements() const { return end_ - first_; }
  template <class F>
  LAMINA_INLINE LAMINA_FN void each(const F& f) const {
    if (!inside_) return;
    for (int row = first_ + y_; row < end_; row += Shape::lanes) f(row, column_);
  }
  LAMINA_INLINE LAMINA_FN Pack number(const float* of) const {
    Pack p = filled<Pack>(0.0f);
    if (!inside_) return p;
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < width; ++j) p.v[j] = of[sizes_.quotient(column_ + j)];
    return p;
  }
  /// The sum over all lanes of the team.
  LAMINA_INLINE LAMINA_FN Pack total(const Pack& x) const {
    set(shared_.of[y_][x_], x);
    team_.barrier();
    Pack sum = get(shared_.of[0][x_]);
    for (int l = 1; l < Shape::lanes; ++l) {
      const Pack more = get(shared_.of[l][x_]);
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < width; ++j) sum.v[j] += more.v[j];
    }
    team_.barrier();
    return sum;
  }
  template <class F>
  LAMINA_INLINE LAMINA_FN void leave(const F& f) const {
    if (y_ != 0 || !inside_) return;
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < width; ++j) f(part_, column_ + j, j);
  }

 private:
  static LAMINA_INLINE LAMINA_FN void set(pack& to, const Pack& x) {
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < width; ++j) to.v[j] = x.v[j];
  }
  static LAMINA_INLINE LAMINA_FN Pack get(const pack& from) {
    Pack p;
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < width; ++j) p.v[j] = from.v[j];
    return p;
  }

  const Team& team_;
  shared& shared_;
  const divider& sizes_;
  int part_, first_, end_, x_, y_, column_;
  bool inside_;
};

}  // namespace lamina::engine::cuda

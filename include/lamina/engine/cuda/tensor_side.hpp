// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/tensor_side.hpp - one side of a product on its way to tensor cores: from
// memory to registers, and rounded from there to shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lamina/engine/cuda/tile_product.hpp>

namespace lamina::engine::cuda::detail {

/// Words of one side, in the order in which neighbours come from memory. The gaps put the words
/// that the lanes of a warp read at once, 8 lines by 4 words, in different banks; packs stay
/// aligned.
template <bool AlongDepth, int Lines, int Words>
struct word_layout {
  static constexpr int line_step = AlongDepth ? Words + 4 : 1;
  static constexpr int word_step = AlongDepth ? 1 : Lines + 8;
  static constexpr int size = AlongDepth ? Lines * line_step : Words * word_step;
  static_assert(Words % 8 == 0 && Lines % 16 == 0);
};

/// Words that hold a side in either order.
template <int Lines, int Words, int A = word_layout<true, Lines, Words>::size,
          int B = word_layout<false, Lines, Words>::size>
inline constexpr int side_room = A < B ? B : A;

template <int Words>
struct alignas(4 * Words) word_pack {
  std::uint32_t v[Words];
};
template <int Words>
LAMINA_INLINE LAMINA_FN void store_words(std::uint32_t* to, const word_pack<Words>& w) {
  *reinterpret_cast<word_pack<Words>*>(to) = w;
}

/// Whether it takes long to find out about a term of a side, so that one thread does it for all.
template <class Side>
inline constexpr bool shares_terms = false;
template <class Side>
requires requires { Side::shares_terms; }
inline constexpr bool shares_terms<Side> = Side::shares_terms;

/// What is known of the terms of a tile, of a side that shares it.
template <int Depth>
struct shared_terms {
  static constexpr std::size_t term_bytes = 16;
  alignas(16) std::byte memory[Depth * term_bytes];

  template <class Side>
  LAMINA_INLINE LAMINA_FN typename Side::deep_type* of() {
    static_assert(sizeof(typename Side::deep_type) <= term_bytes);
    return reinterpret_cast<typename Side::deep_type*>(memory);
  }
};

/// A thread's part of the copies of one side: what it loads at once and stores later. Of a side
/// that tells elements one by one, threads take some lines by some terms, so that what is known of
/// each is found out a few times only.
template <class Shape, int Lines, class Side>
class side_words {
  using format = typename Shape::format;
  static constexpr int terms = format::terms;
  static constexpr int across = Side::along_depth ? 8 : Lines < 64 ? 16 : Lines / 4;
  static constexpr int down = Shape::threads / across;
  static constexpr int line_step = Side::along_depth ? down : across;
  static constexpr int word_step = Side::along_depth ? across : down;
  static constexpr int lines = Lines / line_step, depths = Shape::words / word_step;
  static_assert(lines * line_step == Lines && depths * word_step == Shape::words);
  using layout = word_layout<Side::along_depth, Lines, Shape::words>;

 public:
  LAMINA_INLINE LAMINA_FN void begin(const Side& side, int rank, int first) {
    line0_ = Side::along_depth ? rank / across : rank % across;
    word0_ = Side::along_depth ? rank % across : rank / across;
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < lines; ++i) line_[i] = side.line(first + line0_ + i * line_step);
  }
  LAMINA_INLINE LAMINA_FN void load(const Side& side, int k, shared_terms<Shape::depth>& known) {
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < depths; ++d) {
      LAMINA_CUDA_UNROLL
      for (int t = 0; t < terms; ++t) {
        const int term = (word0_ + d * word_step) * terms + t;
        typename Side::deep_type deep;
        if constexpr (shares_terms<Side>)
          deep = known.template of<Side>()[term];
        else
          deep = side.deep(k + term);
        LAMINA_CUDA_UNROLL
        for (int i = 0; i < lines; ++i) held_[d][i][t] = side.get(line_[i], deep);
      }
    }
  }
  LAMINA_INLINE LAMINA_FN void store(std::uint32_t* to) const {
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < depths; ++d) {
      LAMINA_CUDA_UNROLL
      for (int i = 0; i < lines; ++i)
        to[(line0_ + i * line_step) * layout::line_step +
           (word0_ + d * word_step) * layout::word_step] = format::word(held_[d][i]);
    }
  }

 private:
  int line0_, word0_;
  typename Side::line_type line_[lines];
  float held_[depths][lines][terms];
};

/// Of a matrix packs of neighbours: a thread takes one pack of some lines along the depth, ...
template <class Shape, int Lines>
class side_words<Shape, Lines, matrix_reader<true>> {
  using format = typename Shape::format;
  static constexpr int terms = format::terms, words = pack_width / terms;
  static constexpr int across = Shape::depth / pack_width, down = Shape::threads / across;
  static constexpr int lines = Lines / down;
  static_assert(lines * down == Lines && across * down == Shape::threads);
  using layout = word_layout<true, Lines, Shape::words>;

 public:
  LAMINA_INLINE LAMINA_FN void begin(const matrix_reader<true>& side, int rank, int first) {
    pack0_ = rank % across;
    line0_ = rank / across;
    first_ = first;
    packs_ = side.has_packs();
  }
  LAMINA_INLINE LAMINA_FN void load(const matrix_reader<true>& side, int k,
                                    shared_terms<Shape::depth>&) {
    inside_ = side.inside(0, k + pack0_ * pack_width);
    if (packs_)
      load_as<true>(side, k);
    else
      load_as<false>(side, k);
  }
  LAMINA_INLINE LAMINA_FN void store(std::uint32_t* to) const {
    if (inside_ >= pack_width)
      store_as<true>(to);
    else
      store_as<false>(to);
  }

 private:
  /// Whole packs, as all but the last ones of rows are, or with zeros for what is outside.
  template <bool Whole>
  LAMINA_INLINE LAMINA_FN void store_as(std::uint32_t* to) const {
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < lines; ++i) {
      word_pack<words> w;
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < words; ++j) {
        float x[terms];
        LAMINA_CUDA_UNROLL
        for (int t = 0; t < terms; ++t)
          x[t] = Whole || j * terms + t < inside_ ? held_[i].v[j * terms + t] : 0.0f;
        w.v[j] = format::word(x);
      }
      store_words(to + (line0_ + i * down) * layout::line_step + pack0_ * words, w);
    }
  }
  template <bool Packs>
  LAMINA_INLINE LAMINA_FN void load_as(const matrix_reader<true>& side, int k) {
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < lines; ++i)
      held_[i] =
          side.template neighbours<Packs>(first_ + line0_ + i * down, k + pack0_ * pack_width);
  }

  int pack0_, line0_, first_, inside_;
  bool packs_;
  pack held_[lines];
};

/// ... or the same pack of lines for some words of terms.
template <class Shape, int Lines>
class side_words<Shape, Lines, matrix_reader<false>> {
  using format = typename Shape::format;
  static constexpr int terms = format::terms;
  static constexpr int across = Lines / pack_width, down = Shape::threads / across;
  static constexpr int depths = Shape::words / down;
  static_assert(depths * down == Shape::words && across * down == Shape::threads);
  using layout = word_layout<false, Lines, Shape::words>;

 public:
  LAMINA_INLINE LAMINA_FN void begin(const matrix_reader<false>& side, int rank, int first) {
    pack0_ = rank % across;
    word0_ = rank / across;
    first_ = first;
    inside_ = side.inside(first + pack0_ * pack_width, 0);
    packs_ = side.has_packs();
  }
  LAMINA_INLINE LAMINA_FN void load(const matrix_reader<false>& side, int k,
                                    shared_terms<Shape::depth>&) {
    if (packs_)
      load_as<true>(side, k);
    else
      load_as<false>(side, k);
  }
  LAMINA_INLINE LAMINA_FN void store(std::uint32_t* to) const {
    if (inside_ >= pack_width)
      store_as<true>(to);
    else
      store_as<false>(to);
  }

 private:
  template <bool Whole>
  LAMINA_INLINE LAMINA_FN void store_as(std::uint32_t* to) const {
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < depths; ++d) {
      word_pack<pack_width> w;
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j) {
        float x[terms];
        LAMINA_CUDA_UNROLL
        for (int t = 0; t < terms; ++t) x[t] = Whole || j < inside_ ? held_[d][t].v[j] : 0.0f;
        w.v[j] = format::word(x);
      }
      store_words(to + (word0_ + d * down) * layout::word_step + pack0_ * pack_width, w);
    }
  }
  template <bool Packs>
  LAMINA_INLINE LAMINA_FN void load_as(const matrix_reader<false>& side, int k) {
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < depths; ++d) {
      LAMINA_CUDA_UNROLL
      for (int t = 0; t < terms; ++t)
        held_[d][t] = side.template neighbours<Packs>(first_ + pack0_ * pack_width,
                                                      k + (word0_ + d * down) * terms + t);
    }
  }

  int pack0_, word0_, first_, inside_;
  bool packs_;
  pack held_[depths][terms];
};

}  // namespace lamina::engine::cuda::detail

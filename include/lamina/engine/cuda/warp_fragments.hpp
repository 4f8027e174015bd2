// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/warp_fragments.hpp - what the lanes of a warp hold of a tile that tensor cores
// multiply, and where it stands in the tile.
#pragma once

#include <cstdint>

#include <lamina/engine/cuda/tensor_format.hpp>

namespace lamina::engine::cuda {

/// What a lane holds: sums and operands of the fragments of its warp, Tall below each other and
/// Wide side by side.
template <int Tall, int Wide>
struct fragment_registers {
  static constexpr int tall = Tall, wide = Wide;
  float sums[Tall][Wide][4];
  std::uint32_t left[Tall][4], right[Wide][2];

  LAMINA_INLINE LAMINA_FN void clear() {
    LAMINA_CUDA_UNROLL
    for (int r = 0; r < Tall; ++r) {
      LAMINA_CUDA_UNROLL
      for (int c = 0; c < Wide; ++c) {
        LAMINA_CUDA_UNROLL
        for (int i = 0; i < 4; ++i) sums[r][c][i] = 0;
      }
    }
  }
};

/// Where the warp of a thread stands in a tile that has `Across` warps side by side.
template <int Tall, int Wide, int Across>
struct warp_place {
  int lane, row0, column0;

  LAMINA_INLINE LAMINA_FN explicit warp_place(int rank)
      : lane(rank % fragment::lanes),
        row0(rank / fragment::lanes / Across * (Tall * fragment::rows)),
        column0(rank / fragment::lanes % Across * (Wide * fragment::columns)) {}
  LAMINA_INLINE LAMINA_FN int row(int r) const { return row0 + r * fragment::rows; }
  LAMINA_INLINE LAMINA_FN int column(int c) const { return column0 + c * fragment::columns; }
};

/// sums(n, r, c) += left[r] * right[c] of lane n, for the warps of which uses(rank) is true; it is
/// the same for all lanes of a warp. On the host one thread has the lanes of all warps.
template <class Format, class Team, class Lane, int Here, class Uses, class Sums>
LAMINA_INLINE LAMINA_FN void multiply_fragments([[maybe_unused]] const Team& team,
                                                Lane (&lanes)[Here], const Uses& uses,
                                                const Sums& sums) {
#if defined(__CUDA_ARCH__)
  if (!uses(team.rank(0))) return;
#endif
  LAMINA_CUDA_UNROLL
  for (int r = 0; r < Lane::tall; ++r) {
    LAMINA_CUDA_UNROLL
    for (int c = 0; c < Lane::wide; ++c) {
#if defined(__CUDA_ARCH__)
      Format::multiply(sums(0, r, c), lanes[0].left[r], lanes[0].right[c]);
#else
      if constexpr (requires {
                      team.template multiply<Format>(sums(0, r, c), lanes[0].left[r],
                                                     lanes[0].right[c]);
                    }) {
        team.template multiply<Format>(sums(0, r, c), lanes[0].left[r], lanes[0].right[c]);
      } else if constexpr (Here > 1) {
        for (int n = 0; n < Here; n += fragment::lanes)
          if (uses(team.rank(n)))
            multiply_on_host<Format>(
                [&](int lane) -> auto& { return lanes[n + lane].left[r]; },
                [&](int lane) -> auto& { return lanes[n + lane].right[c]; },
                [&](int lane) -> auto& { return sums(n + lane, r, c); });
      }
#endif
    }
  }
}

}  // namespace lamina::engine::cuda

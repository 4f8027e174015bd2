// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/copy_kernels.hpp - constants, staged feeds, and the copies that only panels
// need: on the device weights lie in rows like everything else.
#pragma once

#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/operators/fill.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina::engine::cuda {

template <>
struct call_kernel<fill_constant> {
  static void prepare(const call_site& c, call_arguments& a) {
    a.out[0] = c.out(0);
    a.number[0] = static_cast<float>(c.number(2));
    c.share_rows(a, a.out[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    for (int j = team.rank(); j < a.out[0].columns; j += team.size())
      store_number(a.out[0].data, a.out[0].type, i * a.out[0].stride + j,
                   static_cast<double>(a.number[0]));
  }
};

namespace detail {

struct row_copy {
  static void prepare(const call_site& c, call_arguments& a) {
    c.set_arrays(a, 1, 1);
    c.share_rows(a, a.in[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int i, const Team& team) {
    switch (size_of_type(a.in[0].type)) {
      case 8:
        return copy<std::uint64_t>(a, i, team);
      case 4:
        return copy<std::uint32_t>(a, i, team);
      case 2:
        return copy<std::uint16_t>(a, i, team);
      default:
        return copy<std::uint8_t>(a, i, team);
    }
  }

 private:
  static LAMINA_FN int size_of_type(dtype type) {
    return type == dtype::int64 || type == dtype::float64   ? 8
           : type == dtype::int32 || type == dtype::float32 ? 4
           : type == dtype::int16 || type == dtype::float16 ? 2
                                                            : 1;
  }
  template <class Word, class Team>
  static LAMINA_FN void copy(const call_arguments& a, int i, const Team& team) {
    const Word* const from = a.in[0].row<const Word>(i);
    Word* const to = a.out[0].row<Word>(i);
    for (int j = team.rank(); j < a.in[0].columns; j += team.size()) to[j] = from[j];
  }
};

}  // namespace detail

template <>
struct call_kernel<stage_feed> : detail::row_copy {};
template <>
struct call_kernel<pack_panels> : detail::row_copy {};
template <>
struct call_kernel<unpack_panels> : detail::row_copy {};

}  // namespace lamina::engine::cuda

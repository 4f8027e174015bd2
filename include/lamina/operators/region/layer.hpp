// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/layer.hpp - checks that all layers on regions of images share.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/sequence_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer::detail {

/// Whether S are sequences of regions with four numbers each, one sequence per image with rows R.
template <class T, class R, class S, class Regions>
constexpr bool are_regions() {
  if constexpr (is_tokens<S>)
    return is_real<T> && has_rows<R> && __is_same(Regions, variable<T, S, 4>) &&
           __is_same(parent_rows<S>, R);
  else
    return false;
}

}}}  // namespace lamina::layer::detail

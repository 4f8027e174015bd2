// SPDX-License-Identifier: Apache-2.0
// lamina/core/rows.hpp - what the leading dimension of a variable means.
#pragma once

namespace lamina {

/// No leading run-time dimension: parameters, scalars, anything whose shape is known whole.
struct once {
  static constexpr int domain = 0;
  static constexpr int lod_level = 0;
};

/// One row for each sample of the mini-batch; how many is known when a batch is fed.
struct batch {
  static constexpr int domain = 1;
  static constexpr int lod_level = 0;
};

/// Whether R names a row domain.
template <class R>
concept row_domain = requires {
  {R::domain + 0};
  {R::lod_level + 0};
};

}  // namespace lamina

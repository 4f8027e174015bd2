// SPDX-License-Identifier: Apache-2.0
// lamina/train/number_check.hpp - stops a training run at NaN or infinity, and checks parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/model.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

template <class Real>
LAMINA_COLD void require_numbers_in(const parameter_info& info, const float* memory,
                                    bool infinity) {
  std::vector<Real> values(info.size());
  unpack_like(info, memory, values.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_infinite = values[i] == values[i];
    if (values[i] - values[i] == 0 || (is_infinite && !infinity)) continue;
    LAMINA_THROW error(text() << "lamina: check_nan: parameter " << info.name
                              << " after the update: expected numbers, found "
                              << (is_infinite ? "infinity" : "NaN") << " in element " << i);
  }
}
/// Throws lamina::error for the first parameter with NaN or, with `infinity`, with infinity.
LAMINA_API_COLD void require_numbers(const parameter_list_view& all, float* const* memory,
                                     bool infinity);

#if LAMINA_DEFINES

void require_numbers(const parameter_list_view& all, float* const* memory, bool infinity) {
  for (int i = 0; i < all.size(); ++i) {
    const parameter_info info = all.describe(i);
    if (info.type == dtype::float64)
      require_numbers_in<double>(info, memory[i], infinity);
    else
      require_numbers_in<float>(info, memory[i], infinity);
  }
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// The values at which a training step stops: none, NaN, or NaN and infinity.
struct number_check {
  bool nan = false, infinity = false;

  constexpr number_check() = default;
  constexpr number_check(bool check_nan, bool check_infinity)
      : nan(check_nan || check_infinity), infinity(check_infinity) {}

  /// Throws lamina::error for the first parameter with a value that this check forbids.
  template <class P>
  void require(const model<P>& m) const {
    if (nan) detail::require_numbers(parameters_in<P>(), m.memory(), infinity);
  }
};

}}  // namespace lamina

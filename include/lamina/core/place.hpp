// SPDX-License-Identifier: Apache-2.0
// lamina/core/place.hpp - the device on which a program runs.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// The kind of processor on which a program runs.
enum class place_kind : std::uint8_t { cpu, cuda };

/// The CPU, or a device with its number: `{.place = lamina::cuda::place{0}}`.
struct place {
  place_kind kind = place_kind::cpu;
  int number = 0;

  /// The CPU. Fluid: CPUPlace().
  static constexpr place cpu() { return {}; }
};

/// A place whose type also selects the arithmetic of the device, such as lamina::cuda::place{0,
/// lamina::cuda::tf32}.
template <class Place>
concept typed_place = requires {
  typename Place::arithmetic;
};

/// The kinds of devices on which this translation unit can train. Functions that depend on them
/// have `places` as a template argument, so that a linker does not mix the functions of translation
/// units with and without CUDA.
struct host_places {};
struct all_places {};
#if defined(LAMINA_CUDA)
using places = all_places;
#else
using places = host_places;
#endif

}}  // namespace lamina

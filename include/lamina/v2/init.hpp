// SPDX-License-Identifier: Apache-2.0
// lamina/v2/init.hpp - the global settings that PaddlePaddle v2 has.
#pragma once

#include <lamina/core/config.hpp>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2 {

/// The settings of trainers and parameters that are made after init().
struct settings {
  // Each trainer must be given a place, such as cuda::place{0}; otherwise it throws.
  bool use_gpu = false;
  int trainer_count = 1;   // number of threads of a trainer; each computes a part of a mini-batch
  std::uint64_t seed = 1;  // seed of the initial parameters and of dropout
};

/// The arguments of init. An argument that is not given is read from the environment variable
/// PADDLE_INIT_USE_GPU, PADDLE_INIT_TRAINER_COUNT or PADDLE_INIT_SEED. If this variable is not set,
/// the argument has the default value in `settings`.
struct init_attr {
  std::optional<bool> use_gpu{};
  std::optional<int> trainer_count{};
  std::optional<std::uint64_t> seed{};
};

namespace detail {

inline settings& current_settings() {
  static settings all;
  return all;
}

/// Returns the value of an environment variable, or nothing if it is not set.
template <class T>
LAMINA_COLD std::optional<T> from_environment(const char* name) {
  const char* const found = std::getenv(name);  // NOLINT: v2, too, reads it at the start
  if (found == nullptr) return std::nullopt;
  const std::string_view given = found;
  if (given == "True" || given == "true") return T{1};
  if (given == "False" || given == "false") return T{0};
  T value{};
  const auto [end, fault] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (fault != std::errc() || end != given.data() + given.size())
    throw error(text() << "lamina: v2: init: expected a whole number in " << name << ", found '"
                       << given << "'");
  return value;
}

}  // namespace detail

/// Returns the settings of the last init().
inline const settings& current() { return detail::current_settings(); }

/// Sets the settings of later calls of parameters::create and trainer::SGD: `init({.use_gpu =
/// false, .trainer_count = 1})`. With `use_gpu`, each trainer::SGD must also be given a place,
/// because the type of a trainer determines where it runs. Throws lamina::error for a trainer_count
/// that is not from 1 to 256, and for an environment variable that is not a number. v2:
/// paddle.init.
LAMINA_COLD inline void init(const init_attr& given = {}) {
  settings made;
  made.use_gpu = given.use_gpu
                     ? *given.use_gpu
                     : detail::from_environment<int>("PADDLE_INIT_USE_GPU").value_or(0) != 0;
  made.trainer_count = given.trainer_count
                           ? *given.trainer_count
                           : detail::from_environment<int>("PADDLE_INIT_TRAINER_COUNT").value_or(1);
  made.seed = given.seed ? *given.seed
                         : detail::from_environment<std::uint64_t>("PADDLE_INIT_SEED").value_or(1);
  if (made.trainer_count < 1 || made.trainer_count > 256)
    throw error(text() << "lamina: v2: init: expected a trainer_count of 1 to 256, found "
                       << made.trainer_count);
  detail::current_settings() = made;
}

}}}  // namespace lamina::v2

// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/parameter_access.hpp - lets averages replace parameters and restore them.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// A list of parameters: `size()` is their number, and `span(i)` refers to the elements of
/// parameter i, in any order. The numbers of parameters and elements and the order must not change:
/// averages are stored by position.
template <class P>
concept parameter_access = requires(P& parameters, int i) {
  { parameters.size() } -> std::convertible_to<int>;
  { parameters.span(i) } -> std::convertible_to<std::span<float>>;
};

/// Replaces the values of the parameters during the lifetime of this object. The destructor or
/// `restore` restores the previous values, so the parameters must outlive this object. Fluid: `with
/// average.apply(exe):`.
template <parameter_access Parameters>
class [[nodiscard]] replaced_parameters {
 public:
  /// Saves the values of all parameters, then calls `write(i, elements)` for each parameter i.
  template <class Write>
  replaced_parameters(Parameters& parameters, Write&& write) : parameters_(&parameters) {
    const int count = static_cast<int>(parameters.size());
    saved_.resize(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const std::span<const float> now = parameters.span(i);
      saved_[static_cast<std::size_t>(i)].assign(now.begin(), now.end());
    }
    for (int i = 0; i < count; ++i) write(i, std::span<float>(parameters.span(i)));
  }
  replaced_parameters(replaced_parameters&& other) noexcept
      : parameters_(std::exchange(other.parameters_, nullptr)), saved_(std::move(other.saved_)) {}
  replaced_parameters& operator=(replaced_parameters&&) = delete;
  ~replaced_parameters() { restore(); }

  /// Restores the previous values now; later calls do nothing.
  void restore() {
    if (parameters_ == nullptr) return;
    for (std::size_t i = 0; i < saved_.size(); ++i) {
      const std::span<float> now = parameters_->span(static_cast<int>(i));
      std::copy_n(saved_[i].begin(), (std::min)(saved_[i].size(), now.size()), now.begin());
    }
    parameters_ = nullptr;
  }
  /// Makes the new values permanent. Fluid: need_restore=False.
  void keep() { parameters_ = nullptr; }

 private:
  Parameters* parameters_;
  std::vector<std::vector<float>> saved_;
};

/// One array of sums per parameter, with one sum per element. The sums are double, because in float
/// a sum over many steps would lose digits.
class parameter_sums {
 public:
  /// The first call allocates the sums and sets them to 0; later calls do the same as check_arrays.
  /// `who` names the caller in an error.
  template <parameter_access Parameters>
  void match(Parameters& parameters, const char* who) {
    if (!sums_.empty()) return check_arrays(parameters, who);
    sums_.resize(static_cast<std::size_t>(parameters.size()));
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i].assign(size_of(parameters, i), 0.0);
  }
  /// Throws lamina::error if the number or sizes of the parameters have changed since the first
  /// call of match().
  template <parameter_access Parameters>
  void check_arrays(Parameters& parameters, const char* who) const {
    const std::size_t count = static_cast<std::size_t>(parameters.size());
    if (sums_.size() != count)
      throw error(std::string("lamina: ") + who + ": expected " + std::to_string(sums_.size()) +
                  " parameters as before, found " + std::to_string(count));
    for (std::size_t i = 0; i < count; ++i)
      if (sums_[i].size() != size_of(parameters, i))
        throw error(std::string("lamina: ") + who + ": parameter " + std::to_string(i) +
                    ": expected " + std::to_string(sums_[i].size()) +
                    " elements as before, found " + std::to_string(size_of(parameters, i)));
  }
  /// Returns the sums of one parameter.
  std::span<double> operator[](int i) { return sums_[static_cast<std::size_t>(i)]; }
  std::span<const double> operator[](int i) const { return sums_[static_cast<std::size_t>(i)]; }
  /// Returns the number of parameters; 0 before the first `match`.
  int size() const { return static_cast<int>(sums_.size()); }
  /// Sets all sums to 0.
  void clear() {
    for (std::vector<double>& sum : sums_) std::fill(sum.begin(), sum.end(), 0.0);
  }

 private:
  template <class Parameters>
  static std::size_t size_of(Parameters& parameters, std::size_t i) {
    return std::span<const float>(parameters.span(static_cast<int>(i))).size();
  }

  std::vector<std::vector<double>> sums_;
};

}}}  // namespace lamina::optimizer

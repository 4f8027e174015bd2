// SPDX-License-Identifier: Apache-2.0
// lamina/v2/parameters.hpp - the parameters of one or more costs, by name.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/model.hpp>
#include <lamina/v2/init.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::parameters {

/// The parameters of one or more costs, with a model for each cost. Parameters with the same name
/// share memory, also between costs. The object behaves like a dictionary: `p["fc_0.w_0"]` is an
/// array that can be read and assigned. Trainers and Inference objects refer to this object, which
/// must outlive them. v2: Parameters.
template <program_type First, program_type... More>
class Parameters {
 public:
  using real = real_of<First>;
  static_assert(check<(std::is_same_v<real, real_of<More>> && ...), gets_type<First, More...>>,
                "lamina: v2: parameters::create: all costs compute in one type, float or double");

  explicit Parameters(std::uint64_t seed, First first, More... more)
      : models_(linked(seed, std::tuple<>(), first, more...)) {}

  /// The value of a parameter. It converts to an array of the shape of the parameter, and an array
  /// can be assigned to it.
  class value {
   public:
    value(Parameters& of, std::string name) : of_(of), name_(std::move(name)) {}
    operator array<real>() const { return of_.get(name_); }  // NOLINT: it is the array
    value& operator=(const array<real>& to) {
      of_.set(name_, to);
      return *this;
    }

   private:
    Parameters& of_;
    std::string name_;
  };
  value operator[](std::string_view name) { return {*this, std::string(name)}; }
  array<real> operator[](std::string_view name) const { return get(name); }

  /// Returns the names of all parameters, each once, in the order of creation. v2: Parameters.keys.
  LAMINA_COLD std::vector<std::string> names() const {
    std::vector<std::string> all;
    each([&](const parameter_info& info, auto&&...) {
      for (const std::string& known : all)
        if (info.name == known) return false;
      all.emplace_back(info.name);
      return false;
    });
    return all;
  }
  std::vector<std::string> keys() const { return names(); }
  LAMINA_COLD bool has_key(std::string_view name) const {
    return each([&](const parameter_info& info, auto&&...) { return info.name == name; });
  }

  /// Return a copy of a parameter (get) or its shape (get_shape), or set its value (set). For an
  /// unknown name, they throw lamina::error that lists the known names; for a value of another
  /// shape, set throws lamina::error.
  LAMINA_COLD array<real> get(std::string_view name) const {
    array<real> found;
    at(name, [&](const auto& m, int i) { found = m.get(i); });
    return found;
  }
  LAMINA_COLD std::vector<std::size_t> get_shape(std::string_view name) const {
    return get(name).shape();
  }
  LAMINA_COLD void set(std::string_view name, const array<real>& to) {
    at(name, [&](const auto& m, int i) {
      using type = std::remove_const_t<std::remove_reference_t<decltype(m)>>;
      const_cast<type&>(m).set(i, to);  // NOLINT: a member of *this, which is not constant here
    });
  }

  /// to_tar writes all parameters to an archive in v2's format. init_from_tar reads the parameters
  /// that the archive contains. Programs that call them must include <lamina/v2/parameter_tar.hpp>.
  /// v2: Parameters.to_tar, init_from_tar.
  void to_tar(const file_path& path) const { write_tar(*this, path); }
  void init_from_tar(const file_path& path) { read_tar(*this, path, false); }
  /// Reads all parameters from an archive. Throws format_error if a parameter is missing in the
  /// archive or has another shape. The parameters of the costs are read in the order of the costs;
  /// after an error, the parameters of this cost and of all later costs are unchanged. v2:
  /// Parameters.from_tar.
  void from_tar(const file_path& path) { read_tar(*this, path, true); }

  /// Whether P is one of the costs of this object.
  template <class P>
  static constexpr bool has = std::is_same_v<P, First> || (std::is_same_v<P, More> || ...);
  /// Returns the model of a cost.
  template <class P>
  lamina::model<P>& model_of() {
    return std::get<lamina::model<P>>(models_);
  }
  /// Calls `f` once, with all models as arguments.
  template <class F>
  decltype(auto) apply(F&& f) const {
    return std::apply(std::forward<F>(f), models_);
  }
  template <class F>
  decltype(auto) apply(F&& f) {
    return std::apply(std::forward<F>(f), models_);
  }

  /// Calls `f(info, model, index)` for each parameter, until a call returns true. Returns whether a
  /// call has returned true.
  template <class F>
  bool each(const F& f) const {
    const auto of_one = [&](const auto& m) {
      for (int i = 0; i < m.parameter_arrays(); ++i)
        if (f(m.describe(i), m, i)) return true;
      return false;
    };
    return std::apply([&](const auto&... m) { return (of_one(m) || ...); }, models_);
  }

 private:
  /// Makes a model for each program; a model shares parameters with the models before it.
  template <class... Made, class Next, class... Rest>
  static auto linked(std::uint64_t seed, std::tuple<lamina::model<Made>...> made, Next next,
                     Rest... rest) {
    auto grown = std::apply(
        [&](auto&... m) {
          lamina::model<Next> last(next, share_parameters_of(m)..., seed);
          return std::tuple<lamina::model<Made>..., lamina::model<Next>>(std::move(m)...,
                                                                         std::move(last));
        },
        made);
    if constexpr (sizeof...(Rest) > 0)
      return linked(seed, std::move(grown), rest...);
    else
      return grown;
  }
  template <class F>
  void at(std::string_view name, const F& f) const {
    const bool found = each([&](const parameter_info& info, const auto& m, int i) {
      if (info.name != name) return false;
      f(m, i);
      return true;
    });
    if (found) return;
    text known;
    bool first = true;
    for (const std::string& n : names()) {
      known << (first ? "" : ", ") << n;
      first = false;
    }
    throw error(text() << "lamina: v2: parameters: expected the name of a parameter, found '"
                       << name << "'; known are: " << known);
  }
  std::tuple<lamina::model<First>, lamina::model<More>...> models_;
};

/// Makes the parameters of one or more costs; costs share parameters with the same name. A cost is
/// given as the program that returns it. Initial values are drawn with the seed of init(). v2:
/// parameters.create.
template <program_type... P>
Parameters<P...> create(P... costs) {
  return Parameters<P...>(current().seed, costs...);
}

}}}  // namespace lamina::v2::parameters

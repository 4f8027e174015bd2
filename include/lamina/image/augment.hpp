// SPDX-License-Identifier: Apache-2.0
// lamina/image/augment.hpp - makes a function for reader::map and reader::xmap that changes images
// at random.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/image/view.hpp>
#include <lamina/reader/random.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

namespace detail {

/// Whether T holds floats; if the type T shows their number, it must be N.
template <class T, std::size_t N>
concept holds_floats = requires(T& t) {
  { t.data() } -> std::same_as<float*>;
  t.size();
}
&&(
    !requires { std::tuple_size<T>::value; } ||
    requires { requires std::tuple_size<T>::value == N; });

/// Returns the pixels of a sample: its field `image`, or the sample itself.
template <class S>
auto& pixels_of(S& sample) {
  if constexpr (requires { sample.image; })
    return sample.image;
  else
    return sample;
}
template <class S, std::size_t N>
concept holds_image = (requires(S & s) {
                        requires holds_floats<std::remove_cvref_t<decltype(s.image)>, N>;
                      }) ||
                      holds_floats<S, N>;

}  // namespace detail

/// The type of the function object that augment() makes.
template <int C, int H, int W, class... Steps>
class augmentation {
 public:
  explicit augmentation(Steps... steps) : steps_(std::move(steps)...) {
    std::apply([](const auto&... step) { (validate(step), ...); }, steps_);
  }

  /// Applies all steps to an image in place.
  void operator()(const view& image, reader::random& random) const {
    std::apply([&](const auto&... step) { (step(image, random), ...); }, steps_);
  }
  /// Returns the sample with its image changed; reader::map calls this function. Throws
  /// lamina::error for an image of another size.
  template <class S>
  requires(detail::holds_image<S, std::size_t{C} * H * W>) S operator()(
      S sample, std::uint64_t /*position*/, std::uint64_t /*pass*/, reader::random& random) const {
    auto& pixels = detail::pixels_of(sample);
    const view image{pixels.data(), C, H, W};
    if (pixels.size() != image.size())
      throw error(text("lamina: image::augment: expected an image of ")
                  << C << " * " << H << " * " << W << " floats, found " << pixels.size());
    (*this)(image, random);
    return sample;
  }

 private:
  template <class Step>
  static void validate(const Step& step) {
    if constexpr (requires { step.validate(); }) step.validate();
  }

  std::tuple<Steps...> steps_;
};

/// Makes a function for reader::map and reader::xmap that applies the steps to each image, one
/// after the other:
///   cifar::train10(folder) | reader::xmap(image::augment<3, 32, 32>(image::flip{},
///                                                                   image::crop{.padding = 4}),
///                                         {.threads = 4, .seed = 7})
/// A sample is an array or vector of C * H * W floats, channels first, or has a field `image` of
/// such a type. A step is any object that can be called as step(view, reader::random&) when it is
/// const, such as a lambda. The random numbers depend on the seed of map, the pass and the position
/// of the sample. So the images are the same, bit for bit, with any number of threads, and after a
/// training resumes. Throws lamina::error for options of a step outside of their ranges, and for an
/// image of another size.
template <int C, int H, int W, class... Steps>
requires((C > 0 && H > 0 && W > 0) &&
         (std::invocable<const Steps&, const view&, reader::random&> &&
          ...)) augmentation<C, H, W, Steps...> augment(Steps... steps) {
  return augmentation<C, H, W, Steps...>(std::move(steps)...);
}

}}}  // namespace lamina::image

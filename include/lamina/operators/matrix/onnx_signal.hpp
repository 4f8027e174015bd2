// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/onnx_signal.hpp - imports ONNX's operators on signals: Fourier transforms
// as products with matrices, windows as constants, and Col2Im, which adds up windows.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/embedding/onnx.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Returns the matrix [samples * parts, bins * 2] of a Fourier transform of `length` samples, of
/// which those beyond `samples` are 0. The parts of a number are its real and, if there are two,
/// its imaginary part. The inverse has the opposite sign of the angle, and divides by the length.
inline onnx_imported fourier_matrix(onnx_import_node& n, std::int64_t samples, std::int64_t length,
                                    std::int64_t bins, std::int64_t parts, bool inverse,
                                    dtype type) {
  n.require_size({samples * parts, bins * 2});
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(samples * parts * bins * 2));
  const double factor = inverse ? 1 / static_cast<double>(length) : 1;
  for (std::int64_t t = 0; t < samples; ++t)
    for (std::int64_t part = 0; part < parts; ++part)
      for (std::int64_t k = 0; k < bins; ++k) {
        const double turn = static_cast<double>(t * k % length) / static_cast<double>(length);
        const double angle = (inverse ? 2 : -2) * std::numbers::pi * turn;
        // (a + i b) e^(i angle)
        const double cosine = factor * std::cos(angle), sine = factor * std::sin(angle);
        const bool inside = t < length;
        all.push_back(!inside ? 0 : part == 0 ? cosine : -sine);
        all.push_back(!inside ? 0 : part == 0 ? sine : cosine);
      }
  return onnx_import::constant(
      tensor({static_cast<std::size_t>(samples * parts), static_cast<std::size_t>(bins * 2)}, all)
          .cast(type));
}
/// DFT along an axis of numbers whose parts are the last dimension.
inline void raise_dft(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 2, 16);
  const bool old = n.version() < 20, inverse = n.flag("inverse"), onesided = n.flag("onesided");
  const std::int64_t given = old        ? n.integer("axis", 1)
                             : n.has(2) ? n.list(2, "an axis").at(0)
                                        : -2;
  const std::int64_t axis = n.axis(given, x.rank()), parts = n.extent(x, -1),
                     samples = n.extent(x, axis);
  const std::int64_t length = n.has(1) ? n.list(1, "a length").at(0) : samples;
  if (axis == x.rank() - 1 || length < 1 || parts < 1 || parts > 2 || (inverse && onesided))
    n.fail(text("expected a transform of at least one sample [..., 1 or 2] which is not inverse "
                "and onesided at once, found dimensions ")
           << x.dims_text() << ", axis " << given << " and length " << length);
  const std::int64_t bins = onesided ? length / 2 + 1 : length;
  const onnx_imported last = n.transpose(x, n.moved(x.rank(), axis, x.rank() - 2));
  std::vector<std::int64_t> dims(last.dims.begin(), last.dims.end() - 2), flat = dims;
  flat.push_back(samples * parts);
  dims.insert(dims.end(), {bins, 2});
  const onnx_imported y = n.matmul(
      n.reshape(last, flat), fourier_matrix(n, samples, length, bins, parts, inverse, x.type));
  n.out(n.transpose(n.reshape(y, dims), n.moved(x.rank(), x.rank() - 2, axis)));
}
/// STFT: the transforms of frames of a signal [signals, samples] or [signals, samples, 1].
inline void raise_stft(onnx_import_node& n) {
  onnx_imported x = n.in(0);
  n.require_rank(x, 2, 3);
  if (x.rank() == 3 && n.extent(x, 2) == 1) x = n.squeeze(x, {2});
  n.require_rank(x, 2, 2);
  const std::int64_t step = n.list(1, "a frame_step").at(0);
  const std::int64_t length = n.has(3) ? n.list(3, "a frame_length").at(0) : n.extent(n.in(2), 0);
  if (step < 1 || length < 1 || step > 0x7fffffff || length > 0x7fffffff)
    n.fail(text("expected a frame_step and a frame_length of at least 1, found ")
           << step << " and " << length);
  const std::int64_t bins = n.flag("onesided", true) ? length / 2 + 1 : length;
  const dtype whole = dtype::int64;
  const auto number = [&](std::int64_t v) { return n.number(static_cast<double>(v), whole); };
  std::int64_t frames = x.dims[1] < 0 ? 0 : (x.dims[1] - length) / step + 1;
  if (x.dims[1] < 0) {
    const onnx_imported count = n.add(
        n.binary("elementwise_floordiv", n.sub(n.extent_of(x, 1), number(length)), number(step)),
        number(1));
    frames = n.symbol_of(count, 0, true);
  } else if (x.dims[1] < length) {
    n.fail(text("expected at least ") << length << " samples, found " << x.dims[1]);
  }
  const onnx_imported first = n.mul(n.positions(frames, 2, 0), number(step)),
                      within = n.positions(length, 2, 1);
  const onnx_imported frame = n.gather(x, n.add(n.full(first, within), within), 1);
  onnx_imported matrix = fourier_matrix(n, length, length, bins, 1, false, x.type);
  if (n.has(2)) {
    n.require_rank(n.in(2), 1, 1);
    matrix = n.mul(matrix, n.unsqueeze(n.cast(n.in(2), x.type), {1}));
  }
  n.out(n.reshape(n.matmul(frame, matrix), {x.dims[0], frames, bins, 2}));
}
/// The windows of Hann, Hamming and Blackman: a0 - a1 cos(t) + a2 cos(2 t), where t goes from 0 to
/// 2 pi.
inline void raise_window(onnx_import_node& n) {
  const std::int64_t size = n.list(0, "a size").at(0);
  n.require_size({(std::max<std::int64_t>)(0, size)});
  const bool is_hann = n.type() == "HannWindow", is_hamming = n.type() == "HammingWindow";
  const double a0 = is_hann      ? 0.5
                    : is_hamming ? 25.0 / 46
                                 : 0.42,
               a2 = is_hann || is_hamming ? 0 : 0.08;
  const double a1 = is_hamming ? 1 - a0 : 0.5;
  const double period = static_cast<double>(n.flag("periodic", true) ? size : size - 1);
  std::vector<double> all;
  for (std::int64_t k = 0; k < size; ++k) {
    const double t = period > 0 ? 2 * std::numbers::pi * static_cast<double>(k) / period : 0;
    all.push_back(a0 - a1 * std::cos(t) + a2 * std::cos(2 * t));
  }
  n.out(onnx_import::constant(
      tensor({all.size()}, all).cast(n.type_attribute("output_datatype", 1))));
}

/// Col2Im: the windows [N, C * elements of a window, windows] of an image, each added to its place.
/// It is the sum of their elements in a list of zeros, one row per place of the padded image.
inline void raise_col2im(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 3, 3);
  const std::vector<std::int64_t> image = n.list(1, "the sides of an image"),
                                  block = n.list(2, "the sides of a window");
  const std::size_t sides = image.size();
  std::vector<std::int64_t> pads = n.integers("pads"), strides = n.integers("strides"),
                            dilations = n.integers("dilations");
  if (pads.empty()) pads.assign(2 * sides, 0);
  if (strides.empty()) strides.assign(sides, 1);
  if (dilations.empty()) dilations.assign(sides, 1);
  if (sides == 0 || block.size() != sides || strides.size() != sides || dilations.size() != sides ||
      pads.size() != 2 * sides)
    n.fail("expected sides, strides, dilations and paddings for each side of the image");
  // The number of the place of each element of each window, element by element.
  std::vector<std::int64_t> places{0}, padded, before{0, 0}, after{0, 0};
  std::int64_t elements = 1, windows = 1, size = 1;
  for (std::size_t d = 0; d < sides; ++d) {
    for (const std::int64_t v : {image[d], block[d], strides[d], dilations[d]})
      if (v < 1 || v > 0x7fffff) n.fail(text("expected numbers from 1 to 8388607, found ") << v);
    for (const std::int64_t v : {pads[d], pads[sides + d]})
      if (v < 0 || v > 0x7fffff) n.fail(text("expected paddings from 0 to 8388607, found ") << v);
    padded.push_back(image[d] + pads[d] + pads[sides + d]);
    const std::int64_t count = (padded[d] - (block[d] - 1) * dilations[d] - 1) / strides[d] + 1;
    if (padded[d] <= (block[d] - 1) * dilations[d])
      n.fail("expected windows that fit into the image");
    std::vector<std::int64_t> next;
    n.require_size({elements * block[d], windows * count});
    n.require_size({size, padded[d]});
    for (std::int64_t e = 0; e < elements; ++e)
      for (std::int64_t k = 0; k < block[d]; ++k)
        for (std::int64_t w = 0; w < windows; ++w)
          for (std::int64_t i = 0; i < count; ++i)
            next.push_back(places[static_cast<std::size_t>(e * windows + w)] * padded[d] +
                           i * strides[d] + k * dilations[d]);
    places = std::move(next);
    elements *= block[d];
    windows *= count;
    size *= padded[d];
    before.push_back(-pads[d]);
    after.push_back(-pads[sides + d]);
  }
  const std::int64_t rows = n.extent(x, 1), channels = rows / elements;
  if (rows % elements != 0 || (x.dims[2] >= 0 && x.dims[2] != windows))
    n.fail(text("expected [N, C * ")
           << elements << ", " << windows << "], found dimensions " << x.dims_text());
  const onnx_imported parts =
      n.transpose(n.reshape(x, {x.dims[0], channels, elements, windows}), {2, 3, 0, 1});
  const std::int64_t width = size_of_all(parts, 2, 4);
  const onnx_imported updates = n.reshape(parts, {elements * windows, width});
  const onnx_imported sums = n.make("scatter",
                                    {{"X", n.filled(0, x.type, {size, updates.dims[1]})},
                                     {"Ids", n.constant_list(places)},
                                     {"Updates", updates}},
                                    {{"overwrite", false}}, x.type, {size, updates.dims[1]});
  std::vector<std::int64_t> dims = padded, order;
  dims.insert(dims.end(), {x.dims[0], channels});
  for (std::size_t d = 0; d < sides + 2; ++d)
    order.push_back(static_cast<std::int64_t>((d + sides) % (sides + 2)));
  n.out(n.pad(n.transpose(n.reshape(sums, dims), order), before, after, 0));
}

inline void add_matrix_signal(onnx_operators& to) {
  to.add_node("DFT", raise_dft);
  to.add_node("STFT", raise_stft);
  for (const char* node : {"HannWindow", "HammingWindow", "BlackmanWindow"})
    to.add_node(node, raise_window);
  to.add_node("Col2Im", raise_col2im);
}

}}}  // namespace lamina::onnx

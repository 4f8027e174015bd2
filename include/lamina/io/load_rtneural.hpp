// SPDX-License-Identifier: Apache-2.0
// lamina/io/load_rtneural.hpp - reads the JSON files of RTNeural, which hold nets for sound. Needs
// nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/io/json/json_numbers.hpp>
#include <lamina/io/stream/stream_builder.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Makes the program of a net from the layers of a file of RTNeural.
template <class Json>
class rtneural_reader {
  using reader = json_reader<Json>;

 public:
  rtneural_reader(const Json& file, const std::string& name, const stream_options& options)
      : root_(file, "model", name), build_(name, block_of(root_, options)) {}

  inference_model read() {
    stream_signal x = build_.input(last_extent(root_.at("in_shape")));
    int index = 0;
    root_.each("layers", [&](const reader& layer) {
      x = after(layer, x, "layer_" + std::to_string(index++));
    });
    if (index == 0) root_.fail("expected at least one layer, found none");
    return build_.finish(x);
  }

 private:
  static bool is_recurrent(const std::string& type) { return type == "lstm" || type == "gru"; }
  static int block_of(const reader& root, const stream_options& options) {
    bool recurrent = false;
    root.each("layers",
              [&](const reader& l) { recurrent = recurrent || is_recurrent(l.at("type").text()); });
    return recurrent ? 1 : options.block;
  }
  static int last_extent(const reader& shape) {
    const Json& all = shape.value();
    if (!all.is_array() || all.empty()) shape.expected("a shape");
    if (all.size() > 3) shape.expected("a shape of at most 3 dimensions");
    return static_cast<int>(
        reader(all.back(), shape.path() + "[last]", shape.file()).integer(1, 1 << 16));
  }
  static int only_extent(const reader& layer, const char* name) {
    return last_extent(layer.at(name));
  }

  stream_signal after(const reader& layer, const stream_signal& x, const std::string& name) {
    const std::string type = layer.at("type").text();
    const int size = last_extent(layer.at("shape"));
    if (type == "dense" || type == "time-distributed-dense")
      return activated(layer, dense(layer, x, name, size));
    if (type == "conv1d") return activated(layer, conv(layer, x, name, size));
    if (type == "lstm") return lstm(layer, x, name, size);
    if (type == "gru") return gru(layer, x, name, size);
    if (size != x.channels)
      layer.fail("expected a shape of " + std::to_string(x.channels) + " channels, found " +
                 std::to_string(size));
    if (type == "activation") return activated(layer, x);
    if (type == "prelu") return activated(layer, prelu(layer, x, name));
    if (type == "batchnorm") return activated(layer, batch_norm(layer, x, name));
    layer.at("type").fail(
        "expected dense, time-distributed-dense, conv1d, lstm, gru, prelu, batchnorm or "
        "activation, found '" +
        type + "'");
  }

  stream_signal activated(const reader& layer, const stream_signal& x) {
    const std::string name = layer.has("activation") ? layer.at("activation").text() : "";
    if (name.empty() || name == "linear") return x;
    for (const char* known : {"tanh", "relu", "sigmoid"})
      if (name == known) return build_.apply(known, x);
    if (name == "elu") return build_.apply("elu", x, {stream_builder::real("alpha", 1)});
    if (name == "softmax") return build_.apply("softmax", x, {stream_builder::integer("axis", 1)});
    layer.at("activation")
        .fail("expected tanh, relu, sigmoid, elu or softmax, found '" + name + "'");
  }

  json_numbers<Json> weights(const reader& layer, std::size_t i, std::vector<int> shape) const {
    const reader all = layer.at("weights");
    if (!all.value().is_array() || all.value().size() <= i)
      all.fail("expected at least " + std::to_string(i + 1) + " arrays of weights");
    return {reader(all.value()[i], all.path() + "[" + std::to_string(i) + "]", all.file()),
            std::move(shape)};
  }
  static std::size_t count_weights(const reader& layer) {
    const reader all = layer.at("weights");
    if (!all.value().is_array()) all.expected("a list");
    return all.value().size();
  }

  stream_signal dense(const reader& layer, const stream_signal& x, const std::string& name,
                      int size) {
    // Without a bias, there is one array of weights.
    const bool bias = count_weights(layer) > 1;
    return build_.dense(x, name, size, weights(layer, 0, {x.channels, size}).all(),
                        bias ? weights(layer, 1, {size}).all() : std::vector<float>());
  }
  stream_signal conv(const reader& layer, const stream_signal& x, const std::string& name,
                     int size) {
    const int taps = only_extent(layer, "kernel_size"), dilation = only_extent(layer, "dilation");
    const int groups =
        layer.has("groups") ? static_cast<int>(layer.at("groups").integer(1, 1 << 16)) : 1;
    if (layer.has("strides") && only_extent(layer, "strides") != 1)
      layer.at("strides").fail("expected strides of 1, the only ones that lamina imports");
    if (x.channels % groups != 0 || size % groups != 0)
      layer.at("groups").fail("expected a divisor of " + std::to_string(x.channels) + " and " +
                              std::to_string(size) + " channels, found " + std::to_string(groups));
    const int channels = x.channels / groups;
    // [taps, channels, filters] becomes [filters, channels, taps].
    const auto from = weights(layer, 0, {taps, channels, size});
    std::vector<float> to;
    for (int f = 0; f < size; ++f)
      for (int c = 0; c < channels; ++c)
        for (int k = 0; k < taps; ++k) to.push_back(from.at(k, c, f));
    return build_.conv(x, name, size, taps, dilation, groups, std::move(to),
                       weights(layer, 1, {size}).all());
  }
  stream_signal lstm(const reader& layer, const stream_signal& x, const std::string& name,
                     int size) {
    const auto of_x = weights(layer, 0, {x.channels, 4 * size});
    const auto of_h = weights(layer, 1, {size, 4 * size});
    const auto of_one = weights(layer, 2, {4 * size});
    // Keras orders the gates input, forget, candidate, output.
    const int order[] = {0, 1, 3, 2};
    std::vector<float> all, bias;
    for (int k = 0; k < x.channels + size; ++k)
      for (const int gate : order)
        for (int j = 0; j < size; ++j)
          all.push_back(k < x.channels ? of_x.at(k, gate * size + j)
                                       : of_h.at(k - x.channels, gate * size + j));
    for (const int gate : order)
      for (int j = 0; j < size; ++j) bias.push_back(of_one.at(gate * size + j));
    return build_.lstm(x, name, size, std::move(all), std::move(bias));
  }
  stream_signal gru(const reader& layer, const stream_signal& x, const std::string& name,
                    int size) {
    const auto of_x = weights(layer, 0, {x.channels, 3 * size});
    const auto of_h = weights(layer, 1, {size, 3 * size});
    const auto bias = weights(layer, 2, {2, 3 * size});
    stream_builder::gru_weights w;
    for (int k = 0; k < x.channels; ++k)
      for (int j = 0; j < size; ++j) w.input.push_back(of_x.at(k, 2 * size + j));
    for (int k = 0; k < size; ++k)
      for (int j = 0; j < size; ++j) w.state.push_back(of_h.at(k, 2 * size + j));
    for (int k = 0; k < x.channels + size; ++k)
      for (int j = 0; j < 2 * size; ++j)
        w.gates.push_back(k < x.channels ? of_x.at(k, j) : of_h.at(k - x.channels, j));
    for (int j = 0; j < 2 * size; ++j) w.gate_bias.push_back(bias.at(0, j) + bias.at(1, j));
    for (int j = 2 * size; j < 3 * size; ++j) {
      w.input_bias.push_back(bias.at(0, j));
      w.state_bias.push_back(bias.at(1, j));
    }
    return build_.gru(x, name, size, std::move(w));
  }
  stream_signal prelu(const reader& layer, const stream_signal& x, const std::string& name) {
    const reader all = layer.at("weights");
    const bool one = all.value().is_array() && !all.value().empty() && all.value()[0].is_array() &&
                     !all.value()[0].empty() && all.value()[0][0].is_array() &&
                     all.value()[0][0].size() == 1;
    return build_.prelu(x, name, weights(layer, 0, {1, one ? 1 : x.channels}).all());
  }
  stream_signal batch_norm(const reader& layer, const stream_signal& x, const std::string& name) {
    const bool affine = count_weights(layer) == 4;
    const std::size_t first = affine ? 2 : 0;
    const auto mean = weights(layer, first, {x.channels}).all();
    const auto variance = weights(layer, first + 1, {x.channels}).all();
    std::vector<float> factor(mean.size(), 1.F), offset(mean.size(), 0.F);
    if (affine) {
      factor = weights(layer, 0, {x.channels}).all();
      offset = weights(layer, 1, {x.channels}).all();
    }
    const double epsilon = layer.at("epsilon").real();
    for (std::size_t c = 0; c < mean.size(); ++c) {
      const double f = factor[c] / std::sqrt(double(variance[c]) + epsilon);
      factor[c] = static_cast<float>(f);
      offset[c] = static_cast<float>(offset[c] - mean[c] * f);
    }
    return build_.scale_channels(x, name, std::move(factor), std::move(offset));
  }

  reader root_;
  stream_builder build_;
};

}  // namespace detail

/// Reads a JSON file of RTNeural as the program of one block of a signal. `x` [-1, channels, 1,
/// block] is the block, and `y` the result. Each state is an input NAME, zeros at the beginning,
/// and an output NAME_next, its value for the next block. With recurrent layers, a block is one
/// sample: `x` is [-1, channels]. Reads dense, conv1d, lstm, gru, prelu, batchnorm and activation
/// layers. Throws format_error, with the path of the member, for damaged files and for other
/// layers.
template <class Json = nlohmann::json>
inference_model load_rtneural(const file_path& file, const stream_options& options = {}) {
  const Json parsed = detail::parse_json_text<Json>(read_file(file.string()), file.string());
  return detail::rtneural_reader<Json>(parsed, file.string(), options).read();
}

}}  // namespace lamina

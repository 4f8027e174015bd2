// SPDX-License-Identifier: Apache-2.0
// lamina/io/load_nam.hpp - reads `.nam` files: captures of amplifiers by Neural Amp Modeler. Needs
// nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

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

/// Options of load_nam.
struct nam_options : stream_options {
  /// For a file of several nets: the net with the smallest max_value that is at least this one.
  double quality = 1;
};

namespace detail {

/// Makes the program of a net from a `.nam` file.
template <class Json>
class nam_reader {
  using reader = json_reader<Json>;

 public:
  nam_reader(const reader& model, const nam_options& options)
      : model_(model),
        architecture_(model.at("architecture").text()),
        build_(model.file(), architecture_ == "LSTM" ? 1 : options.block) {}

  static inference_model read(const reader& model, const nam_options& options) {
    if (model.at("architecture").text() != "SlimmableContainer")
      return nam_reader(model, options).read();
    int chosen = -1, index = 0;
    double least = 0;
    const reader all = model.at("config").at("submodels");
    model.at("config").each("submodels", [&](const reader& one) {
      const double value = one.at("max_value").real();
      const bool enough = value >= options.quality;
      const bool better =
          chosen < 0 || (least < options.quality ? value > least : enough && value < least);
      if (better) chosen = index, least = value;
      ++index;
    });
    if (chosen < 0) all.fail("expected at least one net, found none");
    const reader one(all.value()[static_cast<std::size_t>(chosen)],
                     all.path() + "[" + std::to_string(chosen) + "]", model.file());
    return nam_reader(one.at("model"), options).read();
  }

 private:
  inference_model read() {
    const reader weights = model_.at("weights");
    if (!weights.value().is_array()) weights.expected("a list of numbers");
    weights_ = json_numbers<Json>(weights, {static_cast<int>(weights.value().size())}).all();
    const reader config = model_.at("config");
    stream_signal y;
    if (architecture_ == "LSTM")
      y = lstm(config);
    else if (architecture_ == "WaveNet")
      y = wavenet(config);
    else
      model_.at("architecture")
          .fail("expected WaveNet, LSTM or SlimmableContainer, found '" + architecture_ + "'");
    if (next_ != weights_.size())
      weights.fail("expected " + std::to_string(next_) + " numbers, found " +
                   std::to_string(weights_.size()));
    return build_.finish(y);
  }

  // The next `count` weights of the file.
  std::vector<float> take(std::int64_t count) {
    const auto n = static_cast<std::size_t>(count);
    if (weights_.size() - next_ < n)
      model_.at("weights").fail("expected more than " + std::to_string(weights_.size()) +
                                " numbers, as the configuration says");
    const auto from = weights_.begin() + static_cast<std::ptrdiff_t>(next_);
    next_ += n;
    return {from, from + static_cast<std::ptrdiff_t>(n)};
  }
  static int size_of(const reader& from, const char* name) {
    return static_cast<int>(from.at(name).integer(1, 1 << 16));
  }
  static int size_of(const reader& from, const char* name, int absent) {
    return from.has(name) ? size_of(from, name) : absent;
  }

  stream_signal lstm(const reader& config) {
    const int size = size_of(config, "hidden_size"), layers = size_of(config, "num_layers");
    stream_signal x = build_.input(size_of(config, "input_size", 1));
    for (int i = 0; i < layers; ++i) {
      // A row of the file's matrix has the weights of one gate, in the order input, forget,
      // candidate, output.
      const int depth = x.channels + size;
      const std::vector<float> rows = take(std::int64_t{4} * size * depth), b = take(4 * size);
      const int order[] = {0, 1, 3, 2};
      std::vector<float> weights, bias;
      for (int k = 0; k < depth; ++k)
        for (const int gate : order)
          for (int j = 0; j < size; ++j)
            weights.push_back(rows[static_cast<std::size_t>((gate * size + j) * depth + k)]);
      for (const int gate : order)
        for (int j = 0; j < size; ++j) bias.push_back(b[static_cast<std::size_t>(gate * size + j)]);
      const std::vector<float> hidden = take(size), cell = take(size);
      x = build_.lstm(x, "lstm_" + std::to_string(i), size, std::move(weights), std::move(bias),
                      hidden, cell);
    }
    const int channels = size_of(config, "out_channels", 1);
    const std::vector<float> rows = take(std::int64_t{channels} * size);
    std::vector<float> weights;
    for (int k = 0; k < size; ++k)
      for (int j = 0; j < channels; ++j)
        weights.push_back(rows[static_cast<std::size_t>(j * size + k)]);
    return build_.dense(x, "head", channels, std::move(weights), take(channels));
  }

  // A convolution whose weights are next in the file: [filters, channels / groups, taps], then the
  // bias.
  stream_signal conv(const stream_signal& x, const std::string& name, int filters, int taps,
                     int dilation, int groups, bool bias) {
    if (x.channels % groups != 0 || filters % groups != 0)
      model_.at("config").fail("expected groups that divide " + std::to_string(x.channels) +
                               " and " + std::to_string(filters) + " channels, found " +
                               std::to_string(groups));
    std::vector<float> weights = take(std::int64_t{filters} * (x.channels / groups) * taps);
    return build_.conv(x, name, filters, taps, dilation, groups, std::move(weights),
                       bias ? take(filters) : std::vector<float>());
  }

  stream_signal wavenet(const reader& config) {
    for (const char* name : {"head", "condition_dsp"})
      if (config.has(name)) config.at(name).fail("expected null, the only value that is imported");
    const stream_signal x = build_.input(size_of(config, "in_channels", 1));
    stream_signal now = x, head;
    int index = 0;
    config.each("layers", [&](const reader& array) {
      array_of_layers(array, "array_" + std::to_string(index++), x, now, head);
    });
    if (index == 0) config.fail("expected at least one array of layers, found none");
    const float scale = take(1)[0];
    return build_.apply("scale", head, {stream_builder::real("scale", scale)});
  }

  // z = conv(now) + mixin(x); head += act(z); now += layer1x1(act(z)); at last head =
  // rechannel(head)
  void array_of_layers(const reader& array, const std::string& name, const stream_signal& x,
                       stream_signal& now, stream_signal& head) {
    const int channels = size_of(array, "channels");
    const int width = size_of(array, "bottleneck", channels);
    require_size(array, "input_size", now.channels);
    require_size(array, "condition_size", x.channels);
    for (const char* film :
         {"conv_pre_film", "conv_post_film", "input_mixin_pre_film", "input_mixin_post_film",
          "activation_pre_film", "activation_post_film", "layer1x1_post_film", "head1x1_post_film"})
      if (array.has(film) && is_active(array.at(film)))
        array.at(film).fail("expected no feature-wise modulation, which lamina does not import");
    if (array.has("head1x1") && is_active(array.at("head1x1")))
      array.at("head1x1").fail("expected an inactive one, because lamina does not import it");
    const bool mixes = !array.has("layer1x1") || is_active(array.at("layer1x1"));
    const int mix_groups = array.has("layer1x1") ? size_of(array.at("layer1x1"), "groups", 1) : 1;
    const int groups = size_of(array, "groups_input", 1);
    const int mixin_groups = size_of(array, "groups_input_mixin", 1);

    now = conv(now, name + ".rechannel", channels, 1, 1, 1, false);
    int index = 0;
    array.each("dilations", [&](const reader& dilation) {
      const std::string layer = name + ".layer_" + std::to_string(index);
      const std::string gating = gating_of(array, index);
      const bool gated = gating == "gated";
      if (!gated && gating != "none")
        array.fail("expected the gating mode none or gated, found '" + gating + "'");
      const int taps = array.has("kernel_sizes")
                           ? element(array, "kernel_sizes", index).integer(1, 1 << 16)
                           : array.at("kernel_size").integer(1, 1 << 16);
      const int wide = gated ? 2 * width : width;
      stream_signal z = conv(now, layer + ".conv", wide, taps,
                             static_cast<int>(dilation.integer(1, 1 << 24)), groups, true);
      z = build_.add(z, conv(x, layer + ".mixin", wide, 1, 1, mixin_groups, false));
      const reader activation = element(array, "activation", index);
      if (gated)
        z = build_.multiply(activated(activation, build_.channels(z, 0, width), layer),
                            second(array, index, build_.channels(z, width, wide), layer));
      else
        z = activated(activation, z, layer);
      head = head.name.empty() ? z : build_.add(head, z);
      if (mixes)
        now = build_.add(now, conv(z, layer + ".layer1x1", channels, 1, 1, mix_groups, true));
      ++index;
    });
    if (index == 0) array.fail("expected at least one dilation, found none");
    if (array.has("head")) {
      const reader last = array.at("head");
      head = conv(head, name + ".head", size_of(last, "out_channels"), size_of(last, "kernel_size"),
                  size_of(last, "head_dilation", 1), 1, last.at("bias").truth());
    } else {
      head = conv(head, name + ".head", size_of(array, "head_size"), 1, 1, 1,
                  array.at("head_bias").truth());
    }
  }
  static void require_size(const reader& from, const char* name, int wanted) {
    if (size_of(from, name) != wanted)
      from.at(name).fail("expected " + std::to_string(wanted) + " channels, found " +
                         std::to_string(size_of(from, name)));
  }
  static bool is_active(const reader& part) {
    if (part.value().is_boolean()) return part.truth();
    return !part.has("active") || part.at("active").truth();
  }
  // The element of a list with one element per layer, or the value that all layers share.
  static reader element(const reader& array, const char* name, int index) {
    const reader all = array.at(name);
    if (!all.value().is_array()) return all;
    if (all.value().size() <= static_cast<std::size_t>(index))
      all.fail("expected one element per dilation, found " + std::to_string(all.value().size()));
    return {all.value()[static_cast<std::size_t>(index)],
            all.path() + "[" + std::to_string(index) + "]", all.file()};
  }
  static std::string gating_of(const reader& array, int index) {
    if (array.has("gating_mode")) return element(array, "gating_mode", index).text();
    return array.has("gated") && array.at("gated").truth() ? "gated" : "none";
  }
  stream_signal second(const reader& array, int index, const stream_signal& z,
                       const std::string& layer) {
    if (!array.has("secondary_activation")) return build_.apply("sigmoid", z);
    return activated(element(array, "secondary_activation", index), z, layer + ".gate");
  }

  // A name, or an object with the member `type` and the parameters of the function.
  stream_signal activated(const reader& activation, const stream_signal& z,
                          const std::string& layer) {
    const bool bare = activation.value().is_string();
    const std::string type = bare ? activation.text() : activation.at("type").text();
    using set = stream_builder;
    if (type == "Tanh") return build_.apply("tanh", z);
    if (type == "ReLU") return build_.apply("relu", z);
    if (type == "Sigmoid") return build_.apply("sigmoid", z);
    if (type == "SiLU") return build_.apply("swish", z, {set::real("beta", 1)});
    if (type == "Softsign") return build_.apply("softsign", z);
    if (type == "Hardtanh")
      return build_.apply("clip", z, {set::real("min", -1), set::real("max", 1)});
    if (type == "Hardswish") return build_.apply("hard_swish", z);
    if (type == "LeakyReLU") {
      const bool given = !bare && activation.has("negative_slope");
      return build_.apply(
          "leaky_relu", z,
          {set::real("alpha", given ? activation.at("negative_slope").real() : 0.01F)});
    }
    if (type == "PReLU" && !bare && activation.has("negative_slopes"))
      return build_.prelu(z, layer,
                          json_numbers<Json>(activation.at("negative_slopes"), {z.channels}).all());
    activation.fail(
        "expected Tanh, ReLU, Sigmoid, SiLU, Softsign, Hardtanh, Hardswish, LeakyReLU or PReLU "
        "with "
        "negative_slopes, found '" +
        type + "'");
  }

  reader model_;
  std::string architecture_;
  stream_builder build_;
  std::vector<float> weights_;
  std::size_t next_ = 0;  // the first weight that no layer has taken
};

}  // namespace detail

/// Reads a `.nam` file as the program of one block of a signal. `x` [-1, 1, 1, block] is the block,
/// and `y` the result. Each state is an input NAME, zeros at the beginning, and an output
/// NAME_next, its value for the next block. An LSTM processes one sample per run: `x` is [-1, 1].
/// Reads the architectures WaveNet, LSTM and SlimmableContainer. Throws format_error, with the path
/// of the member, for damaged files and for what lamina does not import.
template <class Json = nlohmann::json>
inference_model load_nam(const file_path& file, const nam_options& options = {}) {
  const Json parsed = detail::parse_json_text<Json>(read_file(file.string()), file.string());
  const std::string name = file.string();
  return detail::nam_reader<Json>::read({parsed, "model", name}, options);
}

}}  // namespace lamina

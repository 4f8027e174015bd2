// SPDX-License-Identifier: Apache-2.0
// lamina/io/stream/stream_builder.hpp - builds the program of a net that processes a signal block
// by block, with the states that it keeps between blocks.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options of readers of nets for signals.
struct stream_options {
  /// The number of samples that one run processes. Nets with recurrent layers process one sample
  /// per run.
  int block = 64;
};

namespace detail {

/// A signal in a stream program: `channels` values per sample. Its variable is [-1, channels] if a
/// block is one sample, otherwise [-1, channels, 1, block].
struct stream_signal {
  std::string name{};
  int channels = 0;
};

/// Builds a program with the data `x`, the result `y`, and states: data layers `NAME`, zeros at the
/// beginning of a signal, whose next value is the result `NAME_next`.
class stream_builder {
 public:
  stream_builder(std::string file, int block) : file_(std::move(file)), block_(block) {
    program_.blocks.emplace_back();
  }

  int block() const { return block_; }

  stream_signal input(int channels) { return {data("x", dims_of(channels)), channels}; }

  /// y[f, t] = bias[f] + sum over c and k of filters[f, c, k] x[c, t - dilation (Size - 1 - k)],
  /// with zeros before the signal. `filters` is [Filters, channels / groups, Size]; `bias` may be
  /// empty.
  stream_signal conv(stream_signal x, const std::string& name, int filters, int size, int dilation,
                     int groups, std::vector<float> weights, std::vector<float> bias) {
    if (block_ == 1 && size == 1 && groups == 1)
      return dense(x, name, filters, turned(weights, filters, x.channels), std::move(bias));
    const std::int64_t past = std::int64_t{dilation} * (size - 1);
    std::string seen = as_image(x);
    if (past > 0) {
      const std::string state = name + "_past";
      const auto wide = image(x.channels, past + block_);
      data(state, image(x.channels, past));
      seen = op("concat", {{"X", {state, seen}}}, {integer("axis", 3)}, wide);
      const std::int64_t end = past + block_;
      keep(state, op("slice", {{"Input", {seen}}},
                     {integers("axes", {3}), integers("starts", {block_}), integers("ends", {end})},
                     image(x.channels, past)));
    }
    const auto dims = image(filters, block_);
    const std::string filter =
        parameter(name + ".weight", {filters, x.channels / groups, 1, size}, std::move(weights));
    const std::string y =
        biased(named("conv2d", name, 0, {{"Input", {seen}}, {"Filter", {filter}}},
                     {integers("strides", {1, 1}), integers("paddings", {0, 0}),
                      integers("dilations", {1, dilation}), integer("groups", groups)},
                     dims, "Output"),
               name, filters, std::move(bias), dims);
    return {as_signal(y, filters), filters};
  }

  /// y[., t] = x[., t] W + bias. `weights` is [channels, size]; `bias` may be empty.
  stream_signal dense(stream_signal x, const std::string& name, int size,
                      std::vector<float> weights, std::vector<float> bias) {
    if (block_ > 1)
      return conv(x, name, size, 1, 1, 1, turned(weights, x.channels, size), std::move(bias));
    return {product(x.name, x.channels, name, size, std::move(weights), std::move(bias)), size};
  }

  /// One step of an LSTM; the gates in `weights` [channels + size, 4 size] and `bias` [4 size] are
  /// input, forget, output and candidate. The first step begins with the states `hidden` and
  /// `cell`; absent ones are zeros.
  stream_signal lstm(stream_signal x, const std::string& name, int size, std::vector<float> weights,
                     std::vector<float> bias, const std::vector<float>& first_hidden = {},
                     const std::vector<float>& first_cell = {}) {
    const auto row = dims_of(size);
    const std::string hidden = data(name + "_hidden", row), cell = data(name + "_cell", row);
    const std::string before = shifted(hidden, name + ".first_hidden", size, first_hidden, 1);
    const std::string cell_before = shifted(cell, name + ".first_cell", size, first_cell, 1);
    const std::string gates = products(x, before, size, name, 4 * size, weights, std::move(bias));
    const std::string next_cell = variable(name + "_cell_now", row);
    const std::string next = variable(name + "_now", row);
    operator_message& made =
        add("lstm_unit", {{"X", {gates}}, {"C_prev", {cell_before}}}, {real("forget_bias", 0)});
    made.outputs = {slot("C", {next_cell}), slot("H", {next})};
    const std::string kept = shifted(next, name + ".minus_hidden", size, first_hidden, -1);
    keep(cell, shifted(next_cell, name + ".minus_cell", size, first_cell, -1));
    const std::string now = keep(hidden, kept);
    return {kept == next ? now : next, size};
  }

  /// One step of a GRU whose reset gate multiplies the product of the state:
  ///   z, r = sigmoid([x, h] W_g + b_g)    h' = z h + (1 - z) tanh(x W_x + b_x + r (h W_h + b_h))
  struct gru_weights {
    std::vector<float> gates, gate_bias;  // [channels + size, 2 size], the columns of z first
    std::vector<float> input, input_bias, state, state_bias;
  };
  stream_signal gru(stream_signal x, const std::string& name, int size, gru_weights w) {
    const auto row = dims_of(size);
    const std::string h = data(name + "_hidden", row);
    // The gates are two products: a product of both would need copies of its halves.
    const auto gate = [&](const char* which, int begin) {
      std::vector<float> columns;
      for (int k = 0; k < x.channels + size; ++k)
        for (int j = 0; j < size; ++j)
          columns.push_back(w.gates[static_cast<std::size_t>(2 * size * k + begin + j)]);
      const auto bias = w.gate_bias.begin() + begin;
      return op("sigmoid",
                {{"X", {products(x, h, size, name + which, size, columns, {bias, bias + size})}}},
                {}, row);
    };
    const std::string z = gate(".update", 0), r = gate(".reset", size);
    const std::string of_x = product(x.name, x.channels, name + ".input", size, std::move(w.input),
                                     std::move(w.input_bias));
    const std::string of_h =
        product(h, size, name + ".state", size, std::move(w.state), std::move(w.state_bias));
    const std::string candidate =
        op("tanh",
           {{"X", {binary("elementwise_add", of_x, binary("elementwise_mul", r, of_h, row), row)}}},
           {}, row);
    // z h + (1 - z) c = c + z (h - c)
    const std::string next = binary(
        "elementwise_add", candidate,
        binary("elementwise_mul", z, binary("elementwise_sub", h, candidate, row), row), row);
    return {keep(h, next), size};
  }

  /// A pointwise operator without parameters, such as tanh.
  stream_signal apply(const char* type, const stream_signal& x,
                      std::vector<attribute_message> attributes = {}) {
    return {op(type, {{"X", {x.name}}}, std::move(attributes), dims_of(x.channels)), x.channels};
  }
  stream_signal add(const stream_signal& x, const stream_signal& y) {
    return {binary("elementwise_add", x.name, y.name, dims_of(x.channels)), x.channels};
  }
  stream_signal multiply(const stream_signal& x, const stream_signal& y) {
    return {binary("elementwise_mul", x.name, y.name, dims_of(x.channels)), x.channels};
  }
  /// The channels from `begin` to before `end`.
  stream_signal channels(const stream_signal& x, int begin, int end) {
    return {op("slice", {{"Input", {x.name}}},
               {integers("axes", {1}), integers("starts", {begin}), integers("ends", {end})},
               dims_of(end - begin)),
            end - begin};
  }
  /// y = x * factor[channel] + offset[channel].
  stream_signal scale_channels(const stream_signal& x, const std::string& name,
                               std::vector<float> factor, std::vector<float> offset) {
    const auto dims = dims_of(x.channels);
    const std::string product =
        op("elementwise_mul",
           {{"X", {x.name}}, {"Y", {parameter(name + ".factor", {x.channels}, std::move(factor))}}},
           {integer("axis", 1)}, dims);
    return {op("elementwise_add",
               {{"X", {product}},
                {"Y", {parameter(name + ".offset", {x.channels}, std::move(offset))}}},
               {integer("axis", 1)}, dims),
            x.channels};
  }
  stream_signal prelu(const stream_signal& x, const std::string& name, std::vector<float> alpha) {
    const bool one = alpha.size() == 1;
    std::vector<std::int64_t> dims{1};
    if (!one) dims = {1, x.channels, 1, 1};
    if (!one && block_ == 1) dims = {1, x.channels};
    const std::string a = parameter(name + ".alpha", dims, std::move(alpha));
    return {op("prelu", {{"X", {x.name}}, {"Alpha", {a}}},
               {text("mode", one           ? "all"
                             : block_ == 1 ? "element"
                                           : "channel")},
               dims_of(x.channels)),
            x.channels};
  }

  /// Ends the program: the result `y`, and the next values of all states.
  inference_model finish(const stream_signal& y) {
    give_out(y.name, "y", fetches_.begin());
    block_message& main = program_.blocks[0];
    std::vector<operator_message> feeds;
    for (const std::string& name : feeds_) {
      operator_message& feed = feeds.emplace_back();
      feed.type = "feed";
      feed.inputs = {slot("X", {"feed"})};
      feed.outputs = {slot("Out", {name})};
      feed.attributes = {integer("col", static_cast<std::int64_t>(feeds.size()) - 1)};
    }
    main.operators.insert(main.operators.begin(), feeds.begin(), feeds.end());
    for (std::size_t i = 0; i < fetches_.size(); ++i) {
      operator_message& fetch =
          add("fetch", {{"X", {fetches_[i]}}}, {integer("col", static_cast<std::int64_t>(i))});
      fetch.outputs = {slot("Out", {"fetch"})};
    }
    return {loaded_program(std::move(program_), file_), std::move(values_)};
  }

  static attribute_message integer(const char* name, std::int64_t value) {
    attribute_message a;
    a.name = name;
    a.integer = value;
    return a;
  }
  static attribute_message integers(const char* name, std::vector<std::int64_t> value) {
    attribute_message a;
    a.name = name;
    a.type = attribute_type::integers;
    a.integers = std::move(value);
    return a;
  }
  static attribute_message real(const char* name, float value) {
    attribute_message a;
    a.name = name;
    a.type = attribute_type::real;
    a.real = value;
    return a;
  }
  static attribute_message text(const char* name, const char* value) {
    attribute_message a;
    a.name = name;
    a.type = attribute_type::string;
    a.text = value;
    return a;
  }

 private:
  // x + sign * by: states are stored as differences from their first values, so that they begin
  // with zeros.
  std::string shifted(const std::string& x, const std::string& name, int size,
                      std::vector<float> by, float sign) {
    if (std::all_of(by.begin(), by.end(), [](float v) { return v == 0; })) return x;
    for (float& v : by) v *= sign;
    return op("elementwise_add", {{"X", {x}}, {"Y", {parameter(name, {size}, std::move(by))}}},
              {integer("axis", 1)}, dims_of(size));
  }
  using extents = std::vector<std::int64_t>;
  struct operands {
    const char* slot;
    std::vector<std::string> names;
  };

  extents image(std::int64_t channels, std::int64_t length) const {
    return {-1, channels, 1, length};
  }
  extents dims_of(int channels) const {
    return block_ == 1 ? extents{-1, channels} : image(channels, block_);
  }
  std::string as_image(const stream_signal& x) {
    if (block_ > 1) return x.name;
    return op("reshape2", {{"X", {x.name}}}, {integers("shape", {-1, x.channels, 1, 1})},
              image(x.channels, 1));
  }
  std::string as_signal(const std::string& x, int channels) {
    if (block_ > 1) return x;
    return op("reshape2", {{"X", {x}}}, {integers("shape", {-1, channels})}, dims_of(channels));
  }

  static slot_message slot(const char* name, std::vector<std::string> arguments) {
    slot_message s;
    s.slot = name;
    s.arguments = std::move(arguments);
    return s;
  }
  std::string variable(std::string name, extents dims) {
    variable_message& v = program_.blocks[0].variables.emplace_back();
    v.name = std::move(name);
    v.type = dtype::float32;
    v.dims = std::move(dims);
    return v.name;
  }
  std::string data(const std::string& name, extents dims) {
    feeds_.push_back(name);
    variable(name, std::move(dims));
    program_.blocks[0].variables.back().need_check_feed = true;
    return name;
  }
  // Makes `value` the next value of a state. Returns the name that it has now.
  std::string keep(const std::string& state, const std::string& value) {
    return give_out(value, state + "_next", fetches_.end());
  }
  // Makes a value a result of the program: it gets the name, or a copy does if it is one already.
  std::string give_out(const std::string& value, const std::string& name,
                       std::vector<std::string>::iterator at) {
    const bool is_known = std::find(fetches_.begin(), fetches_.end(), value) != fetches_.end() ||
                          std::find(feeds_.begin(), feeds_.end(), value) != feeds_.end();
    fetches_.insert(at, name);
    block_message& main = program_.blocks[0];
    if (is_known) {
      operator_message& copy = add("assign", {{"X", {value}}}, {});
      copy.outputs = {slot("Out", {variable(name, main.find(value)->dims)})};
      return value;
    }
    for (variable_message& v : main.variables)
      if (v.name == value) v.name = name;
    for (operator_message& op : main.operators)
      for (auto* const sides : {&op.inputs, &op.outputs})
        for (slot_message& s : *sides)
          std::replace(s.arguments.begin(), s.arguments.end(), value, name);
    return name;
  }
  std::string parameter(const std::string& name, const extents& dims, std::vector<float> value) {
    variable(name, dims);
    variable_message& v = program_.blocks[0].variables.back();
    v.persistable = v.is_parameter = true;
    tensor_shape shape(dims.begin(), dims.end());
    array<float> elements(shape);
    std::copy(value.begin(), value.end(), elements.begin());
    static_cast<tensor&>(values_->var(name)) = tensor(std::move(elements));
    return name;
  }
  operator_message& add(const char* type, const std::vector<operands>& inputs,
                        std::vector<attribute_message> attributes) {
    operator_message& made = program_.blocks[0].operators.emplace_back();
    made.type = type;
    for (const operands& s : inputs) made.inputs.push_back(slot(s.slot, s.names));
    made.attributes = std::move(attributes);
    return made;
  }
  std::string op(const char* type, const std::vector<operands>& inputs,
                 std::vector<attribute_message> attributes, extents dims, const char* out = "Out") {
    return named(type, std::string(type) + "_" + std::to_string(++made_), 0, inputs,
                 std::move(attributes), std::move(dims), out);
  }
  // An operator of layer `name` with result `number`, named by Fluid's rules.
  std::string named(const char* type, const std::string& name, int number,
                    const std::vector<operands>& inputs, std::vector<attribute_message> attributes,
                    extents dims, const char* out = "Out") {
    const std::string result = variable(name + ".tmp_" + std::to_string(number), std::move(dims));
    add(type, inputs, std::move(attributes)).outputs = {slot(out, {result})};
    return result;
  }
  std::string binary(const char* type, const std::string& x, const std::string& y, extents dims) {
    return op(type, {{"X", {x}}, {"Y", {y}}}, {integer("axis", -1)}, std::move(dims));
  }
  std::string product(const std::string& x, int depth, const std::string& name, int size,
                      std::vector<float> weights, std::vector<float> bias) {
    const std::string weight = parameter(name + ".weight", {depth, size}, std::move(weights));
    return biased(
        named("mul", name, 0, {{"X", {x}}, {"Y", {weight}}},
              {integer("x_num_col_dims", 1), integer("y_num_col_dims", 1)}, dims_of(size)),
        name, size, std::move(bias), dims_of(size));
  }
  // [x, state] W + bias. These are two products instead of one of a concatenation, so that the
  // first, which does not wait for the previous step, leaves less to compute after it.
  std::string products(const stream_signal& x, const std::string& state, int size,
                       const std::string& name, int columns, const std::vector<float>& weights,
                       std::vector<float> bias) {
    const auto of_state = weights.begin() + x.channels * columns;
    const std::string of_x = product(x.name, x.channels, name + ".input", columns,
                                     {weights.begin(), of_state}, std::move(bias));
    const std::string y =
        product(state, size, name + ".state", columns, {of_state, weights.end()}, {});
    return binary("elementwise_add", y, of_x, dims_of(columns));
  }
  // x + bias, along dimension 1; x if there is no bias.
  std::string biased(const std::string& x, const std::string& name, int size,
                     std::vector<float> bias, const extents& dims) {
    if (bias.empty()) return x;
    const std::string b = parameter(name + ".bias", {size}, std::move(bias));
    return named("elementwise_add", name, 1, {{"X", {x}}, {"Y", {b}}}, {integer("axis", 1)}, dims);
  }
  // The transpose of a matrix.
  static std::vector<float> turned(const std::vector<float>& x, int rows, int columns) {
    std::vector<float> y(x.size());
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        y[static_cast<std::size_t>(j * rows + i)] = x[static_cast<std::size_t>(i * columns + j)];
    return y;
  }

  std::string file_;
  int block_, made_ = 0;
  program_message program_;
  std::unique_ptr<scope> values_ = std::make_unique<scope>();
  std::vector<std::string> feeds_, fetches_;
};

}  // namespace detail

}}  // namespace lamina

// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/onnx_cells.hpp - imports ONNX's LSTM, GRU and RNN.
//
// If the number of steps is known and not too large, the operators of the steps follow each other.
// Otherwise they are the body of a `while`.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/control/onnx_loop.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// An LSTM, GRU or RNN node.
class raised_recurrence {
 public:
  explicit raised_recurrence(onnx_import_node& n)
      : n_(n),
        x_(steps_first(n.in(0))),
        gates_(n.type() == "LSTM"  ? 4
               : n.type() == "GRU" ? 3
                                   : 1),
        hidden_(n.extent(n.in(2), 2)) {
    const std::string direction = n.string("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      n.fail("expected direction forward, reverse or bidirectional, found " + direction);
    directions_ = direction == "bidirectional" ? 2 : 1;
    const std::int64_t rows = x_.dims[1], all = gates_ * hidden_;
    require(1, {directions_, all, x_.dims[2]});
    require(2, {directions_, all, hidden_});
    require(3, {directions_, 2 * all});
    require(4, {rows});
    const bool batch_first = n.flag("layout");
    for (const std::size_t i : {5U, 6U})
      require(i, {batch_first ? rows : directions_, batch_first ? directions_ : rows, hidden_});
    require(7, {directions_, 3 * hidden_});
    read_functions();
  }

  void run() {
    std::vector<onnx_imported> all, last, cells;
    for (std::int64_t d = 0; d < directions_; ++d) {
      begin(d);
      all.push_back(n_.unsqueeze(follow_each_other() ? unrolled() : repeated(), {1}));
      last.push_back(n_.unsqueeze(h_, {0}));
      if (gates_ == 4) cells.push_back(n_.unsqueeze(c_, {0}));
    }
    const bool batch_first = n_.flag("layout");
    const auto turned = [&](const onnx_imported& y, const onnx_import_node::extents& order) {
      return batch_first ? n_.transpose(y, order) : y;
    };
    n_.out(0, turned(n_.concat(all, 1), {2, 0, 1, 3}));
    n_.out(1, turned(n_.concat(last, 0), {1, 0, 2}));
    if (gates_ == 4) n_.out(2, turned(n_.concat(cells, 0), {1, 0, 2}));
  }

 private:
  // The most steps that follow each other.
  static constexpr std::int64_t longest = 4096;

  /// An activation function and its parameters.
  struct function {
    std::string name{};
    double alpha = 0, beta = 0;
  };

  bool follow_each_other() const { return x_.dims[0] >= 0 && x_.dims[0] <= longest; }

  onnx_imported steps_first(const onnx_imported& x) const {
    n_.require_rank(x, 3, 3);
    return n_.flag("layout") ? n_.transpose(x, {1, 0, 2}) : x;
  }

  // Fails if a known dimension of an input is not as expected.
  void require(std::size_t i, const onnx_import_node::extents& dims) const {
    if (!n_.has(i)) return;
    const onnx_imported& found = n_.in(i);
    bool fits = found.dims.size() == dims.size();
    for (std::size_t d = 0; d < dims.size() && fits; ++d)
      fits = dims[d] < 0 || found.dims[d] < 0 || dims[d] == found.dims[d];
    if (!fits)
      n_.fail(text("expected dimensions ") << text().list(without_symbols(dims)) << " of input "
                                           << i << ", found " << found.dims_text());
  }

  // Reads the functions of all gates. The lists of parameters have elements for those functions
  // only that have such a parameter.
  void read_functions() {
    struct known {
      const char* name;
      int parameters;  // 0: none; 1: alpha; 2: alpha and beta
      double alpha, beta;
    };
    static constexpr known all[] = {{"sigmoid", 0, 0, 0},      {"tanh", 0, 0, 0},
                                    {"relu", 0, 0, 0},         {"softsign", 0, 0, 0},
                                    {"softplus", 0, 0, 0},     {"affine", 2, 1, 0},
                                    {"leakyrelu", 1, 0.01, 0}, {"thresholdedrelu", 1, 1, 0},
                                    {"scaledtanh", 2, 1, 1},   {"hardsigmoid", 2, 0.2, 0.5},
                                    {"elu", 1, 1, 0}};
    std::vector<std::string> names = n_.texts("activations");
    each_ = gates_ == 4 ? 3 : gates_ == 3 ? 2 : 1;
    const std::size_t count = each_ * static_cast<std::size_t>(directions_);
    const char* const usual[] = {gates_ == 1 ? "Tanh" : "Sigmoid", "Tanh", "Tanh"};
    while (names.size() < count) names.push_back(usual[names.size() % each_]);
    const std::vector<float> alphas = n_.reals("activation_alpha"),
                             betas = n_.reals("activation_beta");
    auto alpha = alphas.begin(), beta = betas.begin();
    for (std::size_t k = 0; k < count; ++k) {
      std::string name = names[k];
      for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      const known* const found = std::find_if(std::begin(all), std::end(all),
                                              [&](const known& f) { return name == f.name; });
      if (found == std::end(all))
        n_.fail("expected an activation that ONNX has for recurrent nodes, found " + names[k]);
      function& f = functions_.emplace_back(function{found->name, found->alpha, found->beta});
      if (found->parameters > 0 && alpha != alphas.end()) f.alpha = static_cast<double>(*alpha++);
      if (found->parameters > 1 && beta != betas.end()) f.beta = static_cast<double>(*beta++);
    }
  }
  // Applies activation f, g or h (0, 1 or 2) of the direction. As in ONNX Runtime, the arguments of
  // f and g are clipped, but not the cells.
  onnx_imported applied(std::size_t k, onnx_imported x) {
    const double clip = static_cast<double>(n_.real("clip"));
    if (clip > 0 && k < 2) x = n_.unary("clip", x, {{"min", -clip}, {"max", clip}});
    const function& f = functions_[static_cast<std::size_t>(direction_) * each_ + k];
    const std::string_view name = f.name;
    if (name == "affine") return n_.affine(x, f.alpha, f.beta);
    if (name == "leakyrelu") return n_.unary("leaky_relu", x, {{"alpha", f.alpha}});
    if (name == "thresholdedrelu") return n_.unary("thresholded_relu", x, {{"threshold", f.alpha}});
    if (name == "scaledtanh")
      return n_.unary("stanh", x, {{"scale_a", f.beta}, {"scale_b", f.alpha}});
    if (name == "hardsigmoid")
      return n_.unary("hard_sigmoid", x, {{"slope", f.alpha}, {"offset", f.beta}});
    if (name == "elu") return n_.unary("elu", x, {{"alpha", f.alpha}});
    for (const char* same : {"sigmoid", "tanh", "relu", "softsign", "softplus"})
      if (name == same) return n_.unary(same, x);
    return x;
  }

  // The part of an input for the direction.
  onnx_imported row_of(const onnx_imported& all) {
    return n_.squeeze(n_.slice(all, 0, direction_, direction_ + 1), {0});
  }
  onnx_imported row_of(std::size_t i) { return row_of(n_.in(i)); }
  // A state before the first step: an input, or zeros.
  onnx_imported first(std::size_t i) {
    if (n_.has(i)) return row_of(n_.flag("layout") ? n_.transpose(n_.in(i), {1, 0, 2}) : n_.in(i));
    const std::int64_t batch = x_.dims[1];
    if (batch >= 0 || !follow_each_other() || x_.dims[0] == 0)
      return n_.filled(0, x_.type, {batch, hidden_});
    const onnx_imported zero =
        n_.reduce("reduce_sum", n_.unary("fill_zeros_like", n_.squeeze(n_.slice(x_, 0, 0, 1), {0})),
                  {1}, true);
    return n_.add(zero, n_.filled(0, x_.type, {1, hidden_}));
  }
  onnx_imported part(const onnx_imported& of, std::int64_t k) {
    return n_.slice(of, of.rank() - 1, k * hidden_, (k + 1) * hidden_);
  }
  // Parts of the last dimension, each of some multiple of the units.
  std::vector<onnx_imported> parts(const onnx_imported& of, std::vector<std::int64_t> sections) {
    std::vector<onnx_result> results;
    for (std::int64_t& s : sections) {
      s *= hidden_;
      results.push_back({"Out", of.type, of.dims});
      results.back().dims.back() = s;
    }
    return n_.make_all("split", {{"X", of}},
                       {{"sections", sections}, {"axis", static_cast<int>(of.rank()) - 1}},
                       results);
  }
  // The slices of the first dimension, one per step.
  std::vector<onnx_imported> steps_of(const onnx_imported& x) {
    const std::vector<onnx_result> results(static_cast<std::size_t>(x.dims[0]),
                                           {"Y", x.type, {x.dims.begin() + 1, x.dims.end()}});
    return n_.make_all("unstack", {{"X", x}}, {{"axis", 0}, {"num", static_cast<int>(x.dims[0])}},
                       results);
  }
  // The inverse of steps_of().
  onnx_imported stacked(const std::vector<onnx_imported>& steps) {
    std::vector<std::int64_t> dims = steps.at(0).dims;
    dims.insert(dims.begin(), static_cast<std::int64_t>(steps.size()));
    return n_.make("stack", {onnx_slot("X", steps)}, {{"axis", 0}}, steps[0].type, dims, "Y");
  }

  // Computes what all steps of a direction use.
  void begin(std::int64_t d) {
    direction_ = d;
    is_reverse_ = d == 1 || n_.string("direction", "forward") == "reverse";
    r_ = row_of(2);
    onnx_imported bias_x;
    bias_ = {};
    if (n_.has(3)) {
      const onnx_imported b = row_of(3);
      bias_x = n_.slice(b, 0, 0, gates_ * hidden_);
      bias_ = n_.slice(b, 0, gates_ * hidden_, 2 * gates_ * hidden_);
    }
    of_x_ = n_.matmul(x_, row_of(1), false, true);
    if (bias_x.has_value()) of_x_ = n_.add(of_x_, bias_x);
    if (gates_ == 3) {
      candidate_r_ = n_.slice(r_, 0, 2 * hidden_, 3 * hidden_);
      r_ = n_.slice(r_, 0, 0, 2 * hidden_);
      if (bias_.has_value()) {
        candidate_bias_ = n_.slice(bias_, 0, 2 * hidden_, 3 * hidden_);
        bias_ = n_.slice(bias_, 0, 0, 2 * hidden_);
      } else {
        candidate_bias_ = {};
      }
    }
    h_ = first(5);
    if (gates_ == 4) c_ = first(6);
  }
  // Returns the results of all steps; h_ and c_ become the last states.
  onnx_imported unrolled() {
    const std::int64_t length = x_.dims[0];
    if (length == 0) return n_.filled(0, x_.type, {0, x_.dims[1], hidden_});
    std::vector<onnx_imported> steps(static_cast<std::size_t>(length));
    std::vector<std::vector<onnx_imported>> inputs;
    for (const onnx_imported& of : inputs_of(of_x_)) inputs.push_back(steps_of(of));
    for (std::int64_t i = 0; i < length; ++i) {
      const auto t = static_cast<std::size_t>(is_reverse_ ? length - 1 - i : i);
      std::vector<onnx_imported> now;
      for (const std::vector<onnx_imported>& of : inputs) now.push_back(of[t]);
      steps[t] = step(now, n_.number(static_cast<double>(t), dtype::int64));
    }
    return stacked(steps);
  }
  onnx_imported repeated() {
    loop_import loop(n_);
    loop.trips = n_.extent_of(x_, 0);
    loop.returns_condition = false;
    loop.initial = {h_};
    if (gates_ == 4) loop.initial.push_back(c_);
    loop.stacked = {{0, is_reverse_}};
    const onnx_imported last = n_.sub(loop.trips, n_.number(1, dtype::int64));
    loop.iterate = [&](const onnx_imported& i, const std::vector<onnx_imported>& carried) {
      const onnx_imported t = is_reverse_ ? n_.sub(last, i) : i;
      h_ = carried[0];
      if (gates_ == 4) c_ = carried[1];
      const onnx_imported shown = step(inputs_of(n_.gather(of_x_, t, 0)), t);
      std::vector<onnx_imported> made{h_};
      if (gates_ == 4) made.push_back(c_);
      made.push_back(shown);
      return made;
    };
    const std::vector<onnx_imported> results = loop.repeat();
    h_ = results[0];
    if (gates_ == 4) c_ = results[1];
    onnx_imported all = results.back();
    all.dims = {x_.dims[0], x_.dims[1], hidden_};
    return all;
  }

  // One step: h_ and c_ become the next states. Returns the result of the step. After the end of
  // its sequence, a row keeps its state, and its result is 0; in the reverse direction, these steps
  // come before the sequence.
  onnx_imported step(const std::vector<onnx_imported>& now, const onnx_imported& t) {
    const onnx_imported h = h_, c = c_;
    if (gates_ == 4)
      lstm(now[0]);
    else if (gates_ == 3)
      gru(now[0], now[1]);
    else
      h_ = applied(0, n_.add(now[0], recurrent(h_, r_, bias_)));
    if (!n_.has(4)) return h_;
    const onnx_imported length = n_.unsqueeze(n_.cast(n_.in(4), dtype::int64), {1});
    const onnx_imported runs = n_.binary("greater_than", length, t, dtype::boolean);
    const onnx_imported shown = n_.kept(h_, runs);
    h_ = n_.where(runs, h_, h);
    if (gates_ == 4) c_ = n_.where(runs, c_, c);
    return shown;
  }
  onnx_imported recurrent(const onnx_imported& h, const onnx_imported& r,
                          const onnx_imported& bias) {
    const onnx_imported y = n_.matmul(h, r, false, true);
    return bias.has_value() ? n_.add(y, bias) : y;
  }
  // The gates are i, o, f and c; peepholes i, o and f.
  void lstm(const onnx_imported& now) {
    const std::vector<onnx_imported> sums =
        parts(n_.add(now, recurrent(h_, r_, bias_)), {1, 1, 1, 1});
    const auto gate = [&](std::int64_t k, const onnx_imported& cell) {
      const onnx_imported& sum = sums[static_cast<std::size_t>(k)];
      return applied(0, n_.has(7) ? n_.add(sum, n_.mul(cell, part(row_of(7), k))) : sum);
    };
    const onnx_imported in = gate(0, c_),
                        forget = n_.flag("input_forget") ? n_.affine(in, -1, 1) : gate(2, c_),
                        fresh = applied(1, sums[3]);
    c_ = n_.add(n_.mul(forget, c_), n_.mul(in, fresh));
    h_ = n_.mul(gate(1, c_), applied(2, c_));
  }
  // The gates are z, r and h. `now` and `candidate` are the products of the input for the gates and
  // for the candidate.
  void gru(const onnx_imported& now, const onnx_imported& candidate) {
    const std::vector<onnx_imported> gates =
        parts(applied(0, n_.add(now, recurrent(h_, r_, bias_))), {1, 1});
    const onnx_imported &update = gates[0], &reset = gates[1];
    const onnx_imported kept = n_.flag("linear_before_reset")
                                   ? n_.mul(reset, recurrent(h_, candidate_r_, candidate_bias_))
                                   : recurrent(n_.mul(reset, h_), candidate_r_, candidate_bias_);
    const onnx_imported fresh = applied(1, n_.add(candidate, kept));
    h_ = n_.add(n_.mul(n_.affine(update, -1, 1), fresh), n_.mul(update, h_));
  }
  // The products of inputs that a step takes: of a gru, those for the gates and for the candidate.
  std::vector<onnx_imported> inputs_of(const onnx_imported& products) {
    if (gates_ != 3) return {products};
    return parts(products, {2, 1});
  }

  onnx_import_node& n_;
  onnx_imported x_;  // [steps, rows, width]
  std::int64_t gates_, hidden_, directions_ = 1;
  std::vector<function> functions_{};  // of each direction, `each_` functions
  std::size_t each_ = 1;
  // These belong to the direction: its number, the recurrent weights and bias (a gru has those of
  // the gates apart from those of the candidate), the products of all inputs, and the states.
  std::int64_t direction_ = 0;
  bool is_reverse_ = false;
  onnx_imported r_{}, bias_{}, candidate_r_{}, candidate_bias_{}, of_x_{}, h_{}, c_{};
};
inline void raise_recurrence(onnx_import_node& n) { raised_recurrence(n).run(); }

inline void add_recurrent_cells(onnx_operators& to) {
  for (const char* node : {"LSTM", "GRU", "RNN"}) to.add_node(node, raise_recurrence);
}

}}}  // namespace lamina::onnx

// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_minimize.hpp - writes the calls of minimize of a program that is written as
// C++.
//
// It reads the options of the optimizer and of the parameters from the attributes of the updates.
// Then it records the calls again and compares the result with the file (minimize_replay.hpp).
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <lamina/codegen/minimize_replay.hpp>
#include <lamina/codegen/native_choice.hpp>
#include <lamina/codegen/optimizer_options.hpp>
#include <lamina/optimizer/prepare.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Finds the calls of minimize of a program, and their texts.
class native_minimize : protected native_choice {
 protected:
  explicit native_minimize(const loaded_program& program) : native_choice(program) {
    if (groups_.all().empty()) return;
    find_made();
    for (const minimize_group& g : groups_.all()) {
      begin(g);
      add(g, optimizer::library_optimizers{});
    }
    for (auto& [seed, call] : calls_) {
      choose(call);
      // Counted as two reads, so that the cost does not become an inner result of a layer.
      reads_[at(call.cost)] += 2;
      if (call.rate >= 0) reads_[at(call.rate)] += 2;
    }
    minimize_replay(
        program, groups_, calls_, own_,
        [this](int block, std::size_t k, const std::string& what) { fail_in(block, k, what); })
        .require_same();
  }

  /// Whether the program trains.
  bool trains() const { return !calls_.empty(); }
  /// Whether only calls of minimize write a variable.
  bool is_made_by_minimize(int v) const { return trains() && is_made_[at(v)]; }
  /// Returns the call of minimize that begins with an operator, or null.
  const minimize_call* minimize_of(const operator_desc& op) const {
    const auto found = calls_.find(&op);
    return found == calls_.end() ? nullptr : &found->second;
  }
  /// Returns the text of the options of a parameter except its name; a comma precedes each option.
  std::string options_of(int v) const {
    if (!trains()) return {};
    std::string text;
    const auto own = own_.find(v);
    const parameter_options o = own == own_.end() ? parameter_options{} : own->second;
    if (o.learning_rate != 1) text += ", .learning_rate = " + option_text(o.learning_rate);
    if (o.regularizer.kind != regularizer_kind::none)
      text += ", .regularizer = " + decay_text(o.regularizer);
    if (p_.variables[v].stop_gradient) text += ", .trainable = false";
    if (o.clip.kind != clip_kind::none) text += ", .gradient_clip = " + clip_text(o.clip);
    return text;
  }
  /// Records that the text makes this parameter at this point, unless it has made it before.
  void note_parameter(int v) {
    if (std::find(parameters_.begin(), parameters_.end(), v) == parameters_.end())
      parameters_.push_back(v);
  }
  /// Whether a parameter has options that can be read from its updates.
  bool has_own_options(int v) const { return own_.count(v) != 0; }
  /// Records that the text contains the options of a parameter.
  void note_options(int v) { written_options_.insert(v); }
  /// Throws format_error unless the updates follow the order in which the text makes the
  /// parameters, and the text contains the options of all parameters. Otherwise the text would
  /// record another program.
  void require_parameters() {
    for (const auto& [seed, call] : calls_) {
      for (const int v : parameters_)
        if (!options_of(v).empty() && written_options_.count(v) == 0)
          fail_at(*seed, "expected a layer that takes options of its parameter '" + name_of(v) +
                             "', found another");
      std::size_t last = 0;
      for (const int v : call.updated) {
        const auto place = std::find(parameters_.begin(), parameters_.end(), v);
        const auto now = static_cast<std::size_t>(place - parameters_.begin());
        if (place == parameters_.end() || now < last)
          fail_at(*seed,
                  "expected updates in the order in which layers make the parameters, found '" +
                      name_of(v) + "' after a later one");
        last = now;
      }
    }
  }

  std::vector<int> parameters_;  // parameters in the order in which the text makes them

 private:
  /// The properties of the update of one parameter.
  struct update_facts {
    int parameter;
    float rate;
    regularizer decay;
    gradient_clip clip;
  };

  void fail_in(int block, std::size_t k, const std::string& what) {
    for (int i = 0; i < p_.count.operators; ++i)
      if (p_.operators[i].block == block && k-- == 0) fail_at(p_.operators[i], what);
    throw format_error(program_.source(), 0, what);
  }

  void find_made() {
    is_made_.resize(at(p_.count.variables));
    for (int k = 0; k < p_.count.operators; ++k)
      if (groups_.contains(p_.operators[k]))
        each(p_.operators[k], false, [&](int v) { is_made_[at(v)] = !is_parameter(v); });
    for (const operator_desc* op : all_)
      if (sub_block_of(p_, *op) < 0) each(*op, false, [&](int v) { is_made_[at(v)] = false; });
  }
  void begin(const minimize_group& g) {
    const variable_desc& cost = p_.variables[g.cost];
    if (dims_of(g.cost) != std::vector{1} || cost.block != g.seed->block ||
        (cost.type != dtype::float32 && cost.type != dtype::float64))
      fail_at(*g.seed, "expected the gradient of one number of the same block, found that of '" +
                           name_of(g.cost) + "'");
  }
  template <class... Opt>
  void add(const minimize_group& g, operator_list<Opt...>) {
    const std::string_view type = g.updates[0]->schema->type;
    const bool found = ((type == Opt::type && (add_call<Opt>(g), true)) || ...);
    if (!found) fail_at(*g.updates[0], "expected the update of a known optimizer, found another");
  }
  template <class Opt>
  void add_call(const minimize_group& g) {
    minimize_call call;
    Opt opt;
    call.seed = g.seed;
    call.cost = g.cost;
    call.optimizer = Opt::type;
    std::vector<update_facts> facts;
    for (const operator_desc* u : g.updates) {
      if (std::string_view(u->schema->type) != g.updates[0]->schema->type)
        fail_at(*u, "expected updates of one optimizer after the gradients of a cost, found two");
      facts.push_back(facts_of(g, *u));
      call.updated.push_back(facts.back().parameter);
    }
    const operator_desc& first = *g.updates[0];
    find_rate(g, call, opt.learning_rate, facts);
    std::apply(
        [&](const auto&... option) {
          (set(opt, option.member, number(first, option.attribute), option.name, call), ...);
        },
        optimizer_options<Opt>);
    if constexpr (optimizer::traits<Opt>::has_lazy_mode) {
      for (const operator_desc* u : g.updates) {
        const int gradient = input(*u, "Grad");
        if (gradient < 0 || p_.variables[gradient].kind != variable_kind::selected_rows) continue;
        set(opt, &Opt::lazy_mode, number(*u, "lazy_mode"), "lazy_mode", call);
        break;
      }
    }
    share(
        facts, &update_facts::decay, &parameter_options::regularizer, opt.regularization,
        [](const regularizer& d) { return decay_text(d); }, ".regularization = ", call);
    share(
        facts, &update_facts::clip, &parameter_options::clip, opt.clip,
        [](const gradient_clip& c) { return clip_text(c); }, ".clip = ", call);
    call.record = [opt](program_builder& b, int cost, int rate) {
      Opt made = opt;
      if (rate >= 0) made.learning_rate = variable<float, once, 1>{&b, rate};
      minimizer<Opt>(made, b, cost, 0).record();
    };
    if (!calls_.emplace(g.seed, std::move(call)).second) fail_at(*g.seed, "expected one call");
  }
  template <class Opt, class T>
  static void set(Opt& opt, T Opt::*member, double value, const char* name, minimize_call& call) {
    const T usual = opt.*member;
    if constexpr (__is_same(T, bool))
      opt.*member = value != 0;
    else
      opt.*member = static_cast<T>(value);
    if (opt.*member != usual)
      call.options.push_back(std::string(".") + name + " = " + option_text(opt.*member));
  }

  update_facts facts_of(const minimize_group& g, const operator_desc& u) {
    const int parameter = input(u, "Param");
    if (!is_parameter(parameter))
      fail_at(u, "expected the update of a parameter, found that of another variable");
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const auto real = [&](const char* name) { return static_cast<float>(number(u, name)); };
    update_facts f{parameter, real("learning_rate"), {}, {}};
    if (const int scale = input(u, "GradientScale"); scale >= 0) {
      for (const operator_desc* s : g.scales)
        if (output(*s, "Out") == scale)
          f.clip = number(*s, "global") != 0
                       ? clip_by_global_norm(static_cast<float>(number(*s, "max_norm")))
                       : clip_by_norm(static_cast<float>(number(*s, "max_norm")));
    } else if (real("clip_low") != -infinity || real("clip_high") != infinity) {
      f.clip = clip_by_value(real("clip_low"), real("clip_high"));
    }
    if (real("l1_decay") != 0) f.decay = l1_decay(real("l1_decay"));
    if (real("l2_decay") != 0) f.decay = l2_decay(real("l2_decay"));
    return f;
  }

  static bool same(const regularizer& a, const regularizer& b) {
    return a.kind == b.kind && a.coefficient == b.coefficient;
  }
  static bool same(const gradient_clip& a, const gradient_clip& b) {
    return a.kind == b.kind && a.low == b.low && a.high == b.high;
  }
  /// If an option has the same value in all updates, makes it an option of the optimizer; otherwise
  /// an option of each parameter.
  template <class T, class Text>
  void share(const std::vector<update_facts>& facts, T update_facts::*of, T parameter_options::*own,
             T& option, const Text& text, const char* name, minimize_call& call) {
    bool all = true;
    for (const update_facts& f : facts) all = all && same(f.*of, facts[0].*of);
    if (all) {
      option = facts[0].*of;
      if (!same(option, T{})) call.options.push_back(name + text(option));
      return;
    }
    for (const update_facts& f : facts)
      if (!same(f.*of, T{})) own_[f.parameter].*own = f.*of;
  }

  void find_rate(const minimize_group& g, minimize_call& call, optimizer::learning_rate& rate,
                 const std::vector<update_facts>& facts) {
    const int read = input(*g.updates[0], "StepLearningRate");
    if (g.product != nullptr) {
      call.rate = input(*g.product, "X");
    } else if (g.schedule == nullptr && read >= 0) {
      call.rate = read;
    }
    if (call.rate >= 0) {
      const variable_desc& v = p_.variables[call.rate];
      if (dims_of(call.rate) != std::vector{1} || v.type != dtype::float32)
        fail_at(*g.updates[0],
                "expected a learning rate of one float, found '" + name_of(call.rate) + "'");
    } else if (g.schedule != nullptr) {
      schedule(*g.schedule, call, rate);
    } else {
      constant(g, call, rate, facts);
      return;
    }
    for (const update_facts& f : facts) set_factor(g, f.parameter, f.rate);
  }
  void set_factor(const minimize_group& g, int parameter, float factor) {
    const auto [place, is_new] = factors_.emplace(parameter, factor);
    if (!is_new && place->second != factor)
      fail_at(*g.seed, "expected one factor of the learning rate of '" + name_of(parameter) +
                           "' in all calls of minimize, found two");
    if (factor != 1) own_[parameter].learning_rate = factor;
  }
  void schedule(const operator_desc& op, minimize_call& call, optimizer::learning_rate& rate) {
    const auto whole = [&](const char* name) {
      const double found = number(op, name);
      if (!(std::abs(found) < 9e15))
        fail_at(op, std::string("expected a whole number as '") + name + "', found another");
      return static_cast<std::int64_t>(found);
    };
    const auto real = [&](const char* name) { return static_cast<float>(number(op, name)); };
    schedule_attributes s{static_cast<optimizer::schedule_kind>(whole("kind")),
                          number(op, "flag") != 0,
                          real("learning_rate"),
                          number(op, "a"),
                          number(op, "b"),
                          whole("m"),
                          whole("n"),
                          whole("warmup_steps"),
                          real("warmup_start"),
                          real("warmup_end"),
                          {},
                          {}};
    for (const int i : list(op, "boundaries")) s.boundaries.push_back(i);
    if (const int i = attribute(op, "values"); i >= 0 && op.attributes >= 0) {
      const attribute_value v = value(op, i);
      s.values.assign(p_.reals + v.offset, p_.reals + v.offset + v.count);
    }
    try {
      learning_rate_text made = learning_rate_of(s);
      if (made.text.empty())
        fail_at(op, "expected a schedule of the library, found kind " +
                        number_text(number(op, "kind")));
      rate = made.rate;
      call.options.push_back(".learning_rate = " + made.text);
    } catch (const format_error&) {
      throw;
    } catch (const error& e) {
      fail_at(op, std::string("expected the arguments of a schedule, found others: ") + e.what());
    }
  }
  /// Makes the most frequent learning rate of the updates the rate of the optimizer, and writes the
  /// rates of other parameters as factors on it.
  void constant(const minimize_group& g, minimize_call& call, optimizer::learning_rate& rate,
                const std::vector<update_facts>& facts) {
    std::map<float, int> counts;
    float base = facts[0].rate;
    for (const update_facts& f : facts)
      if (const int n = ++counts[f.rate]; n > counts[base]) base = f.rate;
    for (const update_facts& f : facts) {
      float factor = base == 0 ? 1 : f.rate / base;
      const float close[] = {factor, std::nextafter(factor, 0.f),
                             std::nextafter(factor, 2 * factor)};
      for (const float n : close)
        if (base * n == f.rate) {
          factor = n;
          break;
        }
      set_factor(g, f.parameter, factor);
    }
    rate = base;
    call.options.push_back(".learning_rate = " + option_text(base));
  }

  std::map<const operator_desc*, minimize_call> calls_;
  std::map<int, parameter_options> own_;
  std::map<int, float> factors_;  // for each parameter, its factor on the learning rate
  std::set<int> written_options_;
  std::vector<bool> is_made_;  // whether only calls of minimize write each variable
};

}}}  // namespace lamina::detail

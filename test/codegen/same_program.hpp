// SPDX-License-Identifier: Apache-2.0
// test/codegen/same_program.hpp - whether two programs are the same but for names that nobody
// gave.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/fluid/prune_message.hpp>
#include <lamina/io/program_desc_proto.hpp>

namespace same_program {

/// Compares programs operator by operator: types, slots, attributes, the types and shapes of
/// variables. Parameters, inputs and named layers must have equal names, the names of other results
/// (those with ".tmp_" in them) may differ in their numbers.
class comparison {
 public:
  /// What differs first; empty if nothing does.
  static std::string of(const lamina::program_message& a, const lamina::program_message& b) {
    return comparison(a, b).found_;
  }

 private:
  comparison(const lamina::program_message& a, const lamina::program_message& b) : a_(a), b_(b) {
    if (a.blocks.size() != b.blocks.size()) differ("number of blocks", "", "");
    for (std::size_t i = 0; i < a.blocks.size() && found_.empty(); ++i) {
      const auto &x = a.blocks[i].operators, &y = b.blocks[i].operators;
      for (std::size_t k = 0; k < x.size() && k < y.size() && found_.empty(); ++k)
        compare(x[k], y[k]);
      if (found_.empty() && x.size() != y.size())
        differ("number of operators", std::to_string(x.size()), std::to_string(y.size()));
    }
  }
  void differ(const std::string& what, const std::string& x, const std::string& y) {
    if (found_.empty()) found_ = what + ": " + x + ", " + y;
  }
  static std::string base(std::string name) {
    name = name.substr(0, name.find("@BLOCK"));
    for (std::size_t at; (at = name.find(".tmp_")) != std::string::npos;)
      name.erase(at, (std::min)(name.find('@', at), name.size()) - at);
    return name;
  }

  void compare(const lamina::operator_message& x, const lamina::operator_message& y) {
    if (x.type != y.type) return differ("operator", x.type, y.type);
    compare(x.type, x.inputs, y.inputs, true);
    compare(x.type, x.outputs, y.outputs, false);
    for (const lamina::attribute_message& m : x.attributes) {
      const lamina::attribute_message* n = y.attribute(m.name);
      if (n == nullptr)
        differ(x.type + ": attribute", m.name, "none");
      else if (lamina::detail::bytes_of(m) != lamina::detail::bytes_of(*n))
        differ(x.type + ": attribute " + m.name, value(m), value(*n));
    }
  }
  static std::string value(const lamina::attribute_message& m) {
    std::string all = m.text + " " + std::to_string(m.integer) + " " + std::to_string(m.real);
    for (const auto i : m.integers) all += " " + std::to_string(i);
    for (const auto r : m.reals) all += " " + std::to_string(r);
    return all;
  }
  void compare(const std::string& type, const std::vector<lamina::slot_message>& x,
               const std::vector<lamina::slot_message>& y, bool input) {
    for (const lamina::slot_message& s : x) {
      const lamina::slot_message* other = nullptr;
      for (const lamina::slot_message& t : y)
        if (t.slot == s.slot) other = &t;
      const std::size_t n = other == nullptr ? 0 : other->arguments.size();
      if (s.arguments.size() != n) {
        // Results that nothing reads may be left out.
        if (!input && n == 0) continue;
        return differ(type + ": variables in " + s.slot, std::to_string(s.arguments.size()),
                      std::to_string(n));
      }
      for (std::size_t i = 0; i < n; ++i) same(type, s.arguments[i], other->arguments[i]);
    }
  }
  void same(const std::string& type, const std::string& x, const std::string& y) {
    if (x == "@EMPTY@" && y == x) return;
    const auto [found, is_new] = named_.emplace(x, y);
    if (!is_new) {
      if (found->second != y) differ(type + ": variable " + x, found->second, y);
      return;
    }
    if (base(x) != base(y)) differ(type + ": name", x, y);
    const lamina::variable_message *v = variable(a_, x), *w = variable(b_, y);
    if (v == nullptr || w == nullptr) return differ(type + ": no variable", x, y);
    if (v->type != w->type || v->kind != w->kind || v->persistable != w->persistable)
      differ(type + ": type of variable", x, y);
    if (v->dims != w->dims || v->lod_level != w->lod_level)
      differ(type + ": shape of variable", x + " " + std::string(lamina::text().list(v->dims)),
             y + " " + std::string(lamina::text().list(w->dims)));
  }

  static const lamina::variable_message* variable(const lamina::program_message& m,
                                                  const std::string& name) {
    for (const lamina::block_message& b : m.blocks)
      if (const lamina::variable_message* found = b.find(name)) return found;
    return nullptr;
  }

  const lamina::program_message &a_, &b_;
  std::map<std::string, std::string> named_;
  std::string found_;
};

/// A recorded program with the feed and fetch operators that its inference file has.
inline lamina::program_message as_saved(const lamina::program_view& p) {
  std::vector<std::string> feeds, fetches;
  for (int i = 0; i < p.count.data; ++i) feeds.push_back(lamina::variable_name(p, p.data[i]));
  for (int i = 0; i < p.count.outputs; ++i)
    fetches.push_back(lamina::variable_name(p, p.outputs[i]));
  lamina::program_message m = lamina::to_program_message(p);
  lamina::add_feed_and_fetch(m, feeds, fetches);
  return m;
}

}  // namespace same_program

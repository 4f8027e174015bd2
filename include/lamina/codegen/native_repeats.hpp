// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_repeats.hpp - converts repeated runs of statements (sequences of
// consecutive statements) to functions.
//
// Two runs are equal if their statements are equal, except for C++ names and for literals that name
// layers and parameters, and if each uses the results of its own statements at the same positions.
// Results of statements before the run become arguments of the function, and so do parts of names
// that differ. Sizes of layers that differ become template arguments. First, the run that saves the
// most lines becomes a function; this is repeated until no run saves lines. A call counts as two
// lines, so that few long functions are preferred to many short ones. Bodies of functions and of
// loops are searched too.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/codegen/native_run_names.hpp>
#include <lamina/codegen/native_statement.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Finds repeated runs and replaces them by calls.
class native_repeats {
 public:
  /// `name` is the prefix of the names of the functions. `taken` are the C++ names of the program.
  /// `has_bodies` tells whether the program has loops or branches.
  native_repeats(std::string name, std::set<std::string>& taken, bool has_bodies)
      : name_(std::move(name)), taken_(taken), has_bodies_(has_bodies) {}

  /// Returns the statements, with calls of functions in place of repeated runs.
  std::vector<native_statement> shortened(std::vector<native_statement> all) {
    for (native_statement& s : all)
      if (!s.body.empty()) s.body = shortened(std::move(s.body));
    for (;;) {
      const runs found = best(all);
      if (found.begins.empty()) return all;
      all = replaced(all, found);
    }
  }
  /// Returns the text of the functions; each is defined before its callers.
  const std::string& functions() const { return functions_; }

 private:
  /// Equal runs, which become one function: where each begins, and their length in statements.
  struct runs {
    std::vector<std::size_t> begins;
    std::size_t length = 0;
  };
  /// The sizes of layers in several equal runs. Sizes that differ become template arguments, and so
  /// do template arguments of the function in which the runs are.
  class run_sizes {
   public:
    /// sizes[r] are the sizes in run r, in order.
    run_sizes(const std::vector<std::vector<std::string>>& sizes, std::set<std::string>& local) {
      for (std::size_t n = 0; n < sizes[0].size(); ++n) {
        std::vector<std::string> values;
        for (const std::vector<std::string>& run : sizes) values.push_back(run[n]);
        const bool same = std::set<std::string>(values.begin(), values.end()).size() == 1;
        if (same && values[0].find_first_not_of("0123456789") == std::string::npos) {
          expressions_.push_back(values[0]);
          continue;
        }
        const auto [known, is_new] = parameters_.emplace(values, "");
        if (is_new) {
          known->second = new_local(local, "size");
          order_.push_back(&*known);
        }
        expressions_.push_back(known->second);
      }
    }
    /// Returns the expression that the function has in place of size n.
    const std::string& expression(std::size_t n) const { return expressions_[n]; }
    /// Returns the line before the function; empty if there are no template arguments.
    std::string declaration() const {
      std::string list;
      for (const auto* const p : order_) list += (list.empty() ? "int " : ", int ") + p->second;
      return list.empty() ? list : wrapped("template <" + list + ">", 0);
    }
    /// Returns the template arguments of the call that replaces a run, with marks.
    std::string arguments(std::size_t run) const {
      std::string list;
      for (const auto* const p : order_)
        list += (list.empty() ? "" : ", ") + native_statement::size(p->first[run]);
      return list.empty() ? list : "<" + list + ">";
    }

   private:
    std::map<std::vector<std::string>, std::string> parameters_;
    std::vector<const std::pair<const std::vector<std::string>, std::string>*> order_;
    std::vector<std::string> expressions_;
  };
  /// The parts of a statement that are compared: `text` is the number of its text without names;
  /// `origins` has, for each C++ name in it, the distance to the statement that made the name, and
  /// the index of the name in that statement.
  struct outline {
    std::size_t text;
    std::vector<std::pair<std::size_t, std::size_t>> origins;
  };
  static constexpr std::size_t longest = 200, never = ~std::size_t{0};

  std::vector<outline> outlines(const std::vector<native_statement>& all) const {
    std::map<std::string, std::size_t> texts;
    std::map<std::string, std::pair<std::size_t, std::size_t>, std::less<>> made;
    std::vector<outline> found;
    for (std::size_t k = 0; k < all.size(); ++k) {
      outline o{};
      o.text = texts.emplace(text_without_words(all[k]), texts.size()).first->second;
      all[k].each_word([&](char mark, std::string_view word, bool is_made) {
        if (mark != native_statement::identifier_mark) return;
        if (is_made) made.emplace(word, std::pair{k, o.origins.size()});
        const auto place = made.find(word);
        if (place == made.end())
          o.origins.emplace_back(never, never);
        else
          o.origins.emplace_back(k - place->second.first, place->second.second);
      });
      found.push_back(std::move(o));
    }
    return found;
  }
  static std::string text_without_words(const native_statement& s) {
    std::string text =
        s.with_words([](char mark, std::string_view) { return std::string(1, mark); }).text;
    for (const native_statement& inner : s.body) text += '\n' + text_without_words(inner);
    return text + s.end;
  }
  // Whether the runs of this length that begin at a and b are equal.
  static bool equal(const std::vector<outline>& all, std::size_t a, std::size_t b,
                    std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) {
      const outline &x = all[a + i], &y = all[b + i];
      if (x.text != y.text || x.origins.size() != y.origins.size()) return false;
      for (std::size_t n = 0; n < x.origins.size(); ++n) {
        const bool inside = x.origins[n].first <= i;
        if (inside != (y.origins[n].first <= i) || (inside && x.origins[n] != y.origins[n]))
          return false;
      }
    }
    return true;
  }
  // Whether a run consists of shorter runs that are equal, or whether the statements from the first
  // run to the last run repeat with a shorter period. A shorter run is then better.
  static bool repeats_itself(const std::vector<outline>& all, const runs& r) {
    const std::size_t begin = r.begins[0], end = r.begins.back() + r.length;
    for (std::size_t part = 1; part <= r.length / 2; ++part)
      if (r.length % part == 0 && equal(all, begin, begin + part, r.length - part)) return true;
    for (std::size_t part = 1; r.begins.size() > 1 && part < r.begins[1] - begin; ++part)
      if ((r.begins[1] - begin) % part == 0 && equal(all, begin, begin + part, end - begin - part))
        return true;
    return false;
  }
  // Returns the runs that save the most lines; empty if none saves any.
  runs best(const std::vector<native_statement>& all) const {
    const std::vector<outline> outlined = outlines(all);
    std::vector<std::size_t> count(all.size() + 1, 0);  // how often a text occurs
    for (const outline& o : outlined) ++count[o.text];
    runs found;
    std::ptrdiff_t most = (std::numeric_limits<std::ptrdiff_t>::min)();
    for (std::size_t length = 2; length <= longest && 2 * length <= all.size(); ++length) {
      std::map<std::size_t, std::vector<runs>> groups;  // runs by hash of their text
      for (std::size_t i = 0; i + length <= all.size(); ++i) {
        std::size_t hash = 0, calls = 0, unlike = never;
        for (std::size_t k = i; k < i + length; ++k) {
          if (count[outlined[k].text] < 2 || all[k].is_last) unlike = k;
          calls += all[k].is_call ? 1U : 0U;
          hash = hash * 1000003 + outlined[k].text;
        }
        if (unlike != never) {
          i = unlike;
          continue;
        }
        if (calls == length) continue;
        std::vector<runs>& group = groups[hash];
        bool known = false;
        for (runs& r : group) {
          if (!equal(outlined, r.begins[0], i, length)) continue;
          known = true;
          if (r.begins.back() + length <= i) r.begins.push_back(i);
          break;
        }
        if (!known) group.push_back({{i}, length});
      }
      for (const auto& [hash, group] : groups)
        for (const runs& r : group) {
          const auto n = static_cast<std::ptrdiff_t>(r.begins.size()),
                     l = static_cast<std::ptrdiff_t>(length);
          // The lines that the calls save, minus the lines of the function and of the calls.
          const std::ptrdiff_t saved = n * l - (l + n + 3);
          if (saved > 0 && saved - n > most && !repeats_itself(outlined, r)) {
            most = saved - n;
            found = r;
          }
        }
    }
    return found;
  }

  /// Replaces runs by calls of a function, and writes this function.
  std::vector<native_statement> replaced(const std::vector<native_statement>& all,
                                         const runs& found) {
    const std::size_t count = found.begins.size();
    std::vector<std::vector<std::string>> words(count);  // for each run, its C++ names, in order
    // For each run, the literals of names, in order.
    std::vector<std::vector<std::string>> names(count), sizes(count);
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t i = 0; i < found.length; ++i)
        all[found.begins[r] + i].each_word([&](char mark, std::string_view word, bool) {
          (mark == native_statement::identifier_mark ? words
           : mark == native_statement::size_mark     ? sizes
                                                     : names)[r]
              .emplace_back(word);
        });
    // For each name, the statement that makes it (or `never`) and the last statement that uses it.
    std::map<std::string, std::pair<std::size_t, std::size_t>> lives;
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k].each_word([&](char mark, std::string_view word, bool is_made) {
        if (mark == native_statement::identifier_mark)
          lives.try_emplace(std::string(word), is_made ? k : never, k).first->second.second = k;
      });

    std::set<std::string> local;  // names in the function
    // For each name that the first run makes, its name in the function.
    std::map<std::string, std::string> own;
    // For each result of the function, its index in words[0].
    std::vector<std::size_t> returned;
    std::vector<std::pair<std::string, std::size_t>> parameters;  // their names, their positions
    std::map<std::vector<std::string>, std::string> known;        // keys: the arguments of all runs
    std::vector<std::string> in_function;                         // names in the function
    local.insert({"layer", "lamina", "std"});
    const native_run_names run_names(names, local);
    const run_sizes run_size(sizes, local);
    for (std::size_t w = 0; w < words[0].size(); ++w) {
      const auto& [made, used] = lives.at(words[0][w]);
      if (made != never && made >= found.begins[0] && made < found.begins[0] + found.length) {
        const auto [place, is_new] = own.emplace(words[0][w], "");
        if (is_new) {
          place->second = new_local(local, without_number(words[0][w]));
          bool outside = false;
          for (std::size_t r = 0; r < count; ++r)
            outside = outside || lives.at(words[r][w]).second >= found.begins[r] + found.length;
          if (outside) returned.push_back(w);
        }
        in_function.push_back(place->second);
        continue;
      }
      std::vector<std::string> arguments;
      for (std::size_t r = 0; r < count; ++r) arguments.push_back(words[r][w]);
      const auto [place, is_new] = known.emplace(arguments, "");
      if (is_new) {
        const bool is_block = native_statement::is_block_name(words[0][w]);
        if (is_block)
          for (int i = 0; place->second.empty(); ++i)
            if (const std::string name = native_statement::block_name(i); local.insert(name).second)
              place->second = name;
        parameters.emplace_back(is_block ? place->second : "", w);
      }
      in_function.push_back("");
    }
    // The names of arguments: x, y, z.
    std::size_t handles = 0;
    for (auto& [name, w] : parameters) {
      if (!name.empty()) continue;
      constexpr const char* usual[] = {"x", "y", "z"};
      name = handles < 3 ? new_local(local, usual[handles]) : new_local(local, "more");
      ++handles;
    }
    for (std::size_t w = 0; w < words[0].size(); ++w) {
      if (!in_function[w].empty()) continue;
      for (const auto& [name, place] : parameters) {
        bool same = true;
        for (std::size_t r = 0; r < count; ++r) same = same && words[r][w] == words[r][place];
        if (same) in_function[w] = name;
      }
    }

    const std::string function = new_function();
    write(function, all, found, in_function, run_names, run_size, parameters, words[0], returned);
    std::vector<native_statement> made;
    for (std::size_t k = 0, r = 0; k < all.size();) {
      if (r == count || k != found.begins[r]) {
        made.push_back(all[k++]);
        continue;
      }
      call(made, function + run_size.arguments(r), words[r], parameters, run_names.arguments(r),
           returned, lives, k + found.length);
      k += found.length;
      ++r;
    }
    return made;
  }

  /// Returns "block_norm" for "block_0_norm_2".
  static std::string without_number(const std::string& name) {
    std::string made;
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::size_t end = i + 1;
      while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
      const bool is_part = name[i] == '_' && end > i + 1 && !made.empty();
      if (is_part && (end == name.size() || name[end] == '_'))
        i = end - 1;
      else
        made += name[i];
    }
    return identifier_of(made);
  }
  /// Returns the name of a node with '*' in place of numbers that differ between two runs; an empty
  /// text if more than numbers differs.
  static std::string common_source(std::string_view a, std::string_view b) {
    std::string made;
    const auto number = [](std::string_view& text) {
      std::size_t n = text.starts_with('*') ? 1 : 0;
      while (n < text.size() && text[n] >= '0' && text[n] <= '9') ++n;
      const std::string_view digits = text.substr(0, n);
      text.remove_prefix(n);
      return digits;
    };
    while (!a.empty() && !b.empty()) {
      const std::string_view x = number(a), y = number(b);
      if (x.empty() != y.empty()) return {};
      if (x.empty() && a[0] != b[0]) return {};
      made += x == y ? x : "*";
      if (!x.empty()) continue;
      made += a[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
    return a.empty() && b.empty() ? made : std::string();
  }
  static std::string new_local(std::set<std::string>& local, const std::string& wanted) {
    std::string made = wanted;
    for (int i = 2; !local.insert(made).second; ++i) made = wanted + "_" + std::to_string(i);
    return made;
  }
  std::string new_function() {
    std::string made = name_;
    for (int i = 2; !taken_.insert(made).second; ++i) made = name_ + "_" + std::to_string(i);
    return made;
  }

  void write(const std::string& function, const std::vector<native_statement>& all,
             const runs& found, const std::vector<std::string>& in_function,
             const native_run_names& run_names, const run_sizes& run_size,
             const std::vector<std::pair<std::string, std::size_t>>& parameters,
             const std::vector<std::string>& words, const std::vector<std::size_t>& returned) {
    std::string list;
    for (const auto& [name, w] : parameters) {
      const bool is_block = native_statement::is_block_name(words[w]);
      list += (list.empty() ? "" : ", ") + ((is_block ? "lamina::block& " : "const auto& ") + name);
    }
    for (const std::string& parameter : run_names.parameters())
      list += (list.empty() ? "" : ", ") + parameter;
    std::vector<native_statement> body;
    std::size_t w = 0, n = 0, s = 0;
    for (std::size_t i = 0; i < found.length; ++i) {
      body.push_back(all[found.begins[0] + i].with_words([&](char mark, std::string_view) {
        if (mark == native_statement::identifier_mark)
          return native_statement::identifier(in_function[w++]);
        if (mark == native_statement::size_mark)
          return native_statement::size(run_size.expression(s++));
        return run_names.expression(n++);
      }));
      for (const std::size_t begin : found.begins)
        body.back().source = common_source(body.back().source, all[begin + i].source);
    }
    if (!returned.empty()) {
      std::string results;
      for (const std::size_t place : returned)
        results += (results.empty() ? "" : ", ") + native_statement::identifier(in_function[place]);
      if (returned.size() > 1) results = "std::tuple{" + results + "}";
      body.push_back({"return " + results + ";"});
      body.back().is_last = true;
    }
    // The body may contain repeated runs too; their functions are written before this function.
    body = shortened(std::move(body));
    std::string text = run_size.declaration();
    text += wrapped("constexpr " + std::string(returned.empty() ? "void " : "auto ") + function +
                        "(" + list + ") {",
                    0) +
            "  namespace layer = lamina::layer;\n";
    text += native_statement::lines_of(body, 2);
    functions_ += "// Called " + std::to_string(found.begins.size()) + " times.\n" + text + "}\n\n";
  }

  void call(std::vector<native_statement>& to, const std::string& function,
            const std::vector<std::string>& words,
            const std::vector<std::pair<std::string, std::size_t>>& parameters,
            const std::vector<std::string>& names, const std::vector<std::size_t>& returned,
            const std::map<std::string, std::pair<std::size_t, std::size_t>>& lives,
            std::size_t end) {
    std::string list, left;
    bool read = false;
    for (const auto& [name, w] : parameters)
      list += (list.empty() ? "" : ", ") + native_statement::identifier(words[w]);
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    for (const std::size_t w : returned) {
      left += (left.empty() ? "" : ", ") + native_statement::identifier(words[w]);
      read = read || lives.at(words[w]).second >= end;
    }
    const std::string text = function + "(" + list + ");";
    const auto add = [&](const std::string& statement) {
      to.push_back({statement});
      to.back().is_call = true;
    };
    if (!read) return add(text);
    if (returned.size() == 1) return add("auto " + left + " = " + text);
    if (!has_bodies_) return add("auto [" + left + "] = " + text);
    // clang 14 cannot capture structured bindings in the lambda of a body.
    std::string all = words[returned[0]] + "_all";
    while (!taken_.insert(all).second) all += "_";
    all = native_statement::identifier(all);
    add("auto " + all + " = " + text);
    for (std::size_t i = 0; i < returned.size(); ++i)
      if (lives.at(words[returned[i]]).second >= end)
        add("auto " + native_statement::identifier(words[returned[i]]) + " = std::get<" +
            std::to_string(i) + ">(" + all + ");");
  }

  std::string name_;
  std::set<std::string>& taken_;
  bool has_bodies_;
  std::string functions_;
};

}}}  // namespace lamina::detail

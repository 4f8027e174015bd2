// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/emulated/ptx_module.hpp - the text of PTX: variables, kernels, instructions with
// their operands.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "engine/cuda/emulated/ptx_kernel.hpp"

namespace test::emulated {

namespace detail {

[[noreturn]] inline void fail(const std::string& what, std::string_view where) {
  throw std::runtime_error("ptx: " + what + " in '" + std::string(where.substr(0, 200)) + "'");
}
inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%';
}
inline std::string_view trim(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}
inline std::vector<std::string_view> split(std::string_view s, char at) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= s.size(); ++i) {
    if (i < s.size() && (s[i] == '{' || s[i] == '[' || s[i] == '(')) ++depth;
    if (i < s.size() && (s[i] == '}' || s[i] == ']' || s[i] == ')')) --depth;
    if (i == s.size() || (s[i] == at && depth == 0)) {
      parts.push_back(trim(s.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return parts;
}
inline std::size_t number(std::string_view s) {
  std::size_t n = 0;
  const auto r = std::from_chars(s.data(), s.data() + s.size(), n);
  if (r.ec != std::errc{}) fail("expected a number", s);
  return n;
}
inline std::size_t bytes_of(std::string_view type) {
  if (type.ends_with("64")) return 8;
  if (type.ends_with("32")) return 4;
  if (type.ends_with("16")) return 2;
  if (type.ends_with("8")) return 1;
  fail("expected a type", type);
}
inline std::size_t up(std::size_t n, std::size_t align) { return (n + align - 1) / align * align; }

/// A declaration of a variable: `.shared .align 4 .b8 name[32] = {...}`.
struct declaration {
  std::string_view name, values;
  std::size_t element = 1, count = 1, align = 1;
};
inline declaration read_declaration(std::string_view s) {
  declaration d;
  if (const auto equals = s.find('='); equals != s.npos) {
    d.values = trim(s.substr(equals + 1));
    s = trim(s.substr(0, equals));
  }
  std::vector<std::string_view> words;
  for (const std::string_view word : split(s, ' '))
    for (const std::string_view part : split(word, '\t'))
      if (!part.empty()) words.push_back(part);
  d.align = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == ".align") {
      d.align = number(words[++i]);
    } else if (words[i].size() > 2 && std::strchr("bufs", words[i][1]) != nullptr &&
               words[i][2] >= '0' && words[i][2] <= '9') {
      d.element = bytes_of(words[i]);
    }
  }
  d.name = words.back();
  if (const auto bracket = d.name.find('['); bracket != d.name.npos) {
    const std::string_view n = d.name.substr(bracket + 1, d.name.find(']') - bracket - 1);
    d.count = n.empty() ? 0 : number(n);
    d.name = d.name.substr(0, bracket);
  }
  if (d.align == 0) d.align = d.element;
  return d;
}

inline std::string without_comments(const std::string& text) {
  std::string kept = text;
  for (std::size_t i = 0; (i = kept.find("//", i)) != kept.npos;)
    for (; i < kept.size() && kept[i] != '\n'; ++i) kept[i] = ' ';
  return kept;
}

}  // namespace detail

inline void read_module(module& to, std::string text) {
  using namespace detail;
  to.text = without_comments(text);
  const std::string_view all = to.text;
  std::size_t i = 0;
  while (i < all.size()) {
    if (is_space(all[i])) {
      ++i;
      continue;
    }
    const std::size_t line = std::min(all.find('\n', i), all.size());
    const std::string_view start = all.substr(i, line - i);
    if (start.starts_with(".version") || start.starts_with(".target") ||
        start.starts_with(".address_size")) {
      i = line;
      continue;
    }
    const std::size_t entry = start.find(".entry ");
    if (entry == start.npos) {
      const std::size_t end = all.find(';', i);
      if (end == all.npos) fail("expected a declaration", start);
      const std::string_view s = trim(all.substr(i, end - i));
      i = end + 1;
      if (s.find(".func") != s.npos && s.starts_with(".extern")) continue;
      const declaration d = read_declaration(s);
      if (s.find(".shared") != s.npos) {
        to.shared[std::string(d.name)] = {d.element * d.count, d.align};
        if (s.starts_with(".extern")) to.extern_shared = d.name;
      } else if (s.find(".global") != s.npos || s.find(".const") != s.npos) {
        const std::size_t bytes = std::max<std::size_t>(1, d.element * d.count);
        to.storage.push_back(std::make_unique<char[]>(bytes + 16));
        char* p = to.storage.back().get();
        p += (16 - reinterpret_cast<std::uintptr_t>(p) % 16) % 16;
        std::memset(p, 0, bytes);
        if (!d.values.empty()) {
          std::string_view v = d.values;
          if (v.front() == '{') v = v.substr(1, v.size() - 2);
          std::size_t n = 0;
          for (const std::string_view value : split(v, ',')) {
            const std::uint64_t x = number(value);
            std::memcpy(p + d.element * n++, &x, d.element);
          }
        }
        to.global[std::string(d.name)] = reinterpret_cast<std::uintptr_t>(p);
        to.ranges.push_back({p, bytes});
      } else {
        fail("expected a variable", s);
      }
      continue;
    }
    const std::size_t name = i + entry + 7;
    std::size_t end = name;
    while (is_name(all[end])) ++end;
    const std::size_t open = all.find('{', end);
    std::size_t close = open;
    for (int depth = 0;; ++close) {
      if (all[close] == '{') ++depth;
      if (all[close] == '}' && --depth == 0) break;
    }
    kernel k;
    k.name = all.substr(name, end - name);
    k.heading = all.substr(end, open - end);
    k.source = all.substr(open + 1, close - open - 1);
    to.kernels.emplace(k.name, std::move(k));
    i = close + 1;
  }
}

namespace detail {

struct decoder {
  const module& m;
  kernel& k;

  struct family {
    int begin, count;
    bool predicate;
  };
  struct scope {
    std::map<std::string, family, std::less<>> families;
    std::map<std::string, std::pair<int, bool>, std::less<>> names;
  };
  std::vector<scope> scopes{1};
  std::map<std::string, std::uint64_t, std::less<>> symbols;
  std::map<std::string, int, std::less<>> labels;
  std::vector<std::pair<int, std::string>> branches;
  std::map<std::uint64_t, int> constants;

  static constexpr const char* specials[] = {
      "%tid.x",       "%tid.y",       "%tid.z",       "%ntid.x",      "%ntid.y",
      "%ntid.z",      "%ctaid.x",     "%ctaid.y",     "%ctaid.z",     "%nctaid.x",
      "%nctaid.y",    "%nctaid.z",    "%laneid",      "%lanemask_lt", "%lanemask_le",
      "%lanemask_eq", "%lanemask_ge", "%lanemask_gt", "%warpid",      "%clock"};

  void read_parameters() {
    const auto open = k.heading.find('('), close = k.heading.find(')');
    std::size_t offset = 0;
    const std::string_view all = trim(k.heading.substr(open + 1, close - open - 1));
    if (!all.empty())
      for (const std::string_view p : split(all, ',')) {
        const declaration d = read_declaration(p);
        offset = up(offset, d.align);
        symbols[std::string(d.name)] = offset;
        k.parameters.push_back({offset, d.element * d.count});
        offset += d.element * d.count;
      }
    k.parameter_bytes = offset;
    if (const auto most = k.heading.find(".maxntid"); most != k.heading.npos) {
      std::string_view s = trim(k.heading.substr(most + 8));
      k.most_threads = 1;
      for (const std::string_view n : split(s.substr(0, s.find('\n')), ','))
        k.most_threads *= static_cast<int>(number(n));
    }
  }
  void declare(std::string_view s) {
    if (s.starts_with(".pragma") || s.starts_with(".loc ")) return;
    if (s.starts_with(".reg")) {
      std::string_view rest = trim(s.substr(4));
      const std::size_t gap = rest.find_first_of(" \t");
      const bool predicate = rest.substr(0, gap) == ".pred";
      for (std::string_view name : split(rest.substr(gap), ',')) {
        int& used = predicate ? k.predicates : k.registers;
        if (const auto angle = name.find('<'); angle != name.npos) {
          const int n = static_cast<int>(number(name.substr(angle + 1)));
          scopes.back().families[std::string(name.substr(0, angle))] = {used, n, predicate};
          used += n;
        } else {
          scopes.back().names[std::string(name)] = {used++, predicate};
        }
      }
      return;
    }
    const declaration d = read_declaration(s);
    if (s.starts_with(".shared")) {
      k.shared_bytes = up(k.shared_bytes, d.align);
      symbols[std::string(d.name)] = k.shared_bytes;
      k.shared_bytes += d.element * d.count;
    } else if (s.starts_with(".local")) {
      k.local_bytes = up(k.local_bytes, d.align);
      symbols[std::string(d.name)] = k.local_bytes;
      k.local_bytes += d.element * d.count;
    } else {
      fail("expected a declaration that is known", s);
    }
  }
  std::pair<int, bool> find(std::string_view name) const {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
      if (const auto found = scope->names.find(name); found != scope->names.end())
        return found->second;
      std::size_t digits = name.size();
      while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
      if (digits == name.size()) continue;
      const auto found = scope->families.find(name.substr(0, digits));
      if (found == scope->families.end()) continue;
      const int n = static_cast<int>(number(name.substr(digits)));
      if (n < found->second.count) return {found->second.begin + n, found->second.predicate};
    }
    return {-1, false};
  }
  operand constant(std::uint64_t value) {
    const auto [found, added] = constants.emplace(value, static_cast<int>(constants.size()));
    if (added) k.constants.insert(k.constants.end(), 32, value);
    return ~found->second;
  }
  /// A literal's bits: floats are written as they are, f32 constants in a f64 place do not occur.
  bool literal(std::string_view s, std::uint64_t& value) const {
    if (s.starts_with("0f") || s.starts_with("0F") || s.starts_with("0d") || s.starts_with("0D")) {
      value = 0;
      return std::from_chars(s.data() + 2, s.data() + s.size(), value, 16).ec == std::errc{};
    }
    bool negative = false;
    if (s.starts_with("-")) negative = true, s.remove_prefix(1);
    if (s.empty() || s[0] < '0' || s[0] > '9') return false;
    int base = 10;
    if (s.starts_with("0x")) base = 16, s.remove_prefix(2);
    if (s.ends_with("U")) s.remove_suffix(1);
    const auto r = std::from_chars(s.data(), s.data() + s.size(), value, base);
    if (r.ec != std::errc{}) return false;
    if (negative) value = ~value + 1;
    return true;
  }
  bool symbol(std::string_view s, std::uint64_t& value) {
    if (const auto found = symbols.find(s); found != symbols.end()) {
      value = found->second;
      return true;
    }
    if (const auto found = m.global.find(s); found != m.global.end()) {
      value = found->second;
      return true;
    }
    if (s == m.extern_shared && !s.empty()) {
      // Dynamic memory lies behind all other; the machine knows where that is.
      k.extern_shared = true;
      k.shared_bytes = up(k.shared_bytes, 16);
      symbols[std::string(s)] = value = k.shared_bytes;
      return true;
    }
    if (const auto found = m.shared.find(s); found != m.shared.end()) {
      if (k.extern_shared) fail("static shared memory behind the dynamic one", s);
      k.shared_bytes = up(k.shared_bytes, found->second.align);
      symbols[std::string(s)] = value = k.shared_bytes;
      k.shared_bytes += found->second.bytes;
      return true;
    }
    return false;
  }
  operand read(std::string_view s) {
    for (std::size_t i = 0; i < std::size(specials); ++i)
      if (s == specials[i]) return static_cast<operand>(i);
    if (const auto [index, predicate] = find(s); index >= 0) {
      if (predicate) fail("expected no predicate", s);
      return index;
    }
    std::uint64_t value = 0;
    if (literal(s, value) || symbol(s, value)) return constant(value);
    fail("expected an operand", s);
  }
  bool is_predicate(std::string_view s) const {
    if (s.starts_with("!")) s.remove_prefix(1);
    return find(s).second;
  }
  /// Symbols of shared memory have to be placed before the dynamic one.
  void place_shared(std::string_view body) {
    for (const auto& [name, variable] : m.shared) {
      if (name == m.extern_shared) continue;
      std::size_t at = 0;
      while ((at = body.find(name, at)) != body.npos) {
        const char after = at + name.size() < body.size() ? body[at + name.size()] : ' ';
        std::uint64_t value = 0;
        if (!is_name(after) && (at == 0 || !is_name(body[at - 1]))) {
          symbol(name, value);
          break;
        }
        at += name.size();
      }
    }
  }
  void decode_one(std::string_view s);
  void run();
};

inline void decoder::decode_one(std::string_view s) {
  instruction i;
  i.text = static_cast<std::uint32_t>(s.data() - m.text.data());
  i.text_size = static_cast<std::uint32_t>(s.size());
  const std::string_view whole = s;
  if (s.front() == '@') {
    s.remove_prefix(1);
    if (s.front() == '!') i.guard_is_false = true, s.remove_prefix(1);
    const std::size_t gap = s.find_first_of(" \t");
    const auto [index, predicate] = find(s.substr(0, gap));
    if (!predicate) fail("expected a predicate", whole);
    i.guard = index;
    s = trim(s.substr(gap));
  }
  const std::size_t gap = std::min(s.find_first_of(" \t\n"), s.size());
  const std::vector<std::string_view> opcode = split(s.substr(0, gap), '.');
  const std::string_view rest = trim(s.substr(gap));
  std::vector<std::string_view> arguments;
  if (!rest.empty()) arguments = split(rest, ',');
  const auto has = [&](std::string_view word) {
    return std::find(opcode.begin(), opcode.end(), word) != opcode.end();
  };
  const meaning what = meaning_of(opcode);
  i.run = what.run;
  i.ends_group = what.ends_group;
  i.modifier = what.modifier;
  if (opcode[0] == "bra") {
    branches.push_back({static_cast<int>(k.code.size()), std::string(arguments.at(0))});
    k.code.push_back(i);
    return;
  }
  const bool moves = opcode[0] == "ld" || opcode[0] == "st" || opcode[0] == "atom" ||
                     opcode[0] == "red" || opcode[0] == "prefetch";
  if (moves) {
    i.where = has("global")   ? space::global
              : has("shared") ? space::shared
              : has("local")  ? space::local
              : has("param")  ? space::parameter
                              : space::generic;
    i.is_volatile = has("volatile") || has("relaxed") || has("acquire") || has("release") ||
                    opcode[0] == "atom" || opcode[0] == "red";
    i.read_only = has("nc");
    i.vector = has("v2") ? 2 : has("v4") ? 4 : 1;
  }
  int of = 0, to = 0, predicates = 0;
  const bool has_result = opcode[0] != "st" && opcode[0] != "red" && opcode[0] != "bar" &&
                          opcode[0] != "barrier" && opcode[0] != "membar" && opcode[0] != "fence";
  const auto read_source = [&](std::string_view a) {
    if (is_predicate(a)) {
      if (a.starts_with("!")) fail("expected no negated predicate", whole);
      i.predicates[predicates == 0 ? 1 : predicates] = find(a).first;
      predicates = std::max(2, predicates + 1);
    } else {
      i.of[of++] = read(a);
    }
  };
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    std::string_view a = arguments[n];
    const bool result = n == 0 && (has_result || opcode[0] == "bar");
    if (a.starts_with("[")) {
      a = trim(a.substr(1, a.size() - 2));
      const std::size_t plus = a.find('+');
      if (plus != a.npos) {
        std::uint64_t value = 0;
        if (!literal(trim(a.substr(plus + 1)), value)) fail("expected an offset", whole);
        i.offset = static_cast<int>(value);
        a = trim(a.substr(0, plus));
      }
      i.of[of++] = read(a);
    } else if (a.starts_with("{")) {
      for (const std::string_view part : split(a.substr(1, a.size() - 2), ',')) {
        if (result)
          i.to[to++] = part == "_" ? no_operand : read(part);
        else
          i.of[of++] = read(part);
      }
    } else if (result && a.find('|') != a.npos) {
      i.to[to++] = read(a.substr(0, a.find('|')));
      i.predicates[0] = find(a.substr(a.find('|') + 1)).first;
    } else if (result && is_predicate(a)) {
      i.predicates[0] = find(a).first;
      predicates = 1;
    } else if (result && has_result) {
      i.to[to++] = read(a);
    } else {
      read_source(a);
    }
  }
  if (of > 12) fail("expected fewer operands", whole);
  // How many parts of a register are taken apart or put together.
  if (opcode[0] == "mov" && (to > 1 || of > 1)) {
    const meaning parts =
        meaning_of({to > 1 ? "unpack" : "pack", opcode[1], to + of == 3 ? "2" : "4"});
    i.run = parts.run;
    i.modifier = parts.modifier;
  }
  k.code.push_back(i);
}

inline void decoder::run() {
  read_parameters();
  k.registers = static_cast<int>(std::size(specials));
  place_shared(k.source);
  const std::string_view all = k.source;
  std::size_t i = 0;
  while (i < all.size()) {
    const char c = all[i];
    if (is_space(c) || c == ';') {
      ++i;
    } else if (c == '{') {
      scopes.emplace_back();
      ++i;
    } else if (c == '}') {
      scopes.pop_back();
      ++i;
    } else {
      std::size_t end = i;
      while (is_name(all[end])) ++end;
      if (end > i && all[end] == ':') {
        labels[std::string(all.substr(i, end - i))] = static_cast<int>(k.code.size());
        i = end + 1;
        continue;
      }
      end = all.find(';', i);
      const std::string_view s = trim(all.substr(i, end - i));
      i = end + 1;
      if (s.front() == '.')
        declare(s);
      else
        decode_one(s);
    }
  }
  for (const auto& [at, label] : branches) {
    const auto found = labels.find(label);
    if (found == labels.end()) fail("expected a label", label);
    k.code[static_cast<std::size_t>(at)].target = found->second;
  }
  // Whoever falls out of the end is done.
  instruction end;
  const meaning exit = meaning_of({"exit"});
  end.run = exit.run;
  end.ends_group = exit.ends_group;
  k.code.push_back(end);
  k.decoded = true;
}

}  // namespace detail

inline void decode(const module& m, kernel& k) {
  detail::decoder d{m, k, {}, {}, {}, {}, {}};
  d.scopes.resize(1);
  d.run();
}

}  // namespace test::emulated

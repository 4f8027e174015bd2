// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/pickle.hpp - reads dictionaries, lists, texts and arrays from files of Python's
// pickle.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <lamina/core/files/little_endian.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/text_member.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// The values of a pickle of protocol 1 to 4: numbers, texts, tuples, lists, dictionaries, and
/// arrays of bytes of numpy. No code of Python is executed: a file may contain only the Python
/// names that numpy's arrays need, and any other name is an error. Source: Python's pickletools.
class pickle {
 public:
  enum class kind : std::uint8_t {
    none,
    truth,
    number,
    bytes,
    text,
    latin,
    tuple,
    list,
    dictionary,
    name,
    type,
    array
  };
  /// A value. It refers to the bytes of its pickle.
  struct value {
    kind is;
    std::int64_t number = 0;            ///< value of a number or a Boolean
    std::string_view bytes{};           ///< bytes of a bytes value, text, name, or array
    std::vector<std::size_t> items{};   ///< items of a tuple, list, or dictionary (keys and values)
    std::vector<std::int64_t> shape{};  ///< shape of an array
  };

  /// Reads a member, which must outlive this object. Throws format_error for damaged data, and for
  /// a value of any other kind.
  LAMINA_COLD explicit pickle(const text_member& of) : of_(of), all_(of.bytes) { run(); }

  const value& root() const { return values_[root_]; }
  const value& at(std::size_t index) const { return values_[index]; }
  /// If the root of the pickle is a dictionary, returns the value of a key (a text or bytes).
  /// Returns null if there is no such key.
  LAMINA_API LAMINA_COLD const value* find(std::string_view key) const;
  /// Returns the bytes of an array, in row-major order, or of a value of type bytes.
  LAMINA_API LAMINA_COLD std::string bytes_of(const value& array) const;
  [[noreturn]] LAMINA_COLD void fail(const std::string& reason) const {
    of_.fail(0, "pickle: " + reason);
  }

 private:
  std::size_t position_of(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - all_.data());
  }
  [[noreturn]] LAMINA_COLD void fail_here(const std::string& reason) const {
    of_.fail(opcode_, "pickle: " + reason);
  }

  LAMINA_API std::string_view take(std::uint64_t n);
  template <class T>
  T number() {
    return lamina::detail::from_little_endian<T>(take(sizeof(T)).data());
  }
  LAMINA_API std::string_view line();

  void push(value v) {
    stack_.push_back(values_.size());
    values_.push_back(std::move(v));
  }
  void push_number(std::int64_t n) { push({kind::number, n}); }
  void push_bytes(kind is, std::uint64_t n) { push({is, 0, take(n)}); }
  LAMINA_API std::size_t pop();
  /// Pops and returns the values that were pushed after the last mark.
  LAMINA_API std::vector<std::size_t> pop_marked();
  void push_tuple(std::size_t n) {
    std::vector<std::size_t> items(n);
    while (n-- > 0) items[n] = pop();
    push({kind::tuple, 0, {}, std::move(items)});
  }
  LAMINA_API void append(kind to, const std::vector<std::size_t>& items);
  void remember(std::uint64_t as) {
    const std::size_t top = pop();
    memory_[as] = top;
    stack_.push_back(top);
  }
  LAMINA_API void recall(std::uint64_t as);

  /// Pushes a name of Python. Throws format_error unless arrays of numpy need this name.
  LAMINA_API void push_name(std::string_view module, std::string_view name);
  /// Pushes the value that a call of one of these names makes.
  LAMINA_API void call();
  /// Sets the shape and bytes of an array from its state, the tuple (version, shape, type, whether
  /// it is column-major, bytes).
  LAMINA_API void build();

  LAMINA_API LAMINA_COLD void run();
  void step(char code);

  const text_member& of_;
  std::string_view all_;
  std::size_t at_ = 0, opcode_ = 0, root_ = 0;
  std::vector<value> values_;
  std::vector<std::size_t> stack_;  // indices into values_
  std::vector<std::size_t> marks_;  // sizes of stack_
  std::unordered_map<std::uint64_t, std::size_t> memory_;
};

LAMINA_COLD inline void pickle::step(char code) {
  switch (static_cast<unsigned char>(code)) {
    case 0x80: {  // PROTO
      const int version = number<std::uint8_t>();
      if (version > 4) fail_here(lamina::text("expected protocol 1 to 4, found ") << version);
      return;
    }
    case 0x95:
      take(8);
      return;  // FRAME
    case '(':
      return marks_.push_back(stack_.size());
    case '0':
      pop();
      return;
    case '2':
      stack_.push_back(pop());
      return stack_.push_back(stack_.back());
    case 'N':
      return push({kind::none});
    case 0x88:
      return push({kind::truth, 1});
    case 0x89:
      return push({kind::truth, 0});
    case 'K':
      return push_number(number<std::uint8_t>());
    case 'M':
      return push_number(number<std::uint16_t>());
    case 'J':
      return push_number(number<std::int32_t>());
    case 0x8a: {  // LONG1
      const std::string_view bytes = take(number<std::uint8_t>());
      if (bytes.size() > 8) fail_here("expected a number of 64 bits, found a longer one");
      std::uint64_t n = !bytes.empty() && (bytes.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
      for (std::size_t i = bytes.size(); i-- > 0;)
        n = n << 8 | static_cast<unsigned char>(bytes[i]);
      return push_number(static_cast<std::int64_t>(n));
    }
    case 'G':
      take(8);
      return push({kind::none});  // a float; its value is not needed
    case 'U':
    case 'C':
      return push_bytes(kind::bytes, number<std::uint8_t>());
    case 'T':
    case 'B':
      return push_bytes(kind::bytes, number<std::uint32_t>());
    case 0x8e:
      return push_bytes(kind::bytes, number<std::uint64_t>());
    case 0x8c:
      return push_bytes(kind::text, number<std::uint8_t>());
    case 'X':
      return push_bytes(kind::text, number<std::uint32_t>());
    case 0x8d:
      return push_bytes(kind::text, number<std::uint64_t>());
    case ')':
      return push_tuple(0);
    case 0x85:
      return push_tuple(1);
    case 0x86:
      return push_tuple(2);
    case 0x87:
      return push_tuple(3);
    case 't':
      return push({kind::tuple, 0, {}, pop_marked()});
    case ']':
      return push({kind::list});
    case 'l':
      return push({kind::list, 0, {}, pop_marked()});
    case '}':
      return push({kind::dictionary});
    case 'a':
      return append(kind::list, {pop()});
    case 'e':
      return append(kind::list, pop_marked());
    case 's': {
      const std::size_t held = pop(), key = pop();
      return append(kind::dictionary, {key, held});
    }
    case 'u':
      return append(kind::dictionary, pop_marked());
    case 'q':
      return remember(number<std::uint8_t>());
    case 'r':
      return remember(number<std::uint32_t>());
    case 0x94:
      return remember(memory_.size());
    case 'h':
      return recall(number<std::uint8_t>());
    case 'j':
      return recall(number<std::uint32_t>());
    case 'c': {
      const std::string_view module = line();
      return push_name(module, line());
    }
    case 0x93: {
      const std::size_t name = pop(), module = pop();
      return push_name(values_[module].bytes, values_[name].bytes);
    }
    case 'R':
      return call();
    case 'b':
      return build();
    default:
      fail_here(lamina::text("expected an operation of pickle, found the byte ")
                << static_cast<unsigned>(static_cast<unsigned char>(code)));
  }
}

#if LAMINA_DEFINES

const pickle::value* pickle::find(std::string_view key) const {
  const value* found = nullptr;
  const value& all = root();
  for (std::size_t i = 0; i + 1 < all.items.size(); i += 2) {
    const value& k = at(all.items[i]);
    const bool has_bytes = k.is == kind::bytes || k.is == kind::text || k.is == kind::latin;
    if (has_bytes && k.bytes == key) found = &at(all.items[i + 1]);
  }
  return found;
}

std::string pickle::bytes_of(const value& array) const {
  if (array.is == kind::array ? array.number != 1 : array.is != kind::latin)
    return std::string(array.bytes);
  std::string plain;  // for Python 2, Python 3 writes bytes as the characters 0 to 255 in UTF-8
  for (std::size_t i = 0; i < array.bytes.size(); ++i) {
    const auto c = static_cast<unsigned char>(array.bytes[i]);
    const bool is_pair = (c == 0xc2 || c == 0xc3) && i + 1 < array.bytes.size() &&
                         (static_cast<unsigned char>(array.bytes[i + 1]) & 0xc0) == 0x80;
    if (c >= 0x80 && !is_pair)
      of_.fail(position_of(array.bytes) + i,
               "pickle: expected bytes as characters below 256, found another character");
    plain += c < 0x80 ? static_cast<char>(c)
                      : static_cast<char>((c & 3) << 6 |
                                          (static_cast<unsigned char>(array.bytes[++i]) & 0x3f));
  }
  return plain;
}

std::string_view pickle::take(std::uint64_t n) {
  if (n > all_.size() - at_)
    fail_here(lamina::text("expected ")
              << n << " bytes, found the end after " << all_.size() - at_);
  const std::string_view taken = all_.substr(at_, n);
  at_ += n;
  return taken;
}

std::string_view pickle::line() {
  const std::size_t end = all_.find('\n', at_);
  if (end == all_.npos) fail_here("expected a line, found the end");
  const std::string_view taken = all_.substr(at_, end - at_);
  at_ = end + 1;
  return taken;
}

std::size_t pickle::pop() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
    fail_here("expected a value on the stack, found none");
  const std::size_t top = stack_.back();
  stack_.pop_back();
  return top;
}

std::vector<std::size_t> pickle::pop_marked() {
  if (marks_.empty()) fail_here("expected a mark on the stack, found none");
  const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<std::size_t> all(from, stack_.end());
  stack_.erase(from, stack_.end());
  marks_.pop_back();
  return all;
}

void pickle::append(kind to, const std::vector<std::size_t>& items) {
  const std::size_t target = pop();
  value& of = values_[target];
  if (of.is != to || (to == kind::dictionary && items.size() % 2 != 0))
    fail_here(to == kind::list ? "expected a list to append to, found another value"
                               : "expected a dictionary and pairs for it, found other values");
  of.items.insert(of.items.end(), items.begin(), items.end());
  stack_.push_back(target);
}

void pickle::recall(std::uint64_t as) {
  const auto found = memory_.find(as);
  if (found == memory_.end())
    fail_here(lamina::text("expected a value that was kept as ") << as << ", found none");
  stack_.push_back(found->second);
}

void pickle::push_name(std::string_view module, std::string_view name) {
  const bool is_array = module == "numpy.core.multiarray" || module == "numpy._core.multiarray";
  if (is_array && name == "_reconstruct") return push({kind::name, 0, "array"});
  if (module == "numpy" && name == "ndarray") return push({kind::name, 0, "ndarray"});
  if (module == "numpy" && name == "dtype") return push({kind::name, 0, "type"});
  if (module == "_codecs" && name == "encode") return push({kind::name, 0, "encode"});
  fail_here(lamina::text("expected numbers, texts and arrays of numpy, found Python's ")
            << in_quotes(module) << " " << in_quotes(name));
}

void pickle::call() {
  const std::size_t given = pop(), called = pop();
  const std::vector<std::size_t> items = values_[given].items;
  const value& function = values_[called];
  if (function.is != kind::name || values_[given].is != kind::tuple)
    fail_here("expected the call of a name, found another value");
  if (function.bytes == "array" && items.size() == 3) return push({kind::array, -1});
  if (function.bytes == "encode" && items.size() == 2 && values_[items[0]].is == kind::text) {
    if (values_[items[1]].bytes != "latin1")
      fail_here("expected a text of latin1, found another one");
    return push({kind::latin, 0, values_[items[0]].bytes});
  }
  if (function.bytes == "type" && !items.empty()) {
    if (values_[items[0]].bytes != "u1")
      fail_here(lamina::text("expected an array of 'u1', unsigned bytes, found one of ")
                << in_quotes(values_[items[0]].bytes));
    return push({kind::type});
  }
  fail_here("expected the arguments of numpy's arrays, found others");
}

void pickle::build() {
  const std::size_t state = pop(), target = pop();
  stack_.push_back(target);
  // The state of a type is its byte order, which bytes do not have.
  if (values_[target].is == kind::type) return;
  const std::vector<std::size_t> items = values_[state].items;
  if (values_[target].is != kind::array || values_[state].is != kind::tuple || items.size() != 5 ||
      values_[items[1]].is != kind::tuple)
    fail_here("expected the state of an array of numpy, found another value");
  if (values_[items[2]].is != kind::type) fail_here("expected the type of an array, found none");
  if (values_[items[3]].number != 0)
    fail_here("expected an array whose rows lie one after the other, found one of columns");
  const value& content = values_[items[4]];
  if (content.is != kind::bytes && content.is != kind::latin)
    fail_here("expected the bytes of an array, found another value");
  std::vector<std::int64_t> shape;
  for (const std::size_t i : values_[items[1]].items) {
    if (values_[i].is != kind::number || values_[i].number < 0)
      fail_here("expected the shape of an array, found other values");
    shape.push_back(values_[i].number);
  }
  value& array = values_[target];
  array.number = content.is == kind::latin;
  array.bytes = content.bytes;
  array.shape = std::move(shape);
}

void pickle::run() {
  if (all_.empty()) fail("expected a pickle, found an empty file");
  for (;;) {
    opcode_ = at_;
    if (at_ == all_.size()) fail_here("expected the end mark of a pickle, found the end");
    const char code = all_[at_++];
    if (code == '.') break;
    step(code);
  }
  root_ = pop();
  if (!stack_.empty() || !marks_.empty()) fail_here("expected one value at the end, found several");
  if (at_ != all_.size()) of_.fail(at_, "pickle: expected the end of the file, found bytes");
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset

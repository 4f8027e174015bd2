// SPDX-License-Identifier: Apache-2.0
// lamina/model/parameters/file_part.hpp - objects that a model's file can contain in addition to
// parameters, such as the encoding of table columns.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/parameters/tensor_file.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Whether a model's file can contain objects of type T: `model.save(path, encoding)`. T::part_name
/// is the name of the object in the file and in messages. to_text() returns the contents as text.
/// read_text(text, source) sets the object to such contents, or throws an error whose message
/// begins with `source`.
template <class T>
concept file_part = requires(const T& from, T& to, std::string_view content,
                             const std::string& source) {
  { T::part_name } -> std::convertible_to<std::string_view>;
  { from.to_text() } -> std::convertible_to<std::string>;
  to.read_text(content, source);
};

namespace detail {

/// Returns the name of the entry in which a file stores the part. A parameter may have the same
/// name: the element type of the entry distinguishes them.
LAMINA_API_COLD std::string part_entry_name(std::string_view part);
LAMINA_API_COLD const tensor_entry* find_part(const std::vector<tensor_entry>& entries,
                                              std::string_view part);
LAMINA_API_COLD void add_part(std::vector<tensor_entry>& entries, std::string_view part,
                              const std::string& content);
LAMINA_API_COLD std::string_view text_of_part(const std::vector<tensor_entry>& entries,
                                              std::string_view part, const std::string& path);

/// Returns the entries of a file, with the parts appended.
template <file_part... Parts>
std::vector<tensor_entry> with_parts(std::vector<tensor_entry> entries, const Parts&... parts) {
  (add_part(entries, Parts::part_name, parts.to_text()), ...);
  return entries;
}
/// Reads the parts from the entries of a file, calls then(), and then replaces the parts. If
/// reading or then() throws, no part is changed.
template <class Then>
void read_parts(const std::vector<tensor_entry>&, const std::string&, Then&& then) {
  then();
}
template <class Then, class Part, class... Parts>
void read_parts(const std::vector<tensor_entry>& entries, const std::string& path, Then&& then,
                Part& part, Parts&... parts) {
  Part fresh = part;
  fresh.read_text(text_of_part(entries, Part::part_name, path),
                  text() << path << ": " << Part::part_name);
  read_parts(entries, path, then, parts...);
  part = std::move(fresh);
}

#if LAMINA_DEFINES

std::string part_entry_name(std::string_view part) { return text() << "@" << part << "@"; }

const tensor_entry* find_part(const std::vector<tensor_entry>& entries, std::string_view part) {
  const std::string name = part_entry_name(part);
  for (const tensor_entry& e : entries)
    if (e.name == name && e.type == dtype::uint8 && e.dims.size() == 1) return &e;
  return nullptr;
}

void add_part(std::vector<tensor_entry>& entries, std::string_view part,
              const std::string& content) {
  if (find_part(entries, part) != nullptr)
    LAMINA_THROW error(text() << "lamina: save: expected one " << part << ", found two");
  entries.push_back(tensor_entry::letters(part_entry_name(part), content));
}

std::string_view text_of_part(const std::vector<tensor_entry>& entries, std::string_view part,
                              const std::string& path) {
  if (const tensor_entry* const found = find_part(entries, part)) return found->bytes.view();
  LAMINA_THROW error(text() << "lamina: " << path << ": expected a " << part
                            << " beside the parameters, as save(path, " << part
                            << ") writes it, found none");
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Reads one part, and no parameters, from the file of a model or trainer of any program:
///   auto encoding = lamina::load_part<lamina::dataset::column_encoding>("net.model");
/// Throws format_error if the file is damaged or has another format, and lamina::error if it does
/// not contain this part.
template <file_part Part>
Part load_part(const file_path& path) {
  Part part;
  detail::read_parts(
      read_tensor_file(path), path.string(), [] {}, part);
  return part;
}

}}  // namespace lamina

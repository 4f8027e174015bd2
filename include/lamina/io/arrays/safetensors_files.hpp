// SPDX-License-Identifier: Apache-2.0
// lamina/io/arrays/safetensors_files.hpp - opens a safetensors file, the files of a divided
// checkpoint, or such bytes in memory. Needs nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/io/arrays/safetensors_header.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Where load_safetensors reads: the path of a file, or the bytes of such a file in memory, which
/// must outlive the call. If the path ends with ".json", the file is the index of a checkpoint that
/// is divided into several files (model.safetensors.index.json of Hugging Face).
class safetensors_source {
 public:
  template <class Path>
  requires std::is_convertible_v<const Path&, file_path> safetensors_source(
      const Path& path)  // NOLINT: a path converts
      : path_(file_path(path).string()) {}
  safetensors_source(std::span<const std::byte> bytes)  // NOLINT: bytes convert
      : path_("safetensors in memory"),
        bytes_(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
        is_in_memory_(true) {}

  /// Returns the path, or a name of the bytes for messages.
  const std::string& name() const { return path_; }
  bool is_index() const { return !is_in_memory_ && std::string_view(path_).ends_with(".json"); }
  /// Opens the file.
  std::unique_ptr<binary_reader> open() const {
    return is_in_memory_ ? std::make_unique<binary_reader>(bytes_, path_)
                         : std::make_unique<binary_reader>(path_);
  }

 private:
  std::string path_;
  std::string_view bytes_{};
  bool is_in_memory_ = false;
};

namespace detail {

/// The entries of the headers of one file or of several files.
struct safetensors_files {
  struct value {
    safetensors_entry entry;
    binary_reader* from;
  };
  std::string name;
  std::vector<std::unique_ptr<binary_reader>> readers{};
  std::vector<value> values{};
};

/// Returns the names of the files that have the values: the member weight_map of an index.
inline std::map<std::string, std::vector<std::string>> read_safetensors_index(binary_reader& from) {
  if (from.left() > safetensors_largest_header)
    from.fail_at(0, text("expected an index of at most ")
                        << safetensors_largest_header << " bytes, found " << from.left());
  parsed_json parsed{parse_header(from, 0, from.bytes(from.left(), "the index"))};
  const nlohmann::json& all = parsed.json;
  if (!all.is_object() || !all.contains("weight_map") || !all["weight_map"].is_object())
    from.fail_at(0, "expected the object weight_map in the index, found none");
  std::map<std::string, std::vector<std::string>> names_of;
  for (const auto& [name, value] : all["weight_map"].items()) {
    const std::string file = value.is_string() ? value.get<std::string>() : "";
    // An index that was downloaded must not lead to other files of this machine.
    if (!is_file_name(file))
      from.fail_at(0, "expected the name of a file in the folder of the index for '" + name +
                          "', found '" + file + "'");
    names_of[file].push_back(name);
  }
  return names_of;
}

/// Opens the files and reads their headers. Throws format_error for a damaged header, and if a file
/// lacks a value that the index expects there. Values that the index does not have are ignored.
inline safetensors_files open_safetensors(const safetensors_source& source) {
  safetensors_files all{source.name()};
  const auto add = [&](const safetensors_source& one) -> binary_reader& {
    return *all.readers.emplace_back(one.open());
  };
  if (!source.is_index()) {
    binary_reader& from = add(source);
    for (safetensors_entry& e : read_safetensors_header(from))
      all.values.push_back({std::move(e), &from});
    return all;
  }
  binary_reader index(source.name());
  const std::string folder = folder_of(source.name());
  for (const auto& [file, names] : read_safetensors_index(index)) {
    binary_reader& from = add(folder + file);
    std::map<std::string, safetensors_entry> found;
    for (safetensors_entry& e : read_safetensors_header(from)) {
      std::string name = e.name;
      found.emplace(std::move(name), std::move(e));
    }
    for (const std::string& name : names) {
      const auto entry = found.find(name);
      if (entry == found.end())
        index.fail_at(0, "expected '" + name + "' in the file " + file + ", found " +
                             std::to_string(found.size()) + " others");
      all.values.push_back({std::move(entry->second), &from});
    }
  }
  return all;
}

}  // namespace detail

}}  // namespace lamina

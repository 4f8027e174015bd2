// SPDX-License-Identifier: Apache-2.0
// lamina/launch/shared_libraries.hpp - finds the libraries that a program needs.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <elf.h>
#include <link.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/launch/run_command.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The loader and libraries that an ELF file names.
struct elf_needs {
  /// The program that loads this one, "/lib64/ld-linux-x86-64.so.2"; empty if it is linked
  /// statically.
  std::string loader = {};
  /// The names of the shared libraries that the file itself needs (DT_NEEDED).
  std::vector<std::string> libraries = {};
};

/// The name of a shared library and its path on this machine; the path is empty if it was not
/// found.
struct shared_library {
  std::string name = {}, path = {};
};

/// Reads the ELF headers of a program or library of this machine. Throws lamina::error for any
/// other file. Format: System V ABI, chapter "Program Loading and Dynamic Linking".
LAMINA_COLD inline elf_needs read_elf_needs(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto refuse = [&](const char* found) -> error {
    return error(text() << "lamina: launch: " << path
                        << ": expected a program or shared library of this machine (ELF), found "
                        << found);
  };
  if (!file) throw refuse("no file");
  const auto read = [&](std::uint64_t at, void* to, std::size_t size) {
    file.seekg(static_cast<std::streamoff>(at));
    file.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
    if (!file) throw refuse("its end");
  };
  ElfW(Ehdr) head;
  read(0, &head, sizeof head);
  constexpr unsigned char kind = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) throw refuse("another format");
  if (head.e_ident[EI_CLASS] != kind || head.e_phentsize != sizeof(ElfW(Phdr)))
    throw refuse("one of another processor");
  elf_needs found;
  std::vector<ElfW(Phdr)> parts(head.e_phnum);
  if (!parts.empty()) read(head.e_phoff, parts.data(), parts.size() * sizeof(ElfW(Phdr)));
  std::vector<ElfW(Dyn)> entries;
  for (const ElfW(Phdr) & part : parts) {
    if (part.p_type != PT_INTERP && part.p_type != PT_DYNAMIC) continue;
    if (part.p_filesz > (std::uint64_t{1} << 24)) throw refuse("a damaged one");
    if (part.p_type == PT_INTERP) {
      found.loader.resize(part.p_filesz);
      read(part.p_offset, found.loader.data(), found.loader.size());
      found.loader.resize(std::strlen(found.loader.c_str()));
    } else {
      entries.resize(part.p_filesz / sizeof(ElfW(Dyn)));
      if (!entries.empty()) read(part.p_offset, entries.data(), entries.size() * sizeof entries[0]);
    }
  }
  std::uint64_t names_at = 0, names_size = 0;
  for (const ElfW(Dyn) & e : entries) {
    if (e.d_tag == DT_NULL) break;
    if (e.d_tag == DT_STRTAB) names_at = e.d_un.d_ptr;
    if (e.d_tag == DT_STRSZ) names_size = e.d_un.d_val;
  }
  if (names_size == 0) return found;
  if (names_size > (std::uint64_t{1} << 26)) throw refuse("a damaged one");
  std::string names(names_size, '\0');
  // The table has a memory address; the segment that contains this address gives its offset in the
  // file.
  bool is_there = false;
  for (const ElfW(Phdr) & part : parts)
    if (part.p_type == PT_LOAD && names_at >= part.p_vaddr &&
        names_at - part.p_vaddr < part.p_filesz) {
      read(part.p_offset + (names_at - part.p_vaddr), names.data(), names.size());
      is_there = true;
      break;
    }
  if (!is_there) throw refuse("a damaged one");
  for (const ElfW(Dyn) & e : entries) {
    if (e.d_tag == DT_NULL) break;
    if (e.d_tag != DT_NEEDED) continue;
    if (e.d_un.d_val >= names_size) throw refuse("a damaged one");
    found.libraries.emplace_back(names.c_str() + e.d_un.d_val);
  }
  return found;
}

/// Returns all shared libraries that the loader finds for a program, without the loader itself;
/// none if the program is linked statically. The loader lists them without running the program.
/// Throws lamina::error that names the missing libraries.
LAMINA_COLD inline std::vector<shared_library> shared_libraries(const std::string& program) {
  const elf_needs needs = read_elf_needs(program);
  std::vector<shared_library> found;
  if (needs.loader.empty()) return found;
  // For a path such as /proc/self/exe, the loader would read itself.
  std::error_code fault;
  const std::filesystem::path file = std::filesystem::canonical(program, fault);
  std::string said;
  const int code = run_command({needs.loader, "--list", fault ? program : file.string()},
                               {.said = &said, .all_output = true, .shows = false});
  if (code != 0)
    throw error(text() << "lamina: launch: " << program
                       << ": expected a program whose shared libraries are on this machine, found: "
                       << said);
  for (std::string_view rest = said; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    line.remove_prefix((std::min)(line.find_first_not_of(" \t"), line.size()));
    const std::size_t arrow = line.find(" => ");
    if (arrow == line.npos) continue;  // the loader, and the kernel's vdso
    std::string_view path = line.substr(arrow + 4);
    path = path.substr(0, path.rfind(" ("));
    found.push_back({std::string(line.substr(0, arrow)), std::string(path)});
  }
  return found;
}

namespace detail {

/// Tells whether a name is in the list, regardless of the library's version.
LAMINA_COLD inline bool is_library_of(std::string_view name, std::string_view list) {
  const std::string_view stem = name.substr(0, name.find(".so"));
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = (std::min)(list.find(' ', at), list.size());
    if (list.substr(at, end - at) == stem) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace detail

/// Tells whether a library is part of glibc, of which an image has its own version.
LAMINA_COLD inline bool is_c_library(std::string_view name) {
  return name.starts_with("ld-linux") || name.starts_with("libnss_") ||
         detail::is_library_of(name,
                               "libc libm libmvec libpthread libdl librt libresolv libutil libnsl "
                               "libanl libBrokenLocale libthread_db");
}

/// Tells whether a library is part of MPI, which an image gets together with its launcher.
LAMINA_COLD inline bool is_mpi_library(std::string_view name) {
  return detail::is_library_of(name,
                               "libmpi libmpi_cxx libmpi_mpifh libmpich libmpichcxx libmpicxx "
                               "libopen-rte libopen-pal libprrte");
}

/// Returns the MPI with which a program is linked: "Open MPI", "MPICH", or "" for none.
LAMINA_COLD inline std::string mpi_of(const elf_needs& needs) {
  for (const std::string& name : needs.libraries) {
    if (name.starts_with("libmpich") || name == "libmpi.so.12") return "MPICH";
    if (name.starts_with("libmpi.so")) return "Open MPI";
  }
  return "";
}

/// Returns the libraries that are copied into an image: all that the program needs, except parts of
/// glibc and MPI and libraries that only MPI needs. With `everything`, returns all of them, for an
/// image without libraries.
LAMINA_COLD inline std::vector<shared_library> libraries_to_copy(const std::string& program,
                                                                 bool everything) {
  const std::vector<shared_library> all = shared_libraries(program);
  if (everything) return all;
  std::vector<shared_library> chosen;
  std::vector<std::string> wanted = read_elf_needs(program).libraries;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string name = wanted[i];
    if (is_c_library(name) || is_mpi_library(name)) continue;
    for (const shared_library& library : all) {
      if (library.name != name) continue;
      chosen.push_back(library);
      for (std::string& next : read_elf_needs(library.path).libraries) {
        bool is_known = false;
        for (const std::string& w : wanted) is_known = is_known || w == next;
        if (!is_known) wanted.push_back(std::move(next));
      }
      break;
    }
  }
  return chosen;
}

}}}  // namespace lamina::distributed

// SPDX-License-Identifier: Apache-2.0
// lamina/launch/image_context.hpp - fills the folder from which an image is built.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/launch/containerfile.hpp>
#include <lamina/launch/job.hpp>
#include <lamina/launch/private_file.hpp>
#include <lamina/launch/shared_libraries.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

namespace detail {

/// Splits an entry of `job.files` into the path on this machine and the path in the image.
LAMINA_COLD inline std::pair<std::string, std::string> read_image_file(const std::string& entry) {
  const std::size_t colon = entry.rfind(':');
  const std::string path = entry.substr(0, colon);
  std::string place = colon == entry.npos ? path : entry.substr(colon + 1);
  const std::string normal = std::filesystem::path(place).lexically_normal().string();
  if (path.empty() || place.empty() || normal == ".." || normal.starts_with("../"))
    bad_option("files", "PATH, or PATH:PLACE with a place in the image", entry);
  if (!place.starts_with('/')) place = "/app/" + place;
  place = std::filesystem::path(place).lexically_normal().string();
  while (place.ends_with('/') && place.size() > 1) place.pop_back();
  if (place == "/") bad_option("files", "a place below /", entry);
  return {path, place};
}

/// Copies one file and makes it readable for every user of the image. Throws lamina::error if the
/// file is one of the job's secrets: everyone who can pull an image can read all its layers.
LAMINA_COLD inline void copy_into_image(const job& j, const std::filesystem::path& from,
                                        const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  std::error_code status;
  for (const std::string* const secret :
       {&j.token_file, &j.key, &j.registry_token_file, &j.registry_auth_file})
    if (!secret->empty() && fs::equivalent(from, *secret, status))
      bad_option("files", "no secrets in an image", from.string());
  fs::create_directories(to.parent_path(), status);
  if (!fs::copy_file(from, to, fs::copy_options::overwrite_existing, status))
    throw error(text() << "lamina: launch: files: expected to copy " << from.string() << ", found "
                       << status.message());
  const bool runs = (fs::status(from).permissions() & fs::perms::owner_exec) != fs::perms::none;
  fs::permissions(to, runs ? fs::perms(0755) : fs::perms(0644));
}

/// Copies a file, or a folder with all its contents.
LAMINA_COLD inline void copy_all_into_image(const job& j, const std::filesystem::path& from,
                                            const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  if (fs::is_regular_file(from)) return copy_into_image(j, from, to);
  if (!fs::is_directory(from)) bad_option("files", "a file or folder", from.string());
  fs::create_directories(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(from))
    copy_all_into_image(j, entry.path(), to / entry.path().filename());
}

}  // namespace detail

/// Throws lamina::error if the program is linked with another MPI than the one that starts the pods
/// of the job.
LAMINA_COLD inline void require_mpi_of_kind(const job& j, const elf_needs& needs) {
  const std::string found = mpi_of(needs);
  const std::string_view expected = detail::is_started_by_ssh(j) ? "Open MPI" : "MPICH";
  if (!found.empty() && found != expected)
    throw error(text() << "lamina: launch: kind " << j.kind
                       << ": expected a program that is linked "
                       << "with " << expected << ", whose launcher starts it, found " << found);
}

/// Writes the Containerfile and, below `root`, the contents of the image: the program, the shared
/// libraries that its base may lack, and the job's files. Throws lamina::error if one of them is
/// missing or must not be in an image.
LAMINA_COLD inline void write_image_context(const job& j, const std::string& program,
                                            const private_folder& folder) {
  namespace fs = std::filesystem;
  const elf_needs needs = read_elf_needs(program);
  require_mpi_of_kind(j, needs);
  const fs::path root = fs::path(folder.path()) / "root";
  const bool is_alone = j.base_image == "scratch";
  for (const std::string& entry : j.files) {
    const auto [path, place] = detail::read_image_file(entry);
    detail::copy_all_into_image(j, path, fs::path(root.string() + place));
  }
  for (const shared_library& library : libraries_to_copy(program, is_alone))
    detail::copy_into_image(j, library.path,
                            root.string() + std::string(image_library_folder) + "/" + library.name);
  if (is_alone && !needs.loader.empty())
    detail::copy_into_image(j, needs.loader, root.string() + needs.loader);
  detail::copy_into_image(j, program, root.string() + j.program);
  fs::permissions(root.string() + j.program, fs::perms(0755));
  if (!is_alone && !needs.loader.empty()) {
    const private_file folders(std::string(image_library_folder) + "\n");
    detail::copy_into_image(j, folders.path(), root / "etc/ld.so.conf.d/lamina.conf");
  }
  if (j.base_image.empty() && detail::is_started_by_ssh(j)) {
    // Each pod gets the keys of its job; sshd without root can listen only on ports from 1024 up.
    const private_file server(
        "Port 2222\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
        "HostKey /home/mpiuser/.ssh/id_rsa\nAuthorizedKeysFile "
        "/home/mpiuser/.ssh/authorized_keys\n");
    const private_file client(
        "Host *\n  Port 2222\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n"
        "  LogLevel ERROR\n");
    detail::copy_into_image(j, server.path(), root / "home/mpiuser/.sshd_config");
    detail::copy_into_image(j, client.path(), root / "etc/ssh/ssh_config.d/lamina.conf");
  }
  // WORKDIR needs /app also if no file is copied there.
  fs::create_directories(root / "app");
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root))
    if (entry.is_directory()) fs::permissions(entry.path(), fs::perms(0755));
  fs::permissions(root, fs::perms(0755));
  static_cast<void>(folder.write("Containerfile", containerfile(j, program)));
}

}}}  // namespace lamina::distributed

// SPDX-License-Identifier: Apache-2.0
// lamina/launch/containerfile.hpp - writes the Containerfile of a job's image.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/launch/job.hpp>
#include <lamina/launch/launch_error.hpp>
#include <lamina/launch/shared_libraries.hpp>
#include <lamina/launch/shell_word.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The folder of an image that contains the shared libraries of the program.
inline constexpr std::string_view image_library_folder = "/usr/local/lib/lamina";

namespace detail {

/// Tells whether the processes of a job are started by ssh, as Kubeflow's MPIJob and TrainJob do.
LAMINA_COLD inline bool is_started_by_ssh(const job& j) {
  return j.kind == "MPIJob" || j.kind == "TrainJob";
}

/// Returns the value of a variable in the text of /etc/os-release, without quotes.
LAMINA_COLD inline std::string os_release_value(std::string_view release, std::string_view name) {
  for (std::string_view rest = release; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    if (!line.starts_with(name) || line.substr(name.size(), 1) != "=") continue;
    line.remove_prefix(name.size() + 1);
    while (!line.empty() && line.front() == '"') line.remove_prefix(1);
    while (!line.empty() && line.back() == '"') line.remove_suffix(1);
    return std::string(line);
  }
  return "";
}

/// Returns the base image of the system that an /etc/os-release describes. It has the version of
/// glibc with which programs on that system are linked.
LAMINA_COLD inline std::string default_base_image(std::string_view release) {
  const std::string id = os_release_value(release, "ID"),
                    version = os_release_value(release, "VERSION_ID");
  if (id == "debian") {
    // The testing version of Debian has a code name but no number.
    const std::string name = version.empty() ? os_release_value(release, "VERSION_CODENAME")
                                             : version.substr(0, version.find('.'));
    if (!name.empty()) return "docker.io/library/debian:" + name + "-slim";
  }
  if (id == "ubuntu" && !version.empty()) return "docker.io/library/ubuntu:" + version;
  throw error(text() << "lamina: launch: base_image: expected the name of an image whose glibc is "
                        "not older than that of this machine, as this is neither Debian nor "
                        "Ubuntu, found '"
                     << id << " " << version << "'");
}

LAMINA_COLD inline std::string this_os_release() {
  std::ifstream file("/etc/os-release", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace detail

/// Returns the Containerfile of a job's image; it copies the folder `root` next to it to /. If the
/// job names no base, the base is this machine's version of Debian or Ubuntu, with the MPI of
/// `kind` installed. Unless the base is "scratch", the build fails if the image lacks a shared
/// library of the program, its version of glibc, or a command that starts the pods. The program
/// runs without root, and the image contains no secrets. `needs` describes the shared libraries of
/// the program.
LAMINA_COLD inline std::string containerfile(const job& j, const elf_needs& needs,
                                             std::string_view os_release) {
  const bool by_ssh = detail::is_started_by_ssh(j), is_default = j.base_image.empty();
  const std::string user = text() << j.user;
  text s;
  s << "FROM " << (is_default ? detail::default_base_image(os_release) : j.base_image) << "\n";
  if (is_default)
    s << "RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y "
         "--no-install-recommends "
      << (by_ssh ? "openmpi-bin openssh-client openssh-server" : "mpich")
      << " && rm -rf /var/lib/apt/lists/*"
      // Images of Ubuntu already have a user with the id 1000.
      << " && (getent passwd " << user << " > /dev/null && userdel $(id -nu " << user
      << ") || :) && useradd --create-home --uid " << user << " "
      << (by_ssh ? "mpiuser && mkdir -p /run/sshd" : "trainer") << "\n";
  s << "COPY root/ /\n";
  if (!needs.loader.empty()) s << "ENV LD_LIBRARY_PATH=" << image_library_folder << "\n";
  if (j.base_image != "scratch") {
    // A program that sshd starts does not see the image's variables; it finds libraries by the
    // loader's cache.
    if (!needs.loader.empty()) s << "RUN ldconfig || :\n";
    // LD_TRACE_LOADED_OBJECTS makes the loader list the libraries without starting the program.
    if (!needs.loader.empty())
      s << "RUN found=$(LD_TRACE_LOADED_OBJECTS=1 LD_WARN=yes " << shell_word(j.program)
        << " 2>&1) || found='no loader (not found)'; case \"$found\" in *'not found'*) "
           "echo \"lamina: launch: expected all shared libraries of the program in the image, "
           "found: $found\" >&2; exit 1;; esac\n";
    s << "RUN for name in "
      << (by_ssh ? "mpirun ssh /usr/sbin/sshd" : "mpiexec.hydra hydra_pmi_proxy")
      << "; do command -v $name > /dev/null || { echo \"lamina: launch: kind " << j.kind
      << ": expected the command $name in the image, found none\" >&2; exit 1; }; done\n";
  }
  s << "WORKDIR /app\nUSER " << user << ":" << user << "\nENTRYPOINT [\"" << j.program << "\"]\n";
  return s;
}

/// Returns the same for a program and the system of this machine.
LAMINA_COLD inline std::string containerfile(const job& j, const std::string& program) {
  return containerfile(j, read_elf_needs(program), detail::this_os_release());
}

}}}  // namespace lamina::distributed

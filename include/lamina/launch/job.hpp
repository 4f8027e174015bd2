// SPDX-License-Identifier: Apache-2.0
// lamina/launch/job.hpp - describes a distributed training, and checks it.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Describes a distributed training: the processes, the place where they run, and their resources.
/// `require_valid` checks it. The backend "local" uses only trainers, parameter_servers, arguments,
/// restart_on_failure and retries: mpirun limits neither memory nor time.
struct job {
  /// Kubernetes: the container image, "REGISTRY/USER/NAME:TAG"; `build` tells whether it is built.
  std::string image = {};
  /// The processes that train; at least 1.
  int trainers = 1;
  /// The processes that hold parameters, in addition to the trainers; with 0 each trainer holds a
  /// shard. Sessions read the number from LAMINA_PARAMETER_SERVERS.
  int parameter_servers = 0;
  /// The cores of each process; at least 1.
  int cpus = 1;
  /// The memory of each process, in bytes or with k, M, G, T, Ki, Mi, Gi, Ti after the number.
  std::string memory = "2Gi";
  /// "local" (mpirun on this machine), "slurm" (sbatch) or "kubernetes".
  std::string backend = "local";
  /// The name of the job and of its objects: lower-case letters, digits and `-`, at most 40
  /// characters.
  std::string name = "trainer";
  /// The command-line arguments of the program.
  std::vector<std::string> arguments = {};
  /// How often a failed job is restarted; it continues from its checkpoint.
  int retries = 3;
  /// The seconds after which the job is ended; 0: never.
  int deadline = 0;

  /// Slurm: the partition and the account; empty: the defaults of the cluster.
  std::string partition = {}, account = {};

  /// Kubernetes: the kind of object that runs the processes: "Job" (indexed, needs Kubernetes 1.31
  /// or newer), "JobSet", "MPIJob" (Kubeflow's MPI operator) or "TrainJob" (Kubeflow's trainer).
  std::string kind = "Job";
  /// Kubernetes: the namespace of the job.
  std::string name_space = "default";
  /// Kubernetes: the path of the program in the image.
  std::string program = "/usr/local/bin/trainer";
  /// Kubernetes: the user id of the processes; it must not be 0, which is root.
  int user = 1000;
  /// Kubernetes: the claim of a volume that all processes mount at /checkpoints; empty: none.
  std::string checkpoint_claim = {};
  /// Kubernetes: the size of checkpoint_claim, in the form of `memory`, if the job creates the
  /// claim; empty: the claim exists.
  std::string checkpoint_size = {};
  /// Kubernetes: existing secrets whose keys become environment variables.
  std::vector<std::string> secrets = {};
  /// Kubernetes: the secret with which pods pull the image; empty: none.
  std::string pull_secret = {};
  /// Kubernetes, TrainJob: the name of the ClusterTrainingRuntime.
  std::string runtime = "mpi-distributed";

  /// Kubernetes: the API server, "https://HOST:PORT"; empty: the server of kubectl's configuration.
  std::string server = {};
  /// Kubernetes: the file of the authority that has signed the server's certificate (PEM).
  std::string authority = {};
  /// Kubernetes: the file of the token, or the files of the client certificate and its key (PEM),
  /// that authenticate the user to the server. kubectl or curl gets only their paths; a token never
  /// appears on a command line.
  std::string token_file = {}, certificate = {}, key = {};

  /// Kubernetes: whether `image` is built and pushed before the job is submitted: "yes", "no" (it
  /// is already in the registry), or "auto" (yes if an image tool is installed).
  std::string build = "yes";
  /// The base image; it must have the MPI that `kind` needs. "scratch": an empty image; empty: this
  /// machine's version of Debian or Ubuntu, in which MPI is installed.
  std::string base_image = {};
  /// Files and folders to copy into the image, each "PATH" or "PATH:PLACE". A relative PLACE is
  /// below /app, the working directory of the program; without it the file has the same path in the
  /// image.
  std::vector<std::string> files = {};
  /// The tool that builds the image: "buildah", "podman" or "docker", or the path of one; empty:
  /// the value of LAMINA_IMAGE_TOOL, or the first of the three that is installed.
  std::string image_tool = {};
  /// The user of the registry, and the file with that user's token or password.
  std::string registry_user = {}, registry_token_file = {};
  /// Instead of the two above, a configuration of docker with passwords ("config.json"); if all are
  /// empty, the tool's own configuration is used.
  std::string registry_auth_file = {};
  /// The file of the authority that has signed the registry's certificate (PEM); empty: the
  /// authorities of the system.
  std::string registry_authority = {};

  /// Local: whether mpirun is restarted after a failure, at most `retries` times.
  bool restart_on_failure = false;

  /// Returns the number of processes of the job.
  int processes() const { return trainers + parameter_servers; }
};

/// Converts a quantity of Kubernetes, "512Mi", to bytes; negative if the text is not a quantity.
LAMINA_COLD inline double bytes_of_quantity(std::string_view quantity) {
  std::size_t at = 0;
  double number = 0, place = 1;
  bool after_point = false, has_digits = false;
  for (; at < quantity.size(); ++at) {
    const char c = quantity[at];
    if (c == '.' && !after_point) {
      after_point = true;
    } else if (c >= '0' && c <= '9') {
      has_digits = true;
      if (after_point) place /= 10;
      number = after_point ? number + place * (c - '0') : 10 * number + (c - '0');
    } else {
      break;
    }
  }
  if (!has_digits) return -1;
  const std::string_view suffix = quantity.substr(at);
  if (suffix.empty()) return number;
  constexpr std::string_view binary[] = {"Ki", "Mi", "Gi", "Ti", "Pi"},
                             decimal[] = {"k", "M", "G", "T", "P"};
  for (int i = 0; i < 5; ++i) {
    if (suffix == binary[i]) return number * std::pow(1024.0, i + 1);
    if (suffix == decimal[i]) return number * std::pow(1000.0, i + 1);
  }
  return -1;
}

namespace detail {

[[noreturn]] LAMINA_COLD inline void bad_option(std::string_view option, std::string_view expected,
                                                std::string_view found) {
  throw error(text() << "lamina: launch: " << option << ": expected " << expected << ", found '"
                     << found << "'");
}

/// Tells whether a text is a valid name in Kubernetes (a DNS label, RFC 1123) of at most `longest`
/// characters.
LAMINA_COLD inline bool is_dns_label(std::string_view name, std::size_t longest) {
  if (name.empty() || name.size() > longest || name.front() == '-' || name.back() == '-')
    return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) return false;
  return true;
}

LAMINA_COLD inline void require_label(std::string_view option, std::string_view name,
                                      std::size_t longest) {
  if (!is_dns_label(name, longest))
    bad_option(
        option,
        std::string(text() << "small letters, digits and - between them, at most " << longest),
        name);
}

/// Requires a valid name of an object of Kubernetes (a DNS subdomain, RFC 1123): labels separated
/// by dots.
LAMINA_COLD inline void require_subdomain(std::string_view option, std::string_view name) {
  bool is_one = name.size() <= 253;
  for (std::string_view rest = name; is_one;) {
    const std::size_t end = rest.find('.');
    is_one = is_dns_label(rest.substr(0, end), 253);
    if (end == rest.npos) break;
    rest.remove_prefix(end + 1);
  }
  if (!is_one)
    bad_option(option,
               "small letters, digits, and - and single dots between them, at most 253 in all",
               name);
}

LAMINA_COLD inline void require_count(std::string_view option, int found, int least, int most) {
  if (found < least || found > most)
    bad_option(option, std::string(text() << "a number from " << least << " to " << most),
               std::string(text() << found));
}

/// Requires a text that fits on a line of a script or log: no newlines or other control characters.
LAMINA_COLD inline void require_printable(std::string_view option, std::string_view found) {
  for (const char c : found)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      bad_option(option, "letters without ends of lines and control characters", found);
}

LAMINA_COLD inline void require_quantity(std::string_view option, std::string_view found) {
  const double bytes = bytes_of_quantity(found);
  if (!(bytes >= 1) || bytes > 1e18)
    bad_option(option, "bytes, or a number with k, M, G, T, Ki, Mi, Gi, Ti behind it", found);
}

/// Checks the options for building the image and logging in to its registry.
LAMINA_COLD inline void require_valid_for_build(const job& j) {
  if (j.build != "yes" && j.build != "no" && j.build != "auto")
    bad_option("build", "yes, no or auto", j.build);
  if (j.build == "no") return;
  if (j.image.find('/') == j.image.npos || j.image.find('@') != j.image.npos)
    bad_option("image", "REGISTRY/USER/NAME:TAG for an image to build (or build = \"no\")",
               j.image);
  if (j.image.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-/:"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ[]") != j.image.npos)
    bad_option("image", "letters, digits and ._-/:", j.image);
  for (const std::string* const word : {&j.base_image, &j.program}) {
    require_printable("base_image and program", *word);
    if (word->find_first_of(" '\"\\$`") != word->npos)
      bad_option("base_image and program", "letters without blanks and quotes", *word);
  }
  if (j.program.find("/../") != j.program.npos || j.program.ends_with('/'))
    bad_option("program", "the path of a file, without ..", j.program);
  const std::string tool = j.image_tool.substr(j.image_tool.rfind('/') + 1);
  if (!tool.empty() && tool != "buildah" && tool != "podman" && tool != "docker")
    bad_option("image_tool", "buildah, podman or docker", j.image_tool);
  if (j.registry_user.empty() != j.registry_token_file.empty())
    bad_option("registry_user", "registry_user and registry_token_file together", j.registry_user);
  if (j.registry_user.find(':') != j.registry_user.npos)
    bad_option("registry_user", "a name without :", j.registry_user);
  if (!j.registry_user.empty() && !j.registry_auth_file.empty())
    bad_option("registry_auth_file", "either it or registry_user", j.registry_auth_file);
}

LAMINA_COLD inline void require_valid_for_kubernetes(const job& j) {
  require_label("name_space", j.name_space, 63);
  if (j.kind != "Job" && j.kind != "JobSet" && j.kind != "MPIJob" && j.kind != "TrainJob")
    bad_option("kind", "Job, JobSet, MPIJob or TrainJob", j.kind);
  if (j.image.empty() || j.image.find_first_of(" \t'\"\\") != j.image.npos)
    bad_option("image", "the name of a container image", j.image);
  require_printable("image", j.image);
  if (!j.program.starts_with('/')) bad_option("program", "a path from the root /", j.program);
  require_count("user", j.user, 1, 2000000000);
  if (!j.checkpoint_claim.empty()) require_subdomain("checkpoint_claim", j.checkpoint_claim);
  if (!j.checkpoint_size.empty()) {
    if (j.checkpoint_claim.empty())
      bad_option("checkpoint_claim", "a name beside checkpoint_size", j.checkpoint_claim);
    require_quantity("checkpoint_size", j.checkpoint_size);
  }
  for (const std::string& s : j.secrets) require_subdomain("secrets", s);
  if (!j.pull_secret.empty()) require_subdomain("pull_secret", j.pull_secret);
  require_subdomain("runtime", j.runtime);
  if (j.kind == "TrainJob" &&
      !(j.checkpoint_claim.empty() && j.secrets.empty() && j.pull_secret.empty()))
    bad_option("kind", "volumes and secrets in the runtime of a TrainJob, not in the job", j.kind);
  if (!j.server.empty() && !j.server.starts_with("https://"))
    bad_option("server", "https://HOST:PORT", j.server);
  if (j.server.empty() &&
      !(j.authority.empty() && j.token_file.empty() && j.certificate.empty() && j.key.empty()))
    bad_option("server", "https://HOST:PORT beside authority, token_file and certificate", "");
  if (j.certificate.empty() != j.key.empty())
    bad_option("key", "certificate and key together", j.key);
  require_valid_for_build(j);
}

}  // namespace detail

/// Throws lamina::error that names the first option which violates the description in struct job.
LAMINA_COLD inline void require_valid(const job& j) {
  using namespace detail;
  if (j.backend != "local" && j.backend != "slurm" && j.backend != "kubernetes")
    bad_option("backend", "local, slurm or kubernetes", j.backend);
  require_count("trainers", j.trainers, 1, 100000);
  require_count("parameter_servers", j.parameter_servers, 0, 100000);
  require_count("cpus", j.cpus, 1, 10000);
  require_quantity("memory", j.memory);
  // The limit leaves room for the suffixes that Kubernetes appends to names of pods. The name of a
  // service must begin with a letter.
  require_label("name", j.name, 40);
  if (j.name.front() < 'a') bad_option("name", "a letter in front", j.name);
  require_count("retries", j.retries, 0, 1000);
  require_count("deadline", j.deadline, 0, 2000000000);
  for (const std::string& a : j.arguments)
    if (a.find('\0') != a.npos) bad_option("arguments", "letters without a zero", a.c_str());
  if (j.backend == "slurm")
    for (const std::string* const word : {&j.partition, &j.account}) {
      require_printable("partition and account", *word);
      // sbatch takes # as the beginning of a comment.
      if (word->find_first_of(" '\"\\$`#") != word->npos)
        bad_option("partition and account", "letters without blanks, quotes and #", *word);
    }
  if (j.backend == "kubernetes") require_valid_for_kubernetes(j);
}

}}}  // namespace lamina::distributed

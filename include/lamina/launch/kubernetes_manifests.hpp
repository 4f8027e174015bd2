// SPDX-License-Identifier: Apache-2.0
// lamina/launch/kubernetes_manifests.hpp - writes the manifests of a job for
// Kubernetes. Needs nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <nlohmann/json.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#include <lamina/core/messages/text.hpp>
#include <lamina/launch/job.hpp>
#include <lamina/launch/started_words.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Escapes a word for the command, the arguments or a variable of a container. The kubelet replaces
/// `$(NAME)` by the value of a variable and `$$` by `$`, and it corrupts a byte above 127 that
/// follows a single `$`; so each `$` is written as `$$`. Values from a secret or a ConfigMap are
/// not expanded.
LAMINA_COLD inline std::string kubelet_word(std::string_view word) {
  std::string written;
  for (const char c : word) written += c == '$' ? std::string("$$") : std::string(1, c);
  return written;
}

namespace detail {

using manifest = nlohmann::ordered_json;

inline constexpr int launch_port = 10000;

/// The script that each pod of a Job or JobSet runs. MPICH's mpiexec would start a proxy on each
/// host by ssh; here the pods start the proxies, which connect to mpiexec in pod 0 and run what it
/// requests. A proxy whose mpiexec has ended waits for the next one: only pod 0 decides how the job
/// ends. The command line of the proxy is the one that `mpiexec.hydra -launcher manual` of MPICH 4
/// prints. The script is process 1 of its pod, so it receives only signals for which it sets a
/// trap.
inline constexpr const char* pod_script = R"(proxy() {
  exec hydra_pmi_proxy --control-port "$LAMINA_LEADER:$LAMINA_PORT" --rmk user --launcher manual \
    --demux poll --pgid 0 --retries 10 --usize -2 --pmi-port 0 --gpus-per-proc -2 \
    --proxy-id "$JOB_COMPLETION_INDEX"
}
process=
end() {
  trap '' TERM INT
  for _ in 1 2 3 4 5; do
    kill "$process" 2> /dev/null || break
    sleep 1
  done
  exit 143
}
trap end TERM INT
if [ "$JOB_COMPLETION_INDEX" != 0 ]; then
  while :; do
    proxy &
    process=$!
    wait "$process" || :
    sleep 1
  done
fi
MPIEXEC_PORT_RANGE="$LAMINA_PORT:$LAMINA_PORT" mpiexec.hydra -launcher manual \
  -localhost "$LAMINA_LEADER" -hosts "$LAMINA_HOSTS" -n "$LAMINA_PROCESSES" \
  "$@" < /dev/null &
process=$!
(while kill -0 "$process" 2> /dev/null; do (proxy) && break; sleep 1; done) &
wait "$process"
)";

/// The folder at which the pods of an MPIJob mount its secrets.
inline constexpr const char* secret_folder = "/run/lamina/secrets";

/// The script that starts each process of an MPIJob with secrets. sshd starts the processes without
/// the variables of their container, so the script reads the variables from the files of the
/// secrets. This keeps secrets off command lines and off the network of MPI.
inline constexpr const char* secret_script = R"(for file in /run/lamina/secrets/*/*; do
  name=${file##*/}
  case $name in [0-9]* | *[!A-Za-z0-9_]* | LAMINA_*) continue ;; esac
  value=$(cat "$file" && echo .) || exit 64
  export "$name=${value%.}"
done
exec "$@"
)";

LAMINA_COLD inline manifest metadata_of(const job& j, const std::string& name) {
  return {
      {"name", name},
      {"namespace", j.name_space},
      {"labels", {{"app.kubernetes.io/name", j.name}, {"app.kubernetes.io/managed-by", "lamina"}}}};
}

LAMINA_COLD inline manifest resources_of(const job& j) {
  const std::string cpus = text() << j.cpus;
  return {{"requests", {{"cpu", cpus}, {"memory", j.memory}}},
          {"limits", {{"cpu", cpus}, {"memory", j.memory}}}};
}

/// Escapes words for the kubelet.
LAMINA_COLD inline manifest kubelet_words(const manifest& words) {
  manifest written = manifest::array();
  for (const manifest& w : words) written.push_back(kubelet_word(w.get<std::string>()));
  return written;
}

/// Escapes the values of variables for the kubelet.
LAMINA_COLD inline manifest kubelet_variables(manifest variables) {
  for (manifest& v : variables) v["value"] = kubelet_word(v["value"].get<std::string>());
  return variables;
}

/// Describes a container that runs without root and capabilities, and whose file system is
/// read-only except for /tmp, /dev/shm and /checkpoints.
LAMINA_COLD inline manifest container_of(const job& j, const std::string& name, manifest command,
                                         manifest environment) {
  manifest mounts = {{{"name", "shm"}, {"mountPath", "/dev/shm"}},
                     {{"name", "tmp"}, {"mountPath", "/tmp"}}};
  if (!j.checkpoint_claim.empty())
    mounts.push_back({{"name", "checkpoints"}, {"mountPath", "/checkpoints"}});
  manifest c = {{"name", name},
                {"image", j.image},
                {"command", kubelet_words(command)},
                {"env", kubelet_variables(std::move(environment))},
                {"resources", resources_of(j)},
                {"volumeMounts", std::move(mounts)},
                {"securityContext",
                 {{"allowPrivilegeEscalation", false},
                  {"readOnlyRootFilesystem", true},
                  {"runAsNonRoot", true},
                  {"runAsUser", j.user},
                  {"capabilities", {{"drop", manifest::array({"ALL"})}}},
                  {"seccompProfile", {{"type", "RuntimeDefault"}}}}}};
  for (const std::string& s : j.secrets) c["envFrom"].push_back({{"secretRef", {{"name", s}}}});
  return c;
}

LAMINA_COLD inline manifest pod_of(const job& j, manifest container, const char* policy,
                                   bool has_subdomain) {
  // MPI uses /dev/shm between processes of one machine; it counts as memory of the container.
  manifest volumes = {{{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}}}},
                      {{"name", "tmp"}, {"emptyDir", manifest::object()}}};
  if (!j.checkpoint_claim.empty())
    volumes.push_back(
        {{"name", "checkpoints"}, {"persistentVolumeClaim", {{"claimName", j.checkpoint_claim}}}});
  const manifest labels = metadata_of(j, j.name)["labels"];
  manifest spec = {{"restartPolicy", policy},
                   {"automountServiceAccountToken", false},
                   {"enableServiceLinks", false},
                   {"terminationGracePeriodSeconds", 30},
                   {"securityContext",
                    {{"runAsNonRoot", true},
                     {"runAsUser", j.user},
                     {"fsGroup", j.user},
                     {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
                   {"topologySpreadConstraints",
                    manifest::array({{{"maxSkew", 1},
                                      {"topologyKey", "kubernetes.io/hostname"},
                                      {"whenUnsatisfiable", "ScheduleAnyway"},
                                      {"labelSelector", {{"matchLabels", labels}}}}})},
                   {"containers", manifest::array({std::move(container)})},
                   {"volumes", std::move(volumes)}};
  if (has_subdomain) spec["subdomain"] = j.name;
  if (!j.pull_secret.empty())
    spec["imagePullSecrets"] = manifest::array({{{"name", j.pull_secret}}});
  return {{"metadata", {{"labels", labels}}}, {"spec", std::move(spec)}};
}

/// Returns the command of an MPI launcher, followed by the command of the program.
LAMINA_COLD inline manifest words_of(const job& j, manifest before) {
  for (const std::string& w : started_words(j.program, j.arguments)) before.push_back(w);
  return before;
}

/// Returns the beginning of an mpirun command that starts the processes of a job by ssh. ssh does
/// not pass variables on, so mpirun must.
LAMINA_COLD inline manifest mpirun_of(const manifest& variables) {
  manifest words = manifest::array({"mpirun"});
  for (const manifest& v : variables) {
    words.push_back("-x");
    words.push_back(v["name"]);
  }
  return words;
}

/// Mounts the secrets of a job as files in the pods of an MPIJob. If several secrets define a
/// variable, the last one counts; the numbered folders preserve their order.
LAMINA_COLD inline void mount_secrets(const job& j, manifest& pod) {
  for (std::size_t i = 0; i < j.secrets.size(); ++i) {
    const std::string number = text() << i;
    const std::string place = std::string(number.size() < 4 ? 4 - number.size() : 0, '0') + number,
                      volume = "secret-" + place;
    pod["spec"]["volumes"].push_back(
        {{"name", volume}, {"secret", {{"secretName", j.secrets[i]}, {"defaultMode", 0440}}}});
    for (manifest& container : pod["spec"]["containers"])
      container["volumeMounts"].push_back(
          {{"name", volume}, {"mountPath", secret_folder + ("/" + place)}, {"readOnly", true}});
  }
}

/// Returns the variables that tell a process that it belongs to the job, and tell its session the
/// roles.
LAMINA_COLD inline manifest role_of(const job& j) {
  manifest variables = manifest::array({{{"name", "LAMINA_ROLE"}, {"value", "trainer"}}});
  if (j.parameter_servers > 0)
    variables.push_back({{"name", "LAMINA_PARAMETER_SERVERS"},
                         {"value", std::string(text() << j.parameter_servers)}});
  return variables;
}

/// Returns the spec of an indexed Job whose pods are named `host`-0, `host`-1, ...
LAMINA_COLD inline manifest indexed_of(const job& j, const std::string& host) {
  std::string hosts;
  for (int i = 0; i < j.processes(); ++i)
    hosts += std::string(text() << (i > 0 ? "," : "") << host << "-" << i << "." << j.name << ":1");
  // Linux limits one argument or variable to 128 KiB.
  if (constexpr std::size_t longest = 128 * 1024 - 16; hosts.size() > longest)
    bad_option("trainers and name",
               std::string(text() << "processes whose names have " << longest
                                  << " letters together, for the kind " << j.kind),
               std::string(text() << j.processes() << " processes with " << hosts.size()));
  manifest environment = {
      {{"name", "LAMINA_LEADER"}, {"value", std::string(text() << host << "-0." << j.name)}},
      {{"name", "LAMINA_PORT"}, {"value", std::string(text() << launch_port)}},
      {{"name", "LAMINA_HOSTS"}, {"value", hosts}},
      {{"name", "LAMINA_PROCESSES"}, {"value", std::string(text() << j.processes())}}};
  for (const manifest& variable : role_of(j)) environment.push_back(variable);
  manifest container = container_of(j, "trainer", words_of(j, {"/bin/sh", "-c", pod_script, "sh"}),
                                    std::move(environment));
  container["ports"] = manifest::array({{{"name", "mpi"}, {"containerPort", launch_port}}});
  // restartPolicy Never: Kubernetes replaces a failed pod, and backoffLimit counts the
  // replacements.
  manifest spec = {
      {"completions", j.processes()},
      {"parallelism", j.processes()},
      {"completionMode", "Indexed"},
      {"backoffLimit", j.retries},
      {"successPolicy", {{"rules", manifest::array({{{"succeededIndexes", "0"}}})}}},
      {"podFailurePolicy",
       {{"rules",
         manifest::array({{{"action", "FailJob"},
                           {"onExitCodes",
                            {{"containerName", "trainer"},
                             {"operator", "In"},
                             {"values", manifest::array({64, 65})}}}},
                          {{"action", "Ignore"},
                           {"onPodConditions", manifest::array({{{"type", "DisruptionTarget"},
                                                                 {"status", "True"}}})}}})}}},
      {"template", pod_of(j, std::move(container), "Never", true)}};
  if (j.deadline > 0) spec["activeDeadlineSeconds"] = j.deadline;
  return spec;
}

LAMINA_COLD inline manifest mpi_job_of(const job& j) {
  const manifest environment = role_of(j);
  manifest words = mpirun_of(environment);
  words.push_back("-n");
  words.push_back(std::string(text() << j.processes()));
  if (!j.secrets.empty())
    for (const char* const w : {"/bin/sh", "-c", secret_script, "sh"}) words.push_back(w);
  manifest launcher = container_of(j, "launcher", words_of(j, std::move(words)), environment);
  manifest worker = container_of(
      j, "worker", {"/usr/sbin/sshd", "-De", "-f", "/home/mpiuser/.sshd_config"}, environment);
  // The launcher does not train, so it needs few resources.
  launcher["resources"] = {{"requests", {{"cpu", "1"}, {"memory", "512Mi"}}},
                           {"limits", {{"cpu", "1"}, {"memory", "512Mi"}}}};
  manifest policy = {{"cleanPodPolicy", "Running"}, {"backoffLimit", j.retries}};
  if (j.deadline > 0) policy["activeDeadlineSeconds"] = j.deadline;
  manifest launcher_pod = pod_of(j, std::move(launcher), "OnFailure", false),
           worker_pod = pod_of(j, std::move(worker), "OnFailure", false);
  for (manifest* const pod : {&launcher_pod, &worker_pod}) mount_secrets(j, *pod);
  return {
      {"slotsPerWorker", 1},
      {"sshAuthMountPath", "/home/mpiuser/.ssh"},
      {"mpiImplementation", "OpenMPI"},
      {"launcherCreationPolicy", "WaitForWorkersReady"},
      {"runPolicy", std::move(policy)},
      {"mpiReplicaSpecs",
       {{"Launcher",
         {{"replicas", 1}, {"restartPolicy", "OnFailure"}, {"template", std::move(launcher_pod)}}},
        {"Worker",
         {{"replicas", j.processes()},
          {"restartPolicy", "OnFailure"},
          {"template", std::move(worker_pod)}}}}}};
}

LAMINA_COLD inline manifest object_of(const job& j, const char* version, const char* kind,
                                      const std::string& name, manifest spec) {
  return {{"apiVersion", version},
          {"kind", kind},
          {"metadata", metadata_of(j, name)},
          {"spec", std::move(spec)}};
}

}  // namespace detail

/// Returns a `List` with the objects of a job: a claim if checkpoint_size asks for one; for a Job
/// and a JobSet, a network policy that admits only pods of the job; for a Job, a headless service
/// through which pods find each other; and the job itself, of `kind`. The text is JSON, which is
/// also YAML: `kubectl apply -f -` accepts it. It contains neither token nor certificate of the
/// user, and refers to secrets by name. Throws lamina::error as require_valid does, and for
/// arguments that are not UTF-8. Arguments reach the program unchanged, whatever the kubelet and
/// mpirun would expand in them.
LAMINA_COLD inline std::string kubernetes_manifests(const job& given) {
  using namespace detail;
  job j = given;
  j.backend = "kubernetes";
  j.build = "no";  // manifests need only the image's name
  require_valid(j);
  manifest items = manifest::array();
  if (!j.checkpoint_size.empty())
    items.push_back(object_of(j, "v1", "PersistentVolumeClaim", j.checkpoint_claim,
                              {{"accessModes", manifest::array({"ReadWriteMany"})},
                               {"resources", {{"requests", {{"storage", j.checkpoint_size}}}}}}));
  // MPI does not authenticate its peers, so only pods of the job may connect.
  if (j.kind == "Job" || j.kind == "JobSet") {
    const manifest selected = {{"matchLabels", metadata_of(j, j.name)["labels"]}};
    const manifest peer = {{"podSelector", selected}};
    items.push_back(
        object_of(j, "networking.k8s.io/v1", "NetworkPolicy", j.name,
                  {{"podSelector", selected},
                   {"policyTypes", manifest::array({"Ingress"})},
                   {"ingress", manifest::array({{{"from", manifest::array({peer})}}})}}));
  }
  if (j.kind == "Job") {
    // The service must publish pods before they are ready, because they start by finding each
    // other.
    items.push_back(
        object_of(j, "v1", "Service", j.name,
                  {{"clusterIP", "None"},
                   {"publishNotReadyAddresses", true},
                   {"selector", {{"app.kubernetes.io/name", j.name}}},
                   {"ports", manifest::array({{{"name", "mpi"}, {"port", launch_port}}})}}));
    items.push_back(object_of(j, "batch/v1", "Job", j.name, indexed_of(j, j.name)));
  } else if (j.kind == "JobSet") {
    manifest inner = indexed_of(j, j.name + "-trainer-0");
    // The JobSet restarts all pods together, so no pod is restarted alone. JobSet 0.6 and later do
    // not restart a job that the deadline or an exit code has ended.
    inner["backoffLimit"] = 0;
    const manifest ends = {
        {"name", "ended"},
        {"action", "FailJobSet"},
        {"onJobFailureReasons", manifest::array({"DeadlineExceeded", "PodFailurePolicy"})}};
    items.push_back(object_of(
        j, "jobset.x-k8s.io/v1alpha2", "JobSet", j.name,
        {{"failurePolicy", {{"maxRestarts", j.retries}, {"rules", manifest::array({ends})}}},
         {"network",
          {{"enableDNSHostnames", true},
           {"publishNotReadyAddresses", true},
           {"subdomain", j.name}}},
         {"replicatedJobs", manifest::array({{{"name", "trainer"},
                                              {"replicas", 1},
                                              {"template", {{"spec", std::move(inner)}}}}})}}));
  } else if (j.kind == "MPIJob") {
    items.push_back(object_of(j, "kubeflow.org/v2beta1", "MPIJob", j.name, mpi_job_of(j)));
  } else {
    // The ClusterTrainingRuntime defines the pods and their permissions.
    items.push_back(
        object_of(j, "trainer.kubeflow.org/v1alpha1", "TrainJob", j.name,
                  {{"runtimeRef", {{"name", j.runtime}, {"kind", "ClusterTrainingRuntime"}}},
                   {"trainer",
                    {{"image", j.image},
                     {"numNodes", j.processes()},
                     {"command", kubelet_words(words_of(j, mpirun_of(role_of(j))))},
                     {"env", kubelet_variables(role_of(j))},
                     {"resourcesPerNode", resources_of(j)}}}}));
  }
  try {
    return manifest{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}}.dump(2) +
           "\n";
  } catch (const manifest::type_error&) {
    throw error("lamina: launch: arguments, program and image: expected UTF-8, found other bytes");
  }
}

/// Returns the configuration with which kubectl connects to `j.server`; it refers to the files of
/// token, certificates and key, and contains none of them.
LAMINA_COLD inline std::string kubectl_configuration(const job& j) {
  using detail::manifest;
  manifest cluster = {{"server", j.server}}, user = manifest::object();
  if (!j.authority.empty()) cluster["certificate-authority"] = j.authority;
  if (!j.token_file.empty()) user["tokenFile"] = j.token_file;
  if (!j.certificate.empty()) {
    user["client-certificate"] = j.certificate;
    user["client-key"] = j.key;
  }
  return manifest{
             {"apiVersion", "v1"},
             {"kind", "Config"},
             {"current-context", "lamina"},
             {"contexts",
              manifest::array({{{"name", "lamina"},
                                {"context", {{"cluster", "lamina"}, {"user", "lamina"}}}}})},
             {"clusters", manifest::array({{{"name", "lamina"}, {"cluster", std::move(cluster)}}})},
             {"users", manifest::array({{{"name", "lamina"}, {"user", std::move(user)}}})}}
             .dump(2) +
         "\n";
}

}}}  // namespace lamina::distributed

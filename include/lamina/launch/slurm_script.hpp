// SPDX-License-Identifier: Apache-2.0
// lamina/launch/slurm_script.hpp - writes the batch script of a job for Slurm.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <lamina/core/messages/text.hpp>
#include <lamina/launch/job.hpp>
#include <lamina/launch/shell_word.hpp>
#include <lamina/launch/started_words.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

namespace detail {

/// The shell command of each task of Slurm. srun returns the highest exit code of its tasks; a task
/// that srun ends because another one has failed would have 143 or 137 and hide the exit code of
/// the failed task. This shell prevents that.
inline constexpr std::string_view task_script =
    "trap : HUP INT TERM USR1 USR2; \"$@\"; code=$?; "
    "case $code in 137 | 143) exit 1 ;; *) exit $code ;; esac";

}  // namespace detail

/// Returns the script for `sbatch`: each process is a task of `cpus` cores that runs `program`,
/// whose path must be visible on all machines, with the arguments of the job. A task that fails
/// ends the others; the job then requeues itself, at most `retries` times, except after the exit
/// codes 64 and 65, because another try would fail again. `mpi` is the MPI with which the program
/// is linked, as mpi_of returns it: processes of Open MPI find each other by PMIx, those of MPICH
/// and its derivatives by PMI-2. The tasks get the variables of the script even if the user's
/// environment sets SBATCH_EXPORT=NONE or SLURM_EXPORT_ENV. Throws lamina::error as require_valid
/// does.
LAMINA_COLD inline std::string slurm_script(const job& j, std::string_view program,
                                            std::string_view mpi = "") {
  require_valid(j);
  const auto mebibytes = static_cast<std::int64_t>(
      std::ceil(bytes_of_quantity(j.memory) / (1024.0 * 1024.0) / j.cpus));
  text s;
  s << "#!/bin/sh\n#SBATCH --job-name=" << j.name << "\n#SBATCH --ntasks=" << j.processes()
    << "\n#SBATCH --cpus-per-task=" << j.cpus << "\n#SBATCH --mem-per-cpu=" << mebibytes
    << "M\n#SBATCH --requeue\n#SBATCH --open-mode=append\n";
  // Slurm counts minutes; a fraction is rounded up.
  if (j.deadline > 0) s << "#SBATCH --time=" << (j.deadline + std::int64_t{59}) / 60 << "\n";
  if (!j.partition.empty()) s << "#SBATCH --partition=" << j.partition << "\n";
  if (!j.account.empty()) s << "#SBATCH --account=" << j.account << "\n";
  if (j.parameter_servers > 0)
    s << "export LAMINA_PARAMETER_SERVERS=" << j.parameter_servers << "\n";
  // An allocation in which sbatch is called sets these variables, and srun would report that they
  // contradict the options of this job.
  s << "unset SLURM_MEM_PER_NODE SLURM_MEM_PER_GPU SLURM_NTASKS_PER_NODE\n"
    << "export LAMINA_ROLE=trainer\nsrun --mpi=" << (mpi == "Open MPI" ? "pmix" : "pmi2")
    << " --export=ALL --kill-on-bad-exit=1 --cpus-per-task=" << j.cpus << " /bin/sh -c "
    << shell_word(detail::task_script) << " sh";
  for (const std::string& w : started_words(std::string(program), j.arguments))
    s << " " << shell_word(w);
  s << "\ncode=$?\ncase $code in 0|64|65) exit $code ;; esac\n"
       "if [ \"${SLURM_RESTART_COUNT:-0}\" -lt "
    << j.retries << " ]; then\n  scontrol requeue \"$SLURM_JOB_ID\"\nfi\nexit $code\n";
  return s;
}

}}}  // namespace lamina::distributed

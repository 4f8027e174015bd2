#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions in programs that use MPI themselves, and the end of exchanges after a failure.

 twice          the program begins and ends MPI; two sessions between, and messages of its own
 after_failure  so, but the first session fails while large messages are on their way
 own_twice      the first session has ended MPI, so a second one is an error
 too_low        the program has begun MPI without threads
 other_thread   a session in another thread than the one that MPI allows
 no_trainers    options that do not fit: the session ends MPI
 one_thread     a communication thread, but the program has begun MPI for one thread
 at_end         a rank fails when the others are at the end of their sessions: its message appears
 other_call     a rank gathers another number of bytes than the others
 late           a rank gives up an exchange whose receiver comes a second later: the message arrives
                as it was when it was sent
 exit_code      one rank or two know why all end: the launcher returns the code of the one that
                knows
 codes          the rule for it
 deaf           the receiver does not come: the rank ends all processes with its reason

usage: sessions.py PROGRAM --mpirun MPIRUN
"""
import argparse
import re
import sys
import time

from processes import ENDS_WITHIN, failure, launcher


def check(launch):
    for ranks, what, code_is_0, out_has, err_has in (
            (1, "twice", True, "", ""),
            (2, "twice", True, "", ""),
            (3, "twice", True, "", ""),
            (2, "after_failure", True, "", ""),
            (3, "after_failure", True, "", ""),
            (2, "own_twice", False, "", r"expected an MPI that has not ended, found one after"
                                        r" MPI_Finalize"),
            (2, "too_low", False, "", r"expected MPI_THREAD_FUNNELED or a higher level .* found"
                                      r" MPI_THREAD_SINGLE"),
            (2, "other_thread", False, "", r"expected a session in the thread that has begun MPI,"
                                           r" found another"),
            (2, "no_trainers", False, "", r"expected 2 parameter servers and 1 or more trainers,"
                                          r" found 2 processes"),
            (2, "one_thread", False, "", r"expected MPI_THREAD_MULTIPLE for communication_thread"
                                         r" from the program that has begun MPI, found a lower"
                                         r" level"),
            (2, "at_end", False, "", r"lamina: test: the result cannot be written"),
            (4, "at_end", False, "", r"lamina: test: the result cannot be written"),
            (2, "other_call", False, "", r"expected that all processes make the same calls, found"
                                         r" rank 0 in another call|do all processes make the same"),
            (4, "other_call", False, "", r"expected that all processes make the same calls, found"
                                         r" rank \d in another call|do all processes make the"
                                         r" same"),
            (2, "late", False, "the whole message", r"the disk is full \(in rank 0 on \S+\)"),
            (2, "deaf", False, "", r"the disk is full")):
        begin = time.monotonic()
        code, out, err = launch.run(ranks, what)
        took = time.monotonic() - begin
        if (code == 0) != code_is_0 or out_has not in out or not re.search(err_has, err):
            raise failure(f"{ranks} processes, {what}: found code {code}, '{out}' and\n{err}")
        if took > min(ENDS_WITHIN, 20):
            raise failure(f"{ranks} processes, {what}: ended after {took:.1f} s")
    if launch.run(0, "codes")[0] != 0:
        raise failure("codes: another rule")
    # Each rank may be the one that knows; with the last two, another one ends with 1.
    for knows, wanted in (("0", 65), ("1", 65), ("2", 65), ("1", 64), ("2", 75), ("0", 3),
                          ("02", 65), ("20", 65)):
        code, out, err = launch.run(3, "exit_code", knows, str(wanted))
        heard = err.count("an exception ended the process (in rank")
        if (code != wanted or err.count("this rank knows") != len(knows)
                or (len(knows) == 1 and heard != 2)):
            raise failure(f"rank {knows} knows {wanted}: found code {code} and\n{err}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--mpirun", required=True)
    options = parser.parse_args()
    try:
        check(launcher(options.program, options.mpirun))
    except failure as e:
        sys.exit(f"sessions: {e}")

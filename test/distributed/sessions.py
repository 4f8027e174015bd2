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
 wait           ranks wait for others that wait, sleep, have ended their sessions or fail, as
                drawn at random: the error names those that are to blame and no other, and comes
                at once unless a rank is silent
 exit_code      one rank or two know why all end: the launcher returns the code of the one that
                knows
 codes          the rule for it
 deaf           the receiver does not come: the rank ends all processes with its reason

usage: sessions.py PROGRAM --mpirun MPIRUN [--seed N]
"""
import argparse
import random
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


def blamed(letters):
    """What an error says of ranks that do this (use_sessions.cpp, wait), what it must not say, and
    whether it comes at once."""
    ranks = range(len(letters))
    if "f" in letters:
        return (rf"the disk is full|an exception ended the process \(in rank {letters.index('f')}",
                r"expected a word|has ended", True)
    gone = [r for r in ranks if letters[r] == "l"]
    if gone and ("g" in letters or any(str(r) in letters for r in gone)):
        others = "".join(str(r) for r in ranks if r not in gone)
        return (rf"expected rank [{''.join(map(str, gone))}] on \S+.* ha(s|ve) ended",
                rf"expected rank [{others}]|silence", True)
    silent = "".join(str(r) for r in ranks if letters[r] == "s")
    if silent:
        others = "".join(str(r) for r in ranks if str(r) not in silent)
        return (rf"expected a word from rank [{silent}] on .* within 1 s, found silence",
                rf"a word from [^(]*rank [{others}] ", False)
    return (r"each has waited for another for 1 s: rank \d", r"silence|has ended its session \(",
            False)


def check_waits(launch, seed):
    draw = random.Random(seed)
    drawn = ["1s", "12s", "1gs", "gsg", "10", "1gg", "g1", "1l", "gl", "20l", "gf", "1f2"]
    for ranks in (3, 4, 4):
        digits = "".join(map(str, range(ranks)))
        drawn.append("".join(draw.choice(digits.replace(str(r), "") + "gsl" if r else "12g")
                             for r in range(ranks)))
    for letters in drawn:
        expected, never, at_once = blamed(letters)
        begin = time.monotonic()
        code, out, err = launch.run(len(letters), "wait", letters, "60" if at_once else "1")
        took = time.monotonic() - begin
        said = "\n".join(line for line in err.splitlines() if "lamina:" in line)
        if code == 0 or not re.search(expected, err) or re.search(never, said):
            raise failure(f"wait {letters}: expected {expected} and not {never}, found code {code},"
                          f"\n{err}")
        if took > 20:
            raise failure(f"wait {letters}: ended after {took:.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        check(launcher(options.program, options.mpirun))
        check_waits(launcher(options.program, options.mpirun), options.seed)
    except failure as e:
        sys.exit(f"sessions: {e}")

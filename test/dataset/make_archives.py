#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small archives in the layout of the original data sets, and what PaddlePaddle reads of them.

usage: make_archives.py FOLDER             writes the archives, byte for byte the same each time
       make_archives.py FOLDER --expected  also writes NAME.expected.txt, by the readers of
                                           PaddlePaddle 2.6 (paddle.dataset), which must be
                                           installed

The archives are those of Python's tarfile and zipfile. The tests of lamina's readers compare the
expected texts with their own, line by line.
"""
import gzip
import io
import pathlib
import random
import shutil
import sys
import tarfile
import zipfile

PTB_TRAIN = """\
 the cat sat on the mat N times
 the dog sat on the <unk>
 a cat and a dog met
 mat
 zebra apple zebra apple\t
 na\u00efve cats sat
"""
PTB_VALID = """\
 the cat met the dog
 a new word sat here
"""
PTB_TEST = " only here\n"

REVIEWS = {
    "train/pos/0_9.txt": "A GREAT film, isn't it? Great!<br /><br />Great fun.",
    "train/pos/10_7.txt": "great acting and a great plot -- well-made...\r\n",
    "train/neg/0_1.txt": "Bad. Bad acting, a bad plot; caf\u00e9 na\u00efve \u2014 bad\n\n",
    "train/neg/1_2.txt": "an awful film",
    "train/unsup/0_0.txt": "great great great great unseen unseen unseen",
    "train/pos/notes.md": "great great great great unseen unseen unseen",
    "test/neg/0_3.txt": "awful awful plot\twith a\x0bbad\x0cend",
    "test/pos/0_8.txt": "!!! ...",
    "test/pos/1_8.txt": "a film with GREAT actors, 10/10",
}

MOVIES = """\
1::Toy Story (1995)::Animation|Children's|Comedy
2::City of Lost Children, The (1995)::Adventure|Sci-Fi
7::Mis\u00e9rables, Les (1998)::Drama
9::\u00c9motion the (story) (0)::Drama|Comedy
12::(1999)::Comedy
"""
USERS = """\
1::F::1::10::48067
2::M::56::16::70072-12
6::M::25::0::
30::F::45::20::V6J 2W1
"""

WMT_SOURCE_DICT = ["<s>", "<e>", "<unk>", "le", "chat", "noir", "\u00e9tait", "ici", "rare"]
WMT_TARGET_DICT = ["<s>", "<e>", "<unk>", "the", "cat", "black", "was", "here", "seldom"]
WMT14 = {
    "train": ["le chat noir\tthe black cat", "le chat \u00e9tait ici \t the cat was here",
              "no tab at all", "one\ttwo\tthree", "", " ".join(["le"] * 78) + "\tthe",
              " ".join(["le"] * 79) + "\ttoo long", "le\t" + " ".join(["the"] * 80),
              "le\t" + " ".join(["the"] * 81), "rare  inconnu\tseldom unknown"],
    "test": ["chat ici\tcat here"],
    "gen": ["noir\tblack", "ici\there"],
}
WMT16 = {
    "train": ["a man walks\tein Mann geht", "two men walk\tzwei M\u00e4nner gehen",
              "a dog and a man\tein Hund und ein Mann", "malformed line",
              "zoo apple\tZoo Apfel", "apple zoo\tApfel Zoo"],
    "test": ["a zoo@@ keeper\tein Zoo@@ w\u00e4rter"],
    "val": ["two dogs\tzwei Hunde", "a\tein"],
}

# Words and columns of CoNLL-2005: base forms of predicates, then a column for each of them.
CONLL = [
    [("The", "-", "(A1*", "*"), ("dog", "-", "*)", "(A0*)"), ("seen", "see", "(V*)", "*"),
     ("barked", "bark", "*", "(V*)"), ("loudly", "-", "(AM-MNR*", "(AM-MNR*"),
     ("today", "-", "*)", "*)"), (".", "-", "*", "*")],
    [("Silence", "-"), (".", "-")],
    [("Go", "go", "(V*)"), ("home", "-", "(A4*)")],
    [("We", "-", "(A0*)"), ("gave", "give", "(V*)"), ("it", "-", "(A1*)"),
     ("up", "-", "(C-V*)")],
]
CONLL_WORDS = ["<unk>", "bos", "eos", "The", "dog", "seen", "barked", ".", "Go", "home", "We",
               "gave", "it", "up", "the"]
CONLL_VERBS = ["see", "go", "bark", "give"]
CONLL_TARGETS = ["B-A0", "I-A0", "B-A1", "I-A1", "B-V", "I-V", "B-AM-MNR", "I-AM-MNR", "B-A4",
                 "B-C-V", "O"]


def ratings():
    """Enough of them that about ten are for testing."""
    drawn = random.Random(5)
    users, movies = (1, 2, 6, 30), (1, 2, 7, 9, 12)
    return "".join(f"{drawn.choice(users)}::{drawn.choice(movies)}::{drawn.randint(1, 5)}::97830\n"
                   for _ in range(100))


def tar_of(members, kind):
    """The bytes of a tar archive of (name, bytes), of (name, None) for a folder, and of
    (name, link's target) for a link."""
    to = io.BytesIO()
    with tarfile.open(fileobj=to, mode="w", format=kind) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            if content is None:
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(member)
            elif isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return to.getvalue()


def write_archives(folder):
    def gzipped(name, members, kind=tarfile.GNU_FORMAT):
        (folder / name).write_bytes(gzip.compress(tar_of(members, kind), mtime=0))

    data = "./simple-examples/data"
    gzipped("simple-examples.tgz", [
        ("./simple-examples", None), ("./simple-examples/link", "data/" + "long/" * 30),
        (data, None), (f"{data}/README", b"not a text of words"),
        (f"{data}/ptb.test.txt", PTB_TEST.encode()), (f"{data}/ptb.train.txt", PTB_TRAIN.encode()),
        (f"{data}/ptb.valid.txt", PTB_VALID.encode())])
    gzipped("aclImdb_v1.tar.gz", [("aclImdb/", None)] + [
        (f"aclImdb/{name}", text.encode()) for name, text in REVIEWS.items()], tarfile.PAX_FORMAT)
    with zipfile.ZipFile(folder / "ml-1m.zip", "w") as archive:
        for name, text in (("", ""), ("movies.dat", MOVIES), ("ratings.dat", ratings()),
                           ("README", "none of the data"), ("users.dat", USERS)):
            member = zipfile.ZipInfo("ml-1m/" + name)
            if text and name != "users.dat":
                member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, text.encode("latin-1"))
    gzipped("wmt14.tgz", [
        ("wmt14/src.dict", "".join(w + "\n" for w in WMT_SOURCE_DICT).encode()),
        ("wmt14/trg.dict", "\n".join(WMT_TARGET_DICT).encode()), ("wmt14/train", None)] + [
        (f"wmt14/{part}/{part}", "\n".join(lines).encode()) for part, lines in WMT14.items()],
        tarfile.USTAR_FORMAT)
    gzipped("wmt16.tar.gz", [(f"wmt16/{part}", "".join(line + "\n" for line in lines).encode())
                             for part, lines in WMT16.items()])
    words = "".join("".join(row[0].ljust(16) + "\n" for row in s) + "\n" for s in CONLL)
    props = "".join("".join(" ".join(f"{field:>9}" for field in row[1:]) + "\n" for row in s) + "\n"
                    for s in CONLL)
    release = "conll05st-release/test.wsj"
    gzipped("conll05st-tests.tar.gz", [
        (f"{release}/words/test.wsj.words.gz", gzip.compress(words.encode(), mtime=0)),
        (f"{release}/props/test.wsj.props.gz", gzip.compress(props.encode(), mtime=0)),
        (f"{release}/ne/test.wsj.ne.gz", b"not read")])
    for name, lines in (("wordDict", CONLL_WORDS), ("verbDict", CONLL_VERBS),
                        ("targetDict", CONLL_TARGETS)):
        (folder / f"{name}.txt").write_text("".join(line + "\n" for line in lines))


class decoded_tarfile:
    """tarfile whose members have lines of text, as those of Python 2 were, for which PaddlePaddle's
    reader of the Penn Treebank was written."""

    @staticmethod
    def open(path):
        archive = tarfile.open(path)
        plain = archive.extractfile
        archive.extractfile = lambda name: io.TextIOWrapper(plain(name), "utf-8")
        return archive


class python_numbers:
    """In place of numpy, by which PaddlePaddle 2 draws: Python's random, as version 0.11 does."""

    class random:
        seed = staticmethod(random.seed)
        random = staticmethod(random.random)


def write_expected(folder):
    import paddle.dataset.common
    from paddle.dataset import conll05, imdb, imikolov, movielens, wmt14, wmt16
    paddle.dataset.common.download = lambda url, module, md5, *_: str(
        folder / url.replace("%2F", "/").split("/")[-1])

    def in_order(ids):
        return " ".join(sorted(ids, key=ids.get))

    def write(name, lines):
        (folder / f"{name}.expected.txt").write_text("".join(line + "\n" for line in lines))

    def numbers(*fields):
        return " | ".join(" ".join(map(str, f)) for f in fields)

    imikolov.tarfile = decoded_tarfile
    ids = imikolov.build_dict(1)
    lines = [in_order(ids)]
    for read in (imikolov.train, imikolov.test):
        lines += ["n-grams"] + [numbers(s) for s in read(ids, 5)()]
        lines += ["sequences"] + [numbers(*s) for s in read(ids, 6, imikolov.DataType.SEQ)()]
    write("imikolov", lines)

    ids = {w.decode() if isinstance(w, bytes) else w: i for w, i in imdb.build_dict(
        imdb.re.compile(r"aclImdb/((train)|(test))/((pos)|(neg))/.*\.txt$"), 1).items()}
    lines = [in_order(ids)]
    known = {w.encode(): i for w, i in ids.items()}
    known["<unk>"] = ids["<unk>"]
    for read in (imdb.train, imdb.test):
        lines += ["reviews"] + [numbers(s[0], [s[1]]) for s in read(known)()]
    write("imdb", lines)

    movielens.np = python_numbers
    lines = [f"{movielens.max_user_id()} {movielens.max_movie_id()} {movielens.max_job_id()}"]
    for part in (movielens.train, movielens.test):
        names = {i: c for c, i in movielens.movie_categories().items()}
        titles = {i: w for w, i in movielens.get_movie_title_dict().items()}
        lines += ["ratings"] + [
            numbers(s[:5], [names[c] for c in s[5]], [titles[w] for w in s[6]], [int(s[7][0])])
            for s in part()()]
    lines += [" ".join(sorted(names.values())), " ".join(sorted(titles.values()))]
    write("movielens", lines)

    lines = []
    for size in (8, 30000):
        source, target = wmt14.get_dict(size, reverse=False)
        lines += [in_order(source), in_order(target)]
        for read in (wmt14.train, wmt14.test, wmt14.gen):
            lines += ["pairs"] + [numbers(*s) for s in read(size)()]
    write("wmt14", lines)

    paddle.dataset.common.DATA_HOME = str(folder)
    (folder / "wmt16").mkdir()  # for dictionaries
    lines = []
    for sizes, language in (((7, 9), "en"), ((30, 30), "en"), ((30, 8), "de")):
        for read in (wmt16.train, wmt16.test, wmt16.validation):
            lines += ["pairs"] + [numbers(*s) for s in read(*sizes, language)()]
        for of, size in zip((language, "de" if language == "en" else "en"), sizes):
            lines.append(in_order(wmt16.get_dict(of, size)))
    write("wmt16", lines)
    shutil.rmtree(folder / "wmt16")

    words, verbs, labels = conll05.get_dict()
    names = {i: label for label, i in labels.items()}
    write("conll05", [in_order(words), in_order(verbs)] + [
        numbers(*s[:8], [names[label] for label in s[8]]) for s in conll05.test()()])


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--expected"]):
        sys.exit(__doc__)
    write_archives(pathlib.Path(sys.argv[1]))
    if len(sys.argv) == 3:
        write_expected(pathlib.Path(sys.argv[1]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small archives in the layout of the original data sets, and what PaddlePaddle reads of them.

usage: make_archives.py FOLDER             writes the archives, byte for byte the same each time
       make_archives.py FOLDER --expected OLDER  also writes NAME.expected.txt, by the readers of
                                           PaddlePaddle 2.6 (paddle.dataset), which must be
                                           installed with scipy, opencv-python, pillow and nltk;
                                           sentiment and mq2007 by those of 1.8, whose wheel is
                                           unpacked in the folder OLDER

The archives are those of Python's tarfile and zipfile. The tests of lamina's readers compare the
expected texts with their own, line by line.
"""
import base64
import gzip
import hashlib
import importlib.util
import io
import pathlib
import pickle
import random
import shutil
import struct
import sys
import tarfile
import types
import zipfile
import zlib

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

# JPEG files of 14 * 20, 18 * 9, 4 * 6 and 5 * 3 pixels.
JPEG_FILES = [
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkMEQ8SEhEPERETFhwXEx"
    "QaFRERGCEYGh0dHx8fExciJCIeJBweHx7/2wBDAQUFBQcGBw4ICA4eFBEUHh4eHh4eHh4eHh4eHh4eHh4eHh4e"
    "Hh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh7/wAARCAAOABQDASIAAhEBAxEB/8QAFwAAAwEAAAAAAAAAAA"
    "AAAAAAAAYHCP/EACMQAAECBQMFAAAAAAAAAAAAAAAFIwEDBjKhAgQTITFhkfD/xAAWAQEBAQAAAAAAAAAAAAAA"
    "AAAEBQf/xAAgEQABAwIHAAAAAAAAAAAAAAACAAEGESEDBRIUMUKx/9oADAMBAAIRAxEAPwDPqTS/ZvA9oFLsaG"
    "8eRwSUCR0t9D4gU/I4NFv0SFlsiLclfq/rIsZlRUG6n+2pdqDeALXtkCRxQtAcUiKvK2PClRaGuv/Z",
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkMEQ8SEhEPERETFhwXEx"
    "QaFRERGCEYGh0dHx8fExciJCIeJBweHx7/2wBDAQUFBQcGBw4ICA4eFBEUHh4eHh4eHh4eHh4eHh4eHh4eHh4e"
    "Hh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh7/wAARCAASAAkDAREAAhEBAxEB/8QAFgABAQEAAAAAAAAAAA"
    "AAAAAABwUI/8QAIBAAAQIGAwEAAAAAAAAAAAAAAAEHBRUiM1FiESEjQf/EABcBAQEBAQAAAAAAAAAAAAAAAAYF"
    "AQf/xAAcEQABBAMBAAAAAAAAAAAAAAAAAQQFFCExYRH/2gAMAwEAAhEDEQA/AJzcRC3Vg65MPd5H0+82Ksw2CF"
    "3oDuGfW4iFurBsw93kpzzzYqzDYH3egO50DG4VfPtfhQmFXIhn1XIq8rlQh6oC9U//2Q==",
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBg"
    "cJBwYGCAsICQoKCgoKBggLDAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoK"
    "CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgr/wAARCAAEAAYDAREAAhEBAxEB/8QAFAABAAAAAAAAAAAAAA"
    "AAAAAACP/EABsQAAAHAQAAAAAAAAAAAAAAAAADBAUJN3a0/8QAFQEBAQAAAAAAAAAAAAAAAAAABQf/xAAdEQAB"
    "AwUBAAAAAAAAAAAAAAADAAQ3CAl0dbO0/9oADAMBAAIRAxEAPwA5SO3e1ZQjpUioW+4af7AvnapWriSGmIPsdf"
    "/Z",
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBg"
    "cJBwYGCAsICQoKCgoKBggLDAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoK"
    "CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgr/wAARCAAFAAMDAREAAhEBAxEB/8QAFAABAAAAAAAAAAAAAA"
    "AAAAAACP/EABoQAAAHAAAAAAAAAAAAAAAAAAACBxlUpNH/xAAVAQEBAAAAAAAAAAAAAAAAAAAGCP/EABoRAAEF"
    "AQAAAAAAAAAAAAAAAAABBRdRoQb/2gAMAwEAAhEDEQA/ABU3+i0euXQikh+vSKpb6a9U/9k=",
]


FILM_TEXTS = {
    "neg/cv001_2.txt": "a bad film . it isn't good ; it's a bad\x12 _film_ !!!\n\nbad 10/10 --\n",
    "neg/cv000_9.txt": "dull , dull and long\t( 3 hours )\x0cthe end",
    "pos/cv000_1.txt": "a good film : good-natured fun\r\n",
    "pos/cv010_3.txt": "fun fun fun ... The end .\n",
}


def letor(seed, queries):
    """Lines of documents: a relevance, a query and 46 features."""
    drawn = random.Random(seed)
    lines = []
    for query, labels in queries:
        for label in labels:
            features = " ".join(f"{i}:{drawn.choice((0, 0.5, 1, round(drawn.random(), 6)))}"
                                for i in range(1, 47))
            lines.append(f"{label} qid:{query} {features} #docid = GX{len(lines)} inc = 1\n")
    return "".join(lines)


def python2_batch(pixels, labels, key):
    """A batch of CIFAR as Python 2 pickled it: protocol 2, with texts for bytes."""
    def short(text):
        return b"U" + bytes([len(text)]) + text.encode()

    array = (b"cnumpy.core.multiarray\n_reconstruct\nq\x04cnumpy\nndarray\nq\x05K\x00\x85" +
             short("b") + b"\x87Rq\x06(K\x01K" + bytes([len(labels)]) + b"M\x00\x0c\x86" +
             b"cnumpy\ndtype\nq\x07" + short("u1") + b"K\x00K\x01\x87Rq\x08(K\x03" + short("|") +
             b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T" +
             struct.pack("<I", len(pixels)) + pixels + b"tb")
    return (b"\x80\x02}q\x01(" + short("batch_label") + b"q\x02" + short("a batch") +
            short(key) + b"]q\x03(" + b"".join(b"K" + bytes([n]) for n in labels) + b"e" +
            short("data") + array + short("filenames") + b"]" + short("a.png") + b"au.")


def python3_batch(pixels, labels, key, protocol):
    """The same as Python 3 pickles it. Two classes stand for those of numpy."""
    class dtype:
        def __reduce__(self):
            return dtype, ("u1", False, True), (3, "|", None, None, None, -1, -1, 0)

    class ndarray:
        def __reduce__(self):
            state = (1, (len(labels), 3072), dtype(), False, pixels)
            return _reconstruct, (ndarray, (0,), b"b"), state

    def _reconstruct():
        pass
    stand_ins = {"numpy": (dtype, ndarray), "numpy.core": (), "numpy.core.multiarray":
                 (_reconstruct,)}
    before = {name: sys.modules.get(name) for name in stand_ins}
    for name, members in stand_ins.items():
        sys.modules[name] = types.ModuleType(name)
        for member in members:
            member.__module__, member.__qualname__ = name, member.__name__
            setattr(sys.modules[name], member.__name__, member)
    batch = pickle.dumps({key: list(labels), b"data": ndarray(), b"more": (1, -7, 2**40, True)},
                         protocol)
    for name, module in before.items():
        sys.modules.pop(name)
        if module is not None:
            sys.modules[name] = module
    return batch


def pixels_of(seed, rows):
    return b"".join(bytes((seed + row * 7 + i // 32) % 256 for i in range(3072))
                    for row in range(rows))


def mat_element(kind, content):
    if len(content) <= 4:
        return struct.pack("<HH", kind, len(content)) + content.ljust(4, b"\0")
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def mat_file(packed, **matrices):
    """A file of MATLAB 5 with matrices of one row: of bytes, or of numbers of 16 bits stored for
    doubles. Variables are compressed one by one, or not."""
    all_bytes = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM"
    for name, row in matrices.items():
        kind = 9 if max(row) < 256 else 6  # of bytes or doubles
        numbers = bytes(row) if kind == 9 else struct.pack(f"<{len(row)}H", *row)
        content = b"".join(mat_element(*e) for e in (
            (6, struct.pack("<II", kind, 0)), (5, struct.pack("<ii", 1, len(row))),
            (1, name.encode()), (2 if kind == 9 else 4, numbers)))
        variable = struct.pack("<II", 14, len(content)) + content
        if packed:
            variable = zlib.compress(variable)
            variable = struct.pack("<II", 15, len(variable)) + variable
        all_bytes += variable
    return all_bytes


def palette_png(width, height, indices):
    """A PNG file of indices into a palette, eight bits each."""
    def chunk(kind, content):
        return (struct.pack(">I", len(content)) + kind + content +
                struct.pack(">I", zlib.crc32(kind + content)))

    rows = b"".join(b"\0" + bytes(indices[y * width:(y + 1) * width]) for y in range(height))
    colors = bytes((i * 37 + c) % 256 for i in range(256) for c in range(3))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0,
                                                               0, 0)) +
            chunk(b"PLTE", colors) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


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
    write_images(folder, gzipped)
    write_texts(folder)


def write_images(folder, gzipped):
    """Archives of images, and those of the version of CIFAR for Python."""
    batches = "cifar-10-batches-py/"
    gzipped("cifar-10-python.tar.gz", [
        (batches, None), (batches + "data_batch_4", python2_batch(pixels_of(1, 2), (6, 9),
                                                                  "labels")),
        (batches + "readme.html", b"not a batch"),
        (batches + "test_batch", python2_batch(pixels_of(9, 1), (3,), "labels")),
        (batches + "data_batch_1", python3_batch(pixels_of(200, 1), (0,), b"labels", 2)),
        (batches + "data_batch_2", python3_batch(pixels_of(77, 2), (1, 5), b"labels", 4))])
    gzipped("cifar-100-python.tar.gz", [
        ("cifar-100-python/", None), ("cifar-100-python/meta", b"not a batch"),
        ("cifar-100-python/test", python2_batch(pixels_of(3, 1), (99,), "fine_labels")),
        ("cifar-100-python/train", python2_batch(pixels_of(5, 2), (0, 57), "fine_labels"))])

    jpeg = [base64.b64decode(text) for text in JPEG_FILES]
    gzipped("102flowers.tgz", [("jpg/", None)] + [
        (f"jpg/image_{i:05}.jpg", jpeg[(i + 1) % 2]) for i in (4, 1, 3, 2, 5)])
    (folder / "imagelabels.mat").write_bytes(mat_file(True, labels=(77, 1, 102, 5, 9)))
    (folder / "setid.mat").write_bytes(mat_file(False, trnid=(2, 5), valid=(300, 1)[1:],
                                                tstid=(3, 4), others=(1, 2000)))
    devkit = "VOCdevkit/VOC2012/"
    members = [(devkit + "JPEGImages/2007_000032.jpg", jpeg[2]),
               (devkit + "JPEGImages/2007_000039.jpg", jpeg[3]),
               (devkit + "SegmentationClass/2007_000032.png",
                palette_png(6, 4, [0, 15, 20, 255] * 6)),
               (devkit + "SegmentationClass/2007_000039.png", palette_png(3, 5, range(15)))]
    for name, lines in (("train", "2007_000039\n"), ("val", "2007_000032\r\n"),
                        ("trainval", "2007_000032\n2007_000039")):
        members.append((f"{devkit}ImageSets/Segmentation/{name}.txt", lines.encode()))
    (folder / "VOCtrainval_11-May-2012.tar").write_bytes(tar_of(members, tarfile.USTAR_FORMAT))


def write_texts(folder):
    with zipfile.ZipFile(folder / "movie_reviews.zip", "w") as archive:
        for name, text in [("README", "no review")] + list(FILM_TEXTS.items()):
            member = zipfile.ZipInfo("movie_reviews/" + name)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, text)
    fold = folder / "Fold1"
    fold.mkdir(exist_ok=True)
    (fold / "train.txt").write_text(letor(1, ((10, (0, 2, 1, 0, 2)), (18, (0, 0)), (7, (1, 0)))))
    (fold / "test.txt").write_text(letor(2, ((3, (1, 1)), (4, (0, 1, 0)))))


class decoded_tarfile:
    """tarfile whose texts have lines of text, as those of Python 2 were, for which PaddlePaddle's
    readers of the Penn Treebank and of VOC2012 were written."""

    @staticmethod
    def open(path):
        archive = tarfile.open(path)
        plain = archive.extractfile

        def extract(member):
            content = plain(member)
            name = member if isinstance(member, str) else member.name
            return io.TextIOWrapper(content, "utf-8") if name.endswith(".txt") else content

        archive.extractfile = extract
        return archive


class python_numbers:
    """In place of numpy, by which PaddlePaddle 2 draws: Python's random, as version 0.11 does."""

    class random:
        seed = staticmethod(random.seed)
        random = staticmethod(random.random)


def write_expected_images(folder, write, numbers):
    import numpy
    import paddle.dataset.common
    from paddle.dataset import cifar, flowers, image, voc2012

    write("cifar", [line for name in ("train10", "test10", "train100", "test100")
                    for line in [name] + [
                        numbers([label], [int(round(255 * float(x))) for x in pixels[::97]])
                        for pixels, label in getattr(cifar, name)()()]])

    flowers.download = voc2012.download = paddle.dataset.common.download

    voc2012.tarfile = decoded_tarfile

    def listed(sample):
        content, label = sample
        return numbers([label], [hashlib.md5(content).hexdigest()])

    lines = []
    for name in ("train", "test", "valid"):
        lines += [name] + list(getattr(flowers, name)(mapper=listed, use_xmap=False)())
    write("flowers", lines)
    lines = []
    for content, size, crop in ((JPEG_FILES[0], 24, 6), (JPEG_FILES[1], 7, 7)):
        changed = image.simple_transform(image.load_image_bytes(base64.b64decode(content)), size,
                                         crop, False, mean=[100, 110, 120])
        lines.append(numbers([int(x) for x in changed.flatten()]))
    write("simple_transform", lines)

    lines = []
    for name in ("train", "test", "val"):
        for pixels, classes in getattr(voc2012, name)()():
            lines.append(numbers(pixels.shape, numpy.transpose(pixels, (2, 0, 1)).flatten(),
                                 classes.flatten()))
    write("voc2012", lines)


def write_expected_of_1_8(folder, older, write, numbers):
    """By sentiment.py and mq2007.py of PaddlePaddle 1.8, loaded by themselves."""
    import nltk
    sys.modules["rarfile"] = types.ModuleType("rarfile")

    def module(name):
        about = importlib.util.spec_from_file_location(
            f"paddle.dataset.{name}", pathlib.Path(older) / f"paddle/dataset/{name}.py")
        loaded = importlib.util.module_from_spec(about)
        about.loader.exec_module(loaded)
        return loaded

    unpacked = folder / "corpora"
    with zipfile.ZipFile(folder / "movie_reviews.zip") as archive:
        archive.extractall(unpacked)
    nltk.data.path[:] = [str(folder)]
    sentiment = module("sentiment")
    sentiment.download_data_if_not_yet = lambda: None
    sentiment.NUM_TRAINING_INSTANCES = 3
    lines = [" ".join(word for word, _ in sentiment.get_word_dict())]
    for name in ("train", "test"):
        lines += ["reviews"] + [numbers(words, [label])
                                for words, label in getattr(sentiment, name)()]
    write("sentiment", lines)
    shutil.rmtree(unpacked)

    mq2007 = module("mq2007")
    mq2007.__initialize_meta_info__ = lambda: str(folder)

    def millionths(features):
        return [int(round(1e6 * x)) for x in features[::9]]

    lines = []
    for part in ("train", "test"):
        name = f"Fold1/{part}.txt"
        queries = mq2007.query_filter(mq2007.load_from_text(name))
        lines += ["pointwise"] + [numbers([label], millionths(features)) for query in queries
                                  for label, features in mq2007.gen_point(query)]
        lines += ["pairwise"] + [numbers(label, millionths(left), millionths(right))
                                 for label, left, right in mq2007.__reader__(name, "pairwise")]
        lines += ["listwise"] + [numbers(labels.flatten(),
                                          [x for f in features for x in millionths(f)])
                                 for labels, features in mq2007.__reader__(name, "listwise")]
    write("mq2007", lines)


def write_expected(folder, older):
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
    write_expected_images(folder, write, numbers)
    write_expected_of_1_8(folder, older, write, numbers)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4) or sys.argv[2:3] not in ([], ["--expected"]):
        sys.exit(__doc__)
    write_archives(pathlib.Path(sys.argv[1]))
    if len(sys.argv) == 4:
        write_expected(pathlib.Path(sys.argv[1]).resolve(), sys.argv[3])

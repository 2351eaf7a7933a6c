#!/usr/bin/env python3
"""Small tokenizers for the tests of prehend-models, and the real one of CLIP; prints the numbers the tests expect.

    pip install tokenizers
    python3 tests/peers/make_tokenizers.py small crates/prehend-models/tests/data
    pip download --no-deps open_clip_torch==3.3.0; pip install regex ftfy
    python3 tests/peers/make_tokenizers.py real open_clip_torch-3.3.0-py3-none-any.whl models/clip/tokenizer.json

`small` writes files of the same make as those of openai/clip-vit-base-patch32, google/siglip-base-patch16-224 and
google-bert/bert-base-uncased, with a few words.
`real` makes CLIP's tokenizer.json from the vocabulary in open_clip's wheel; its numbers are those of open_clip's own
`SimpleTokenizer`, which is run without torch.
"""

import gzip
import io
import sys
import types
import zipfile
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

START, END = "<|startoftext|>", "<|endoftext|>"
WORDS = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def clip(vocabulary: list[str], merges: list[tuple[str, str]]) -> Tokenizer:
    """A tokenizer with CLIP's stages over a vocabulary that ends with the two special tokens."""
    numbers = {token: number for number, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.BPE(vocab=numbers, merges=merges, unk_token=END, end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.post_processor = processors.RobertaProcessing(
        (END, numbers[END]), (START, numbers[START]), trim_offsets=False, add_prefix_space=False
    )
    tokenizer.add_special_tokens([START, END])
    return tokenizer


def small_clip() -> Tokenizer:
    letters = list("abcdeprutn!")
    merges = [("c", "u"), ("cu", "p</w>"), ("r", "e"), ("re", "d</w>")]
    merged = [first + second for first, second in merges]
    return clip(letters + [letter + "</w>" for letter in letters] + merged + [START, END], merges)


def small_siglip() -> Tokenizer:
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("\u2581", -2.0), ("\u2581red", -3.0)]
    pieces += [("\u2581cup", -3.0), ("\u2581r", -4.0), ("ed", -4.0), ("s", -3.5), ("a", -5.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=2))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Lowercase(), normalizers.Replace(Regex(r"[!\.,]"), ""), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer.add_special_tokens(["<pad>", "</s>", "<unk>"])
    return tokenizer


def small_bert() -> Tokenizer:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ".", "red", "mug", "##s", "bowl", "cup", "blue", "a"]
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocab=numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", numbers["[CLS]"]), ("[SEP]", numbers["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(words[:4])
    return tokenizer


def small(folder: Path) -> None:
    for name, tokenizer, texts in [
        ("clip_tokenizer.json", small_clip(), ["A  Red cup!", "", "a " * 100]),
        ("siglip_tokenizer.json", small_siglip(), ["Red cups.", "red xcup"]),
        ("bert_tokenizer.json", small_bert(), ["red mugs. bowl.", "A Xcup"]),
    ]:
        tokenizer.save(str(folder / name), pretty=False)
        for text in texts:
            print(name, repr(text[:20]), tokenizer.encode(text).ids[:12])


def reference(wheel: zipfile.ZipFile, vocabulary: bytes):
    """open_clip's SimpleTokenizer; of torch it only needs the name."""
    torch = types.ModuleType("torch")
    torch.LongTensor = torch.Tensor = object
    sys.modules["torch"] = torch
    Path("/tmp/bpe_simple_vocab_16e6.txt.gz").write_bytes(vocabulary)
    module = types.ModuleType("reference")
    module.__file__ = "/tmp/tokenizer.py"
    exec(wheel.read("open_clip/tokenizer.py"), module.__dict__)
    return module.SimpleTokenizer()


def real(wheel_path: Path, out: Path) -> None:
    wheel = zipfile.ZipFile(wheel_path)
    packed = wheel.read("open_clip/bpe_simple_vocab_16e6.txt.gz")
    lines = gzip.open(io.BytesIO(packed)).read().decode().split("\n")
    merges = [tuple(line.split()) for line in lines[1 : 49152 - 256 - 2 + 1]]
    letters = list(letters_of_bytes())
    merged = [first + second for first, second in merges]
    tokenizer = clip(letters + [letter + "</w>" for letter in letters] + merged + [START, END], merges)
    out.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(out), pretty=False)
    by_reference = reference(wheel, packed)
    for text in ["a photo of a cat", "the Red mug's HANDLE, 2 pieces!", "cr\u00e8me br\u00fbl\u00e9e \u2013 \u7802\u7cd6"]:
        numbers = [49406, *by_reference.encode(text), 49407]
        same = tokenizer.encode(text).ids == numbers
        print(repr(text), numbers, "as tokenizer.json has them" if same else "tokenizer.json DIFFERS")


def letters_of_bytes():
    """The letters that stand for the 256 bytes, in CLIP's order."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) for byte in plain] + [chr(256 + place) for place in range(len(others))]


if __name__ == "__main__":
    if sys.argv[1:2] == ["small"] and len(sys.argv) == 3:
        small(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["real"] and len(sys.argv) == 4:
        real(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        sys.exit(__doc__)

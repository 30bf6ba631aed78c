"""The bytes of a data file or of standard input, unpacked where they are packed.

Knows paths, gzip and UTF-8. Does not know what the bytes hold.
"""

import gzip
import sys
import zlib
from typing import NamedTuple

from mctsr.errors import DataError, shown, user_path

STDIN = "-"
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


class Content(NamedTuple):
    """What a source holds, without a byte order mark, and whether it was packed."""

    data: bytes
    packed: bool


def stdin_text(source: str, stdin: str | None = None) -> str | None:
    """Return the text on standard input when that is the source, else None.

    Args:
        source: What the user named.
        stdin: What stands there, when it was read already.

    Raises:
        DataError: Standard input is closed, or holds no UTF-8.
    """
    if source != STDIN:
        return None
    return (_read_stdin() if stdin is None else stdin).removeprefix("\ufeff")


def read_file(source: str, what: str = "data file") -> Content:
    """Read a file, unpacked.

    Args:
        source: Its path.
        what: What messages call it.

    Raises:
        DataError: It is not there, cannot be read, or is packed and damaged.
    """
    path = user_path(source)
    try:
        return _unpacked(f"{what} {shown(source)}", path.read_bytes())
    except FileNotFoundError:
        raise DataError(
            f"{what} {shown(source)} does not exist; give a path, or - for standard input"
        ) from None
    except OSError as error:
        raise DataError(f"{what} {shown(source)} cannot be read: {error.strerror}; give another") from None


def decoded(name: str, data: bytes) -> str:
    """Return the text of bytes.

    Raises:
        DataError: They are not UTF-8; names line and byte.
    """
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        line, start = data.count(b"\n", 0, error.start) + 1, data.rfind(b"\n", 0, error.start) + 1
        raise no_utf8(f"{name}, line {line}", error.start - start) from None


def no_utf8(where: str, byte: int) -> DataError:
    """Word what is wrong with a byte, counted from 0."""
    return DataError(f"{where}: byte {byte + 1} is not UTF-8; save the file as UTF-8")


def _read_stdin() -> str:
    # None where whoever started the process closed it.
    stream = sys.stdin
    if stream is None:
        raise DataError("standard input is closed; give a file, or pipe something in")
    binary = getattr(stream, "buffer", None)
    name = "standard input"
    text = stream.read() if binary is None else decoded(name, _unpacked(name, binary.read()).data)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _unpacked(name: str, data: bytes) -> Content:
    packed = data.startswith(_GZIP)
    if packed:
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            why = str(error).rstrip(".").lower()
            raise DataError(f"{name} is a damaged gzip file: {why}; fetch or pack it again") from None
    return Content(data.removeprefix(_BOM), packed)

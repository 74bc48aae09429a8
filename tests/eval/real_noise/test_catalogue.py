import re

from boostnoise.eval.real_noise.build import BUILDERS, TABLES
from boostnoise.eval.real_noise.catalogue import domains, read_catalogue


def test_ten_domains_and_sixty_data_sets():
    groups = read_catalogue()
    assert len(domains()) == 10
    names = [name for group in groups.values() for name in group.sets]
    assert len(names) == len(set(names)) == 63
    assert set(names) & set(domains()) == {"music"}  # with all its sets


def test_every_file_is_pinned():
    for name, group in read_catalogue().items():
        assert group.name == name
        assert group.given_by
        assert group.checked_by
        assert group.citation
        for files in group.sets.values():
            assert files
            for file in files:
                assert re.fullmatch(r"[\w.-]+/[\w.-]+", file.repository)
                assert re.fullmatch("[0-9a-f]{40}", file.commit)
                assert re.fullmatch("[0-9a-f]{64}", file.sha256)
                assert not file.path.startswith("/")
                assert ".." not in file.path.split("/")


def test_every_set_has_a_builder():
    for name, group in read_catalogue().items():
        assert name in BUILDERS or set(group.sets) <= set(TABLES)

import pytest

from boostnoise.eval.config.download_advice import advice_to_download


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("data/letter.parquet", "noisyeval data --fetch study_data"),
        ("my files/data/letter.parquet", "noisyeval 'my files/data' --fetch study_data"),
        ("data/real_noise/maize.parquet", "noisyeval data/real_noise --fetch real_noise"),
        (
            "data/boosting_with_label_noise/yeast.csv",
            "noisyeval data/boosting_with_label_noise --fetch data_2020",
        ),
        ("data/boosting_with_label_noise", "noisyeval data/boosting_with_label_noise --fetch data_2020"),
    ],
)
def test_files_of_ready_studies(path, command):
    assert advice_to_download(path) == f"; to download it: {command}"


@pytest.mark.parametrize(
    "path", ["data/mine.parquet", "data/letter.csv", "letter.parquet", "real_noise/a.parquet"]
)
def test_other_files(path):
    assert advice_to_download(path) == ""

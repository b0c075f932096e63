"""Tests of the scripts that measure: quick ones, about their manners.

    pip install -r requirements.txt -r measure/peers.txt pytest
    python -m pytest measure

They need half a minute. What is published is only read.
"""

import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import benchmark  # noqa: E402
import chaos  # noqa: E402
import compare  # noqa: E402
import differences  # noqa: E402
import publish  # noqa: E402
import step_time  # noqa: E402

SCRIPTS = ["benchmark", "chaos", "compare", "differences", "step_time"]
PUBLISHING = {
    "benchmark": (benchmark, ["count"]),
    "chaos": (chaos, ["soak"]),
    "step_time": (step_time, []),
}


def call(folder, script, *arguments):
    """Run a script of a folder as a program."""
    return subprocess.run(
        [sys.executable, folder / f"{script}.py", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def copy(tmp_path):
    """A copy of what the scripts need; nothing of git."""
    for name in "game.py", "README.md":
        shutil.copy(publish.ROOT / name, tmp_path)
    for name in "measure", "docs", "examples":
        shutil.copytree(
            publish.ROOT / name,
            tmp_path / name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    return tmp_path


def contents(folder):
    """All files but caches and runs, with what is in them."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.relative_to(folder).parts[0] != "runs"
    }


# ## Help, and wrong input


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_with_defaults(copy, script):
    before = contents(copy)
    result = call(copy / "measure", script, "--help")
    assert result.returncode == 0
    assert result.stderr == ""
    assert "pip install" in result.stdout or script in ("compare", "step_time")
    assert "(default: " in result.stdout
    assert not (copy / "runs").exists()
    assert contents(copy) == before


@pytest.mark.parametrize(
    ("script", "arguments", "expected"),
    [
        ("benchmark", ["hole"], "no such part: hole; there are tune, whole"),
        ("benchmark", ["--rounds", "0"], "invalid int above 0 value: '0'"),
        ("benchmark", ["--seconds", "x"], "invalid float above 0 value: 'x'"),
        ("chaos", [], "the following arguments are required: PART"),
        ("chaos", ["sock"], "invalid choice: 'sock'"),
        ("chaos", ["soak", "--faults", "-1"], "invalid int above 0"),
        ("chaos", ["soak", "--context", "f"], "invalid choice: 'f'"),
        ("compare", ["nobody.py"], "nobody.py is not a file"),
        ("compare", ["game.py", "--titles", "Chess"], "invalid choice"),
        ("differences", ["now"], "unrecognized arguments: now"),
        ("step_time", ["--steps", "1.5"], "invalid int above 0"),
    ],
)
def test_wrong_input_is_one_line(script, arguments, expected):
    result = call(HERE, script, *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"{script}.py: ")
    assert result.stderr.count("\n") == 1
    assert expected in result.stderr


def test_a_missing_package_is_one_line(capsys):
    parser = publish.Parser("")
    parser.need("json")
    with pytest.raises(SystemExit) as caught:
        parser.need("json", "no_such_package", "nor_this_one")
    assert caught.value.code == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "no_such_package, nor_this_one is missing" in line
    assert "-r measure/peers.txt" in line


# ## What a run writes


@pytest.mark.parametrize(
    ("script", "arguments", "written"),
    [
        ("differences", [], ["differences.json"]),
        (
            "compare",
            "game.py --rounds 1 --seconds 0.05 --games 2 --titles Breakout",
            ["compare.json"],
        ),
        ("step_time", "--rounds 1 --steps 9", ["step_time.json"]),
        (
            "chaos",
            "soak --frames 64 --faults 1 --seconds 1",
            ["chaos.json", "faults.md"],
        ),
    ],
)
def test_a_run_writes_to_runs_alone(copy, script, arguments, written):
    before = contents(copy)
    arguments = arguments.split() if arguments else []
    arguments = [str(copy / a) if a == "game.py" else a for a in arguments]
    result = call(copy / "measure", script, *arguments)
    assert result.returncode == 0, result.stderr
    assert contents(copy) == before
    files = (copy / "runs").rglob("*.*")
    assert sorted(file.name for file in files) == written
    assert {path.name for path in (copy / "runs").iterdir()} == {script}


def test_a_benchmark_writes_to_runs_alone(copy, monkeypatch):
    """With fewer contenders and titles than it has by itself."""
    monkeypatch.setattr(benchmark, "ENGINES", ["ale"])
    monkeypatch.setattr(benchmark, "ALL_TITLES", ["Pong"])
    names = ["limit", "games", "ale"]
    short = {name: benchmark.NAMES[name] for name in names}
    monkeypatch.setattr(benchmark, "NAMES", short)
    for name in "RUNS", "RESULTS", "DOCS", "README", "ROOT":
        path = getattr(publish, name).relative_to(publish.ROOT)
        monkeypatch.setattr(publish, name, copy / path)
    monkeypatch.setattr(
        sys, "argv", ["benchmark.py", "whole", "--rounds=1", "--seconds=0.05"]
    )
    before = contents(copy)
    benchmark.main()
    assert contents(copy) == before
    files = sorted(path.name for path in (copy / "runs/benchmark").iterdir())
    assert files == ["benchmark.json", "speed.md"]
    data = publish.read(copy / "runs/benchmark/benchmark.json")
    assert list(data) == ["machine", "tune", "whole"]
    assert data["whole"]["rounds"] == 1
    assert data["whole"]["seconds"] == 0.05
    assert data["whole"]["commit"] == "unknown"
    assert set(data["whole"]["columns"]) == {"Pong"}
    assert set(data["whole"]["columns"]["Pong"]) == set(names)
    for row in data["whole"]["columns"]["Pong"].values():
        assert len(row["speed"]) == 1
        assert row["speed"][0] > 0


@pytest.mark.parametrize("script", PUBLISHING)
def test_a_busy_machine_publishes_nothing(script, copy, monkeypatch, capsys):
    module, arguments = PUBLISHING[script]
    monkeypatch.setattr(publish, "busy_cores", lambda: 1.234)
    monkeypatch.setattr(publish, "PATIENCE", 0)
    monkeypatch.setattr(publish, "CORES", 2)
    monkeypatch.setattr(publish, "QUIET", 0.5)
    monkeypatch.setattr(publish, "RESULTS", copy / "measure/results")
    monkeypatch.setattr(sys, "argv", [f"{script}.py", *arguments, "--publish"])
    before = contents(copy)
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "1.23 of 2 cores are busy" in line
    assert "at most 0.50 were expected" in line
    assert contents(copy) == before


def test_a_quiet_machine_is_waited_for(monkeypatch):
    loads = iter([1.9, 0.6, 0.4])
    monkeypatch.setattr(publish, "busy_cores", lambda: next(loads))
    monkeypatch.setattr(publish, "QUIET", 0.5)
    publish.Parser("").must_be_quiet()
    assert list(loads) == []


# ## What the tables say


def columns(**speeds):
    """A column of contenders with these speeds, round by round."""
    return {
        name: {
            "options": {"games": 8},
            "arrays": "own",
            "speed": list(map(float, rounds)),
            "others": [0.0] * len(rounds),
        }
        for name, rounds in speeds.items()
    }


def test_faster_means_faster_in_every_round():
    fake = {
        "Pong": columns(games=[20, 30], ale=[10, 29], envpool=[10, 31]),
        "Breakout": columns(games=[20, 30], ale=[19, 29], envpool=[21, 31]),
    }
    said = benchmark.claims(fake, "games", ["ale", "envpool"])
    assert said == (
        "- `Games`, in every round: faster than ALE `AtariVectorEnv`; "
        "slower than EnvPool (Breakout)."
    )
    said = benchmark.claims({"Pong": fake["Pong"]}, "games", ["envpool"])
    assert said == (
        "- `Games`, in every round: neither faster nor slower than any."
    )


def test_only_disturbed_columns_are_measured_again(monkeypatch):
    about = {"date": publish.today(), "commit": "abc"}
    monkeypatch.setattr(publish, "commit", lambda: "abc")
    about |= {"rounds": 2, "seconds": 0.5}
    fake = {"Pong": columns(games=[1, 2]), "Breakout": columns(games=[3, 4])}
    fake["Pong"]["games"]["others"] = [0.9, 1.0]
    asked = []

    def measure_column(part, contenders, run, umpire):
        asked.append(contenders)
        return columns(games=[5, 6])

    class Run:
        again, publish, rounds, seconds = True, False, 2, 0.5

    monkeypatch.setattr(benchmark, "measure_column", measure_column)
    parts = {"fake": lambda run, data: {"Pong": "P", "Breakout": "B"}}
    monkeypatch.setattr(benchmark, "PARTS", parts)
    data = {"fake": about | {"columns": fake}}
    result = benchmark.measure("fake", Run, data)
    assert asked == ["P"]
    assert list(result["columns"]) == ["Pong", "Breakout"]
    assert result["columns"]["Pong"]["games"]["speed"] == [5, 6]
    assert result["columns"]["Breakout"]["games"]["speed"] == [3, 4]

    # What was measured otherwise is measured as a whole.
    Run.seconds = 0.6
    benchmark.measure("fake", Run, data)
    assert asked == ["P", "P", "B"]


def test_only_equals_are_compared():
    names = ["games", "ale", "games_2", "ale_2", "ale_3", "envpool_3"]
    assert list(benchmark.rivals(names)) == [
        ("games", ["ale"]),
        ("games_2", ["ale_2"]),
    ]


def test_each_part_says_how_it_was_measured():
    fake = {"Pong": columns(limit=[9], games=[8], ale=[7])}
    about = {"date": "2026-01-01", "commit": "abc"}
    whole = about | {"rounds": 9, "seconds": 0.5, "columns": fake}
    restart = about | {"rounds": 3, "seconds": 0.4, "columns": fake}
    engines = {"num_envs": 8, "threads": 2}
    row = {"x": {"options": engines, "speed": [1], "others": [0.2]}}
    tune = dict.fromkeys(benchmark.ENGINES, row)
    data = {
        "machine": publish.machine(),
        "tune": about | {"rounds": 1, "seconds": 0.1, "columns": tune},
        "whole": whole,
        "restart": restart,
    }
    text = benchmark.report(data, {})
    for title, line in {
        "Whole games": "*9 rounds of 0.5 s, 2026-01-01, ",
        "A lost life restarts the game": "*3 rounds of 0.4 s, 2026-01-01, ",
    }.items():
        assert f"## {title}\n\n{line}" in text


def test_a_share_above_the_limit_is_explained():
    below = {"Pong": columns(limit=[9, 9], games=[8, 10])}
    above = {"Pong": columns(limit=[9, 9], games=[11, 10])}
    assert benchmark.above_the_limit(below) == []
    assert "snapshot" in benchmark.above_the_limit(above)[0]


def test_readmes_part_is_replaced_and_nothing_else(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("a\n<!-- x -->\nold\n<!-- /x -->\nb\n")
    publish.put(readme, "x", "new")
    text = "a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb\n"
    assert readme.read_text("utf-8") == text
    with pytest.raises(SystemExit, match="README.md has no <!-- y -->"):
        publish.put(readme, "y", "new")
    assert readme.read_text("utf-8") == text


# ## What is published is what the data say


def test_speeds_are_those_of_the_data(tmp_path):
    data = publish.read(publish.RESULTS / benchmark.FILE)
    benchmark.write_report(data, tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    charts = ["benchmark-narrow.svg", "benchmark.svg", "network.svg"]
    assert sorted(first) == [*charts, "speed.md"]
    assert first["speed.md"] == (publish.DOCS / "speed.md").read_bytes()
    benchmark.write_report(data, tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == first[path.name]
    assert f"\n\n{benchmark.short(data)}\n\n" in publish.README.read_text(
        "utf-8"
    )


def test_faults_are_those_of_the_data():
    data = publish.read(publish.RESULTS / chaos.FILE)
    assert chaos.report(data) == (publish.DOCS / "faults.md").read_text(
        "utf-8"
    )
    assert f"\n\n{chaos.short(data)}\n\n" in publish.README.read_text("utf-8")


def test_a_steps_parts_sum_up():
    data = publish.read(publish.RESULTS / "step_time.json")
    for title in step_time.TITLES:
        parts = [spent for _, spent in data[title]["parts"]]
        assert sum(parts) == pytest.approx(data[title]["total"], abs=0.5)
        assert min(parts) > 0


def test_the_middle_is_surely_between():
    values = list(range(100))
    assert compare.sure(values) == (40, 60)
    assert compare.sure([3, 1, 2]) == (1, 3)


def test_what_others_do_is_there():
    data = publish.read(publish.RESULTS / "differences.json")
    assert set(data["versions"]) == set(differences.PACKAGES)

"""
Tests of ppo.py.

    pip install -r requirements.txt -r examples/ppo.txt
    pytest examples/test_ppo.py
"""

import csv
import json
import multiprocessing
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ppo  # noqa: E402

ENV_ID = "BreakoutNoFrameskip-v4"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the program, with few steps to an update, in an empty folder."""
    monkeypatch.setattr(ppo, "STEPS", 16)
    monkeypatch.setattr(ppo, "UPDATES_TO_A_ROW", 2)
    monkeypatch.setattr(ppo, "SEEDS", 2)
    monkeypatch.setattr(ppo, "HERE", tmp_path)
    monkeypatch.setattr(ppo, "WEIGHTS", tmp_path / "weights")
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)

    def run(*args):
        options = "--games", "2", "--device", "cpu"
        monkeypatch.setattr(sys, "argv", ["ppo.py", ENV_ID, *options, *args])
        ppo.main()
        assert not list(empty.iterdir())  # nothing is left, by labml either
        return tmp_path

    return run


def test_training(run):
    here = run("--steps", "150", "--engine", *ppo.ENGINES)
    for engine in ppo.ENGINES:
        with open(here / f"ppo-{engine}.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [int(row["steps"]) for row in rows] == [64, 128, 160]
        assert list(rows[0]) == ppo.COLUMNS
        for row in rows:
            parts = [float(row[name]) for name in ppo.TIMES]
            assert min(parts) > 0
            assert sum(parts) < float(row["seconds"])
        noted = json.loads((here / "ppo.json").read_text())[engine]
        assert noted["seed"] == 0
        assert noted["versions"]["torch"] == torch.__version__


def test_evaluation_plays_whole_games_with_several_seeds(run):
    here = run("--steps", "32")
    run("--evaluate")
    noted = json.loads((here / "ppo.json").read_text())
    scores = np.array(noted["evaluation of games"]["scores"])
    assert scores.shape == np.shape(noted["evaluation of games"]["served"])
    assert scores.shape == (2, 2)
    assert (scores >= 0).all()


def test_share(run):
    share = json.loads((run("--share", "2") / "ppo.json").read_text())["share"]
    assert len(share["rounds"]) == 2
    for one in share["rounds"]:
        assert set(one) == set(ppo.ENGINES)
        assert np.array(list(one.values())).min() > 0


def test_advantages_worked_out_by_hand(monkeypatch):
    """Three games: one that goes on, one that terminates, one truncated."""
    monkeypatch.setattr(ppo, "GAMMA", 0.5)
    monkeypatch.setattr(ppo, "LAMBDA", 0.5)
    on, over = [0, 0, 0], [0, 1, 0]
    # a row for each game here, a column in the function
    rewards = [[1, 0, 2]] * 3
    terminated, truncated = [on, over, on], [on, on, over]
    values, final_values = [[4, 8, 2]] * 3, [on, on, [0, 6, 0]]
    table = rewards, terminated, truncated, values, final_values
    *told, final = [torch.tensor(one, dtype=torch.float32).T for one in table]
    result = ppo.advantages(*told, torch.tensor([4.0, 4.0, 4.0]), final)
    # Step 2: 2 + 4/2 - 2 = 2 for all.
    # Step 1: errors 0 + 2/2 - 8 = -7, 0 - 8 = -8 and 0 + 6/2 - 8 = -5; to the
    # first alone comes 1/4 of step 2, so -6.5.
    # Step 0: error 1 + 8/2 - 4 = 1 for all, and 1/4 of step 1.
    expected = [[-0.625, -6.5, 2], [-1, -8, 2], [-0.25, -5, 2]]
    assert result.T.tolist() == expected


def test_a_replaced_worker_is_bootstrapped_from_final_obs(monkeypatch):
    """The value of the last observation before it died counts."""
    calls, advantages = [], ppo.advantages
    monkeypatch.setattr(
        ppo, "advantages", lambda *a: calls.append(a) or advantages(*a))
    monkeypatch.setattr(ppo, "STEPS", 30)
    agent, spent = ppo.Agent(4), Counter()
    with ppo.Games(2, ENV_ID, processes=2, **ppo.TRAINING) as games:
        first, _ = games.reset()
        _, obs = ppo.play(agent, games, first, spent, [])
        monkeypatch.setattr(ppo, "STEPS", 1)
        multiprocessing.active_children()[0].kill()
        _, after = ppo.play(agent, games, obs, spent, [])
    _, terminated, truncated, values, _, final_values = calls[-1]
    (lost,) = np.flatnonzero(truncated[0])
    assert not terminated[0, lost]
    assert (after[lost] == first[lost]).all()
    assert (obs[lost] != first[lost]).any()
    assert final_values[0, lost].item() == pytest.approx(
        values[0, lost].item(), rel=1e-4)
    assert final_values[0, 1 - lost] == 0


class Pictures:
    """A vector of games: the action that pays is where the picture is lit."""

    num_envs = 8

    def reset(self):
        self.bright = np.random.randint(4, size=self.num_envs)
        obs = np.zeros((self.num_envs, 4, 84, 84), np.uint8)
        for game, place in enumerate(self.bright):
            edge = 20 * place
            obs[game, :, edge:edge + 20] = 200
        return obs

    def step(self, actions):
        rewards = (actions == self.bright).astype(float)
        over = np.ones(self.num_envs, bool)
        return self.reset(), rewards, over, ~over, {}


def test_it_learns_which_action_pays(monkeypatch):
    monkeypatch.setattr(ppo, "STEPS", 16)
    torch.manual_seed(0)
    np.random.seed(0)
    agent, games = ppo.Agent(4), Pictures()
    optimizer = torch.optim.Adam(agent.parameters(), ppo.LEARNING_RATE)
    obs, wins = games.reset(), []
    for _ in range(8):
        batch, obs = ppo.play(agent, games, obs, Counter(), [])
        ppo.learn(agent, optimizer, batch)
        policy, _ = agent(torch.as_tensor(obs))
        wins.append(policy.probs[range(8), games.bright].mean().item())
    assert wins[0] < 0.5
    assert wins[-1] > 0.8

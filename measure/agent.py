"""Publish a trained agent: curve, scores and a film, of Breakout more.

    pip install -r requirements.txt --group measure
    run=runs/PongNoFrameskip-v4-0
    python measure/watch.py $run/cores.csv python examples/ppo.py \\
        PongNoFrameskip-v4 --steps 4_000_000         # first train one
    python measure/agent.py $run                     # a trial
    python measure/agent.py $run --publish

What it makes of the run's folder, for Pong, in a tree of its own under
runs/measure or, with --publish, in this one:

- measure/results/pong.csv: the curve;
- measure/results/pong_cores.csv: what kept the cores busy meanwhile;
- measure/results/pong.json: the scores of 30 whole games in both ways that
  ppo.py has, and on what it was trained;
- docs/pong.webp: a film of the game with seed 0, all of it.

(pong_three.json is of an earlier run, with three epochs an update.)

For Breakout the files are called agent, and there are four more:

- examples/breakout.pt: the weights in half precision. All of Breakout is
  played with these;
- page/data/agent.json: a recording of a part of that game, as `record` below
  describes it;
- page/data/missed.json: the same game for a few steps, after another action
  than the agent's;
- page/data/eight.json: eight games, as `record_eight` describes it.

Of a further run, with --name agent_1, there are the curve and the scores
alone, in agent_1.csv and agent_1.json; the machine is that of the games.
pong_gpu was trained on another, whose versions are in sb3_gpu.json. Of a run
that has just begun --young makes page/data/young.json alone, a recording of
its first decisions.

About five minutes for an agent whose games are long.
"""

import json
import pathlib
import shutil

import numpy as np
import torch

import common
import ppo
import training_run
from game import BREAKOUT, Game, Games
from recordings import pack

NAMES = {BREAKOUT: "agent", "PongNoFrameskip-v4": "pong"}
PACKAGES = "ale-py gymnasium numpy torch"
FOLDERS = ["measure/results", "docs", "examples", "page/data"]
SEED = 0  # of the film and the recording
MOST = 600  # decisions of the recording
SAVED = 350  # a decision of it, in which the paddle just reaches the ball
NOOP = 0  # in its place, so that the ball is missed
FEW = 4  # decisions after that
YOUNG = 62  # of that of a run that has just begun
EIGHT = dict(training_run.SERVED, processes=2)  # how eight games are recorded
EVERY = 12  # steps, of which one is shown
LONGEST = 1440


@torch.no_grad()
def play(agent, env_id, instead=None):
    """Play a game; return its info, decisions, screens and observations.

    `instead` has the actions of steps in which the agent isn't asked.
    """
    instead = instead or {}
    torch.manual_seed(SEED)
    game = Game(SEED, env_id, **training_run.SERVED)
    ale = game.env.unwrapped.ale
    decisions, screens, seen = [], [], []
    obs, first, info = game.reset(), True, None
    while info is None:
        policy, value = agent(torch.as_tensor(obs[None]))
        action = policy.sample().item()
        action = instead.get(len(decisions), action)
        screens.append(game.render())
        seen.append(obs)
        lives = ale.lives()
        obs, reward, done, info = game.step(action)
        probabilities = [round(p, 2) for p in policy.probs[0].tolist()]
        told = [lives, int(first), round(value.item(), 2), probabilities]
        decisions.append([action, int(reward), *told])
        first = done
    return info, decisions, screens, seen


def best(decisions):
    """Return from where on so many decisions score most."""
    rewards = [reward for _, reward, *_ in decisions]
    starts = range(max(1, len(rewards) - MOST + 1))
    return max(starts, key=lambda at: sum(rewards[at : at + MOST]))


def record(state, played, start, most):
    """Return the recording as one line of JSON.

    It has `most` decisions, from number `start` on; `before` are the points
    before them. A row of `decisions` is `[action, reward, lives,
    first, value, probabilities]`. `lives` and `value` are those before the
    action, `value` is in the clipped points that the agent learned from, and
    discounted; `first` is 1 where the observation begins a life, so that its
    four frames are the same. For each decision there is the colour screen
    before it, as indices into `rgb`, and the newest frame of the observation,
    after the three older ones of the first observation, both packed as
    page/recordings.py does it.
    """
    info, decisions, screens, seen = played
    part = slice(start, start + most)
    frames = [*seen[start][:3], *(obs[-1] for obs in seen[part])]
    colours = np.array(screens[part])  # (most, 210, 160, 3)
    pixels = colours.reshape(-1, 3)
    rgb, indices = np.unique(pixels, axis=0, return_inverse=True)
    recording = {
        "env_id": BREAKOUT,
        "trained": state["steps"],
        "seed": SEED,
        "score": int(info["reward"]),
        "length": info["length"],
        "start": start,
        "before": sum(reward for _, reward, *_ in decisions[:start]),
        "actions": ["NOOP", "FIRE", "RIGHT", "LEFT"],
        "rgb": rgb.tolist(),
        "decisions": decisions[part],
        "screens": pack(indices.reshape(colours.shape[:3])),
        "frames": pack(frames),
    }
    return json.dumps(recording, separators=(",", ":")) + "\n"


@torch.no_grad()
def record_eight(agent):
    """Return a recording of eight games as one line of JSON.

    It ends before a game does. `actions` has a string for each game, with a
    digit for each step. `pictures` are the newest of every `every` steps,
    those of game 0 first, packed as page/recordings.py does it. With picture
    `killed` the figure begins.
    """
    torch.manual_seed(SEED)
    actions, pictures = [], []
    with Games(8, BREAKOUT, **EIGHT) as games:
        obs, infos = games.reset()
        while "final_info" not in infos and len(actions) < LONGEST:
            if len(actions) % EVERY == 0:
                pictures.append(obs[:, -1])
            policy, _ = agent(torch.as_tensor(obs))
            actions.append(policy.sample().numpy())
            obs, *_, infos = games.step(actions[-1])
    by_game = np.stack(pictures, axis=1)  # (8, pictures, 84, 84)
    by_step = np.array(actions)
    recording = {
        "every": EVERY,
        "killed": len(pictures) * 3 // 4,
        "actions": ["".join(map(str, one)) for one in by_step.T],
        "pictures": pack(by_game.reshape(-1, 84, 84)),
    }
    return json.dumps(recording, separators=(",", ":")) + "\n"


def judge(agent, env_id):
    """Return the scores of whole games, in both ways."""
    scores = {}
    for way, options in training_run.WAYS.items():
        with Games(training_run.GAMES, env_id, **options) as games:
            scores[way] = training_run.whole_games(agent, games, seed=0)
    return scores


def publish(agent, weights, state, root):
    """Write film, weights and recordings; return the info of the film."""
    env_id = state["env_id"]
    played = info, decisions, screens, _ = play(agent, env_id)
    training_run.write_film(screens, root / f"docs/{NAMES[env_id]}.webp")
    if env_id == BREAKOUT:
        torch.save(weights, root / "examples/breakout.pt")
        path = root / "page/data/agent.json"
        start = best(decisions)
        path.write_text(record(state, played, start, MOST))
        at = start + SAVED
        missed = play(agent, env_id, {at: NOOP})
        path = path.with_name("missed.json")
        path.write_text(record(state, missed, at + 1, FEW))
        path.with_name("eight.json").write_text(record_eight(agent))
    return info


def main():
    parser = common.options(__doc__)
    parser.add_argument("run", type=pathlib.Path, help="folder of the run")
    parser.add_argument("--name", help="of the files of a further run")
    parser.add_argument("--young", action="store_true", help="a recording")
    args = parser.parse_args()
    root = common.ROOT if args.publish else common.RUNS
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    results = root / "measure/results"

    saved = torch.load(args.run / "checkpoint.pt", "cpu")
    weights, state = saved["weights"], saved["state"]
    env_id = state["env_id"]
    if env_id == BREAKOUT:
        weights = {key: weight.half() for key, weight in weights.items()}
    agent = ppo.Agent(len(weights["policy.bias"]))
    agent.load_state_dict(weights)
    if args.young:
        young = record(state, play(agent, env_id), start=0, most=YOUNG)
        (root / "page/data/young.json").write_text(young)
        return
    about = {
        **common.machine(PACKAGES),
        "date": common.today(),
        "steps": state["steps"],
        "until": state["until"],
        "last": training_run.LAST,
        "seconds": state["seconds"],
        "scores": judge(agent, env_id),
    }
    name = args.name or NAMES[env_id]
    if not args.name:
        info = publish(agent, weights, state, root)
        about["film"] = {"seed": SEED, **info}
    shutil.copy(args.run / "curve.csv", results / f"{name}.csv")
    if (args.run / "cores.csv").exists():
        shutil.copy(args.run / "cores.csv", results / f"{name}_cores.csv")
    common.write(results / f"{name}.json", about)


if __name__ == "__main__":
    main()

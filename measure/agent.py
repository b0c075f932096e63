"""Publish a trained agent: curve, scores and a film, of Breakout more.

    pip install -r requirements.txt --group measure
    run=runs/PongNoFrameskip-v4-0
    python measure/watch.py $run/cores.csv \\
        python examples/ppo.py PongNoFrameskip-v4    # first train one
    python measure/agent.py $run                     # a trial
    python measure/agent.py $run --publish

What it makes of the run's folder, in runs/measure or, with --publish, in its
place, for Pong:

- measure/results/pong.csv: the curve;
- measure/results/pong_cores.csv: what kept the cores busy meanwhile;
- measure/results/pong.json: the scores of 30 whole games in both ways that
  ppo.py has, and on what it was trained;
- docs/pong.webp: a film of the game with --film-seed, all of it.

For Breakout the files are called agent, and there are two more:

- examples/breakout.pt: the weights in half precision. All of Breakout is
  played with these;
- page/data/agent.json: a recording of that game's first decisions, as `record`
  below describes it.

About five minutes for an agent whose games are long.
"""

import json
import pathlib
import shutil
import sys

import numpy as np
import torch

import common
import ppo
import training_run
from game import Game, Games
from recordings import pack

BREAKOUT = "BreakoutNoFrameskip-v4"
NAMES = {BREAKOUT: "agent", "PongNoFrameskip-v4": "pong"}
PACKAGES = "ale-py gymnasium numpy torch"
MOST = 600  # decisions of the recording


@torch.no_grad()
def play(agent, env_id, seed):
    """Play a game; return its info, the decisions, screens and frames."""
    torch.manual_seed(seed)
    game = Game(seed, env_id, **training_run.SERVED)
    ale = game.env.unwrapped.ale
    decisions, screens, frames = [], [], []
    obs, first, info = game.reset(), True, None
    while info is None:
        policy, value = agent(torch.as_tensor(obs[None]))
        action = policy.sample().item()
        screens.append(game.render())
        frames.append(obs[-1])
        lives = ale.lives()
        obs, reward, done, info = game.step(action)
        probabilities = [round(p, 2) for p in policy.probs[0].tolist()]
        seen = [lives, int(first), round(value.item(), 2), probabilities]
        decisions.append([action, int(reward), *seen])
        first = done
    info["actions"] = game.env.unwrapped.get_action_meanings()
    return info, decisions, screens, frames


def record(seed, info, decisions, screens, frames):
    """Return the recording as one line of JSON.

    A row of `decisions` is `[action, reward, lives, first, value,
    probabilities]`. `lives` and `value` are those before the action, `value`
    is in the clipped points that the agent learned from, and discounted;
    `first` is 1 where the observation begins a life, so that its four frames
    are the same. For each decision there is the colour screen before it, as
    indices into `rgb`, and the newest frame of the observation, both packed as
    page/recordings.py does it.
    """
    pixels = np.array(screens).reshape(-1, 3)
    rgb, indices = np.unique(pixels, axis=0, return_inverse=True)
    indices = indices.reshape(len(screens), *screens[0].shape[:2])
    recording = {
        "env_id": BREAKOUT,
        "seed": seed,
        "score": int(info["reward"]),
        "length": info["length"],
        "actions": info["actions"],
        "rgb": rgb.tolist(),
        "decisions": decisions,
        "screens": pack(indices),
        "frames": pack(frames),
    }
    return json.dumps(recording, separators=(",", ":")) + "\n"


def judge(agent, env_id):
    """Return the scores of whole games, in both ways."""
    scores = {}
    for way, options in training_run.WAYS.items():
        with Games(training_run.GAMES, env_id, **options) as games:
            scores[way] = training_run.whole_games(agent, games, seed=0)
        print(f"{way}: {np.mean(scores[way]):.1f} points")
    return scores


def main():
    parser = common.options(__doc__)
    parser.add_argument("run", type=pathlib.Path, help="folder of the run")
    parser.add_argument("--film-seed", type=int, default=0, help="which game")
    note = "a sentence on how it was trained, with a space after it"
    parser.add_argument("--note", default="", help=note)
    args = parser.parse_args()
    checkpoint = args.run / "checkpoint.pt"
    saved = torch.load(checkpoint, map_location="cpu", weights_only=True)
    state = saved["state"]
    env_id = state["env_id"]
    if env_id not in NAMES:
        sys.exit(f"expected a run of {' or '.join(NAMES)}, got {env_id}")
    name = NAMES[env_id]
    folder = common.RUNS
    folder.mkdir(parents=True, exist_ok=True)

    places = {f"{name}.webp": "docs"}
    tables = {"curve.csv": f"{name}.csv", "cores.csv": f"{name}_cores.csv"}
    for file, result in tables.items():
        if (args.run / file).exists():
            shutil.copy(args.run / file, folder / result)
            places[result] = "measure/results"
    weights = saved["weights"]
    if env_id == BREAKOUT:
        weights = {key: weight.half() for key, weight in weights.items()}
        torch.save(weights, folder / "breakout.pt")
        places["breakout.pt"] = "examples"
    agent = ppo.Agent(len(weights["policy.bias"]))
    agent.load_state_dict(weights)

    info, *played = play(agent, env_id, args.film_seed)
    training_run.write_film(played[1], folder / f"{name}.webp")
    if env_id == BREAKOUT:
        beginning = [column[:MOST] for column in played]
        text = record(args.film_seed, info, *beginning)
        (folder / "recording.json").write_text(text)
        places["recording.json"] = "page/data/agent.json"
    film = {key: info[key] for key in ("reward", "length")}
    about = {
        **common.machine(PACKAGES),
        "date": common.today(),
        "steps": state["steps"],
        "seconds": state["seconds"],
        "scores": judge(agent, env_id),
        "film": {"seed": args.film_seed, **film},
        "note": args.note,
    }
    common.write(folder / f"{name}.json", about)
    places[f"{name}.json"] = "measure/results"
    for file, place in places.items():
        print(f"{file}: {(folder / file).stat().st_size:,} bytes")
        if args.publish:
            shutil.copy(folder / file, common.ROOT / place)


if __name__ == "__main__":
    main()

"""Publish a trained agent: weights, curve, scores, a film and a recording.

    pip install -r requirements.txt --group measure
    python examples/ppo.py --steps 4000000        # first train one
    python measure/agent.py runs/BreakoutNoFrameskip-v4-0             # a trial
    python measure/agent.py runs/BreakoutNoFrameskip-v4-0 --publish

What it makes of the run's folder, in runs/measure or, with --publish, in its
place:

- examples/breakout.pt: the weights in half precision. All that follows is
  played with these;
- measure/results/agent.csv: the curve;
- measure/results/agent.json: the scores of 30 whole games in both ways that
  ppo.py has, and on what it was trained;
- docs/agent.webp: a film of the game with --film-seed, all of it;
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

ENV_ID = "BreakoutNoFrameskip-v4"
PACKAGES = "ale-py gymnasium numpy torch"
MOST = 600  # decisions of the recording
PLACES = {
    "breakout.pt": "examples",
    "agent.csv": "measure/results",
    "agent.json": "measure/results",
    "agent.webp": "docs",
    "recording.json": "page/data/agent.json",
}


@torch.no_grad()
def play(agent, seed):
    """Play a game; return its info, the decisions, screens and frames."""
    torch.manual_seed(seed)
    game = Game(seed, ENV_ID, **training_run.SERVED)
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
        "env_id": ENV_ID,
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


def halve(weights, path):
    """Write weights in half precision; return an agent that has them."""
    halves = {name: weight.half() for name, weight in weights.items()}
    torch.save(halves, path)
    agent = ppo.Agent(len(halves["policy.bias"]))
    agent.load_state_dict(halves)
    return agent


def judge(agent):
    """Return the scores of whole games, in both ways."""
    scores = {}
    for way, options in training_run.WAYS.items():
        with Games(training_run.GAMES, ENV_ID, **options) as games:
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
    if state["env_id"] != ENV_ID:
        sys.exit(f"expected a run of {ENV_ID}, got {state['env_id']}")
    folder = common.RUNS
    folder.mkdir(parents=True, exist_ok=True)

    agent = halve(saved["weights"], folder / "breakout.pt")
    shutil.copy(args.run / "curve.csv", folder / "agent.csv")
    info, *played = play(agent, args.film_seed)
    training_run.write_film(played[1], folder / "agent.webp")
    beginning = [column[:MOST] for column in played]
    text = record(args.film_seed, info, *beginning)
    (folder / "recording.json").write_text(text)
    film = {name: info[name] for name in ("reward", "length")}
    about = {
        **common.machine(PACKAGES),
        "date": common.today(),
        "steps": state["steps"],
        "seconds": state["seconds"],
        "scores": judge(agent),
        "film": {"seed": args.film_seed, **film},
        "note": args.note,
    }
    common.write(folder / "agent.json", about)
    for name, place in PLACES.items():
        print(f"{name}: {(folder / name).stat().st_size:,} bytes")
        if args.publish:
            shutil.copy(folder / name, common.ROOT / place)


if __name__ == "__main__":
    main()

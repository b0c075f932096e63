"""Publish a trained agent: weights, curve, scores, a film and a recording.

    pip install -r requirements.txt -r examples/requirements.txt
    python examples/ppo.py --steps 2500000        # first train one
    python measure/agent.py runs/BreakoutNoFrameskip-v4-0             # a trial
    python measure/agent.py runs/BreakoutNoFrameskip-v4-0 --publish

What it makes of the run's folder, in runs/agent or, with --publish, in its
place:

- examples/breakout.pt: the weights in half precision. All that follows is
  played with these;
- measure/results/agent.csv: the curve;
- measure/results/agent.json: the scores of 30 whole games in both ways that
  ppo.py has, and on what it was trained;
- docs/agent.webp: a film of the game with --film-seed, all of it;
- page/data/agent.json: a recording of that game's first --most decisions.

About five minutes for an agent whose games are long.

The recording is JSON:

- `env_id`, `seed`, `score`, `length`: which game this was, its raw points and
  its steps;
- `actions`: the names of the actions;
- `rgb`: the colours of the screen; what follows has indices into them;
- `decisions`: one row for each, `[action, reward, lives, first, value,
  probabilities]`. `lives` and `value` are those before the action, `value` is
  in the clipped points that the agent learned from, and discounted; `first` is
  1 where the observation begins a life, so that its four frames are the same;
- `screens`: for each decision the 160×210 screen before it, as text; its
  format is that of page/recordings.py;
- `frames`: for each decision the newest 84×84 frame of the observation, in the
  same way.
"""

import json
import pathlib
import shutil
import sys
from importlib import metadata

import numpy as np
import torch

import publish

sys.path.insert(0, str(publish.ROOT))
sys.path.insert(0, str(publish.ROOT / "examples"))
sys.path.insert(0, str(publish.ROOT / "page"))
import ppo  # noqa: E402
import runs  # noqa: E402
from game import Game, Games  # noqa: E402
from recordings import pack  # noqa: E402

ENV_ID = "BreakoutNoFrameskip-v4"
PACKAGES = ["ale-py", "gymnasium", "numpy", "torch"]
PLACES = {
    "breakout.pt": "examples",
    "agent.csv": "measure/results",
    "scores.json": "measure/results/agent.json",
    "agent.webp": "docs",
    "agent.json": "page/data",
}


@torch.no_grad()
def play(agent, seed):
    """Play a game; return its info, the decisions, screens and frames."""
    torch.manual_seed(seed)
    game = Game(seed, ENV_ID, **runs.SERVED)
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
    """Return the recording as one line of JSON."""
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
    for way, options in runs.WAYS.items():
        with Games(runs.GAMES, ENV_ID, **options) as games:
            scores[way] = runs.whole_games(agent, games, seed=0)
        print(f"{way}: {np.mean(scores[way]):.1f} points")
    return scores


def main():
    parser = publish.Parser(__doc__)
    parser.add_argument("run", type=pathlib.Path, help="folder of the run")
    parser.add_argument("--film-seed", type=int, default=0, help="which game")
    count = publish.positive(int)
    parser.add_argument("--most", type=count, default=600, help="decisions")
    note = "a sentence on how it was trained, with a space after it"
    parser.add_argument("--note", default="", help=note)
    parser.add_argument("--publish", action="store_true", help="see above")
    args = parser.parse_args()
    checkpoint = args.run / "checkpoint.pt"
    if not checkpoint.exists():
        parser.error(f"no checkpoint in {args.run}")
    saved = torch.load(checkpoint, map_location="cpu", weights_only=True)
    state = saved["state"]
    if state["env_id"] != ENV_ID:
        parser.error(f"expected a run of {ENV_ID}, got {state['env_id']}")
    folder = publish.RUNS / "agent"
    folder.mkdir(parents=True, exist_ok=True)

    agent = halve(saved["weights"], folder / "breakout.pt")
    shutil.copy(args.run / "curve.csv", folder / "agent.csv")
    info, *played = play(agent, args.film_seed)
    runs.write_film(played[1], folder / "agent.webp")
    beginning = [column[: args.most] for column in played]
    text = record(args.film_seed, info, *beginning)
    (folder / "agent.json").write_text(text)
    film = {name: info[name] for name in ("reward", "length")}
    about = {
        **publish.machine(),
        "versions": {name: metadata.version(name) for name in PACKAGES},
        "date": publish.today(),
        "steps": state["steps"],
        "seconds": state["seconds"],
        "scores": judge(agent),
        "film": {"seed": args.film_seed, **film},
        "note": args.note,
    }
    publish.write(folder / "scores.json", about)
    for name, place in PLACES.items():
        print(f"{name}: {(folder / name).stat().st_size:,} bytes")
        if args.publish:
            shutil.copy(folder / name, publish.ROOT / place)


if __name__ == "__main__":
    main()

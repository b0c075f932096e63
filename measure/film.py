"""Film a game of the trained agent, and record what it saw and expected.

    pip install -r requirements.txt -r examples/requirements.txt
    python measure/film.py                      # to runs/film
    python measure/film.py --seed 7 --publish   # docs/agent.webp and
                                                # page/agent.json

The weights are those of examples/breakout.pt unless --weights names others.
About two minutes for a long game. The film is the whole game, the recording
its first --most decisions.

The recording is JSON:

- `env_id`, `seed`, `score`, `length`: which game this was, its raw points and
  its steps;
- `actions`: the names of the actions;
- `rgb`: the colours of the screen; what follows has indices into them;
- `decisions`: one row for each, `[action, reward, lives, first, value,
  probabilities]`. `lives` and `value` are those before the action, `value` is
  in the clipped points that the agent learned from, and discounted; `first` is
  1 where the observation begins a life, so that its four frames are the same;
- `screens`: for each decision the 160×210 screen before it, base64. A screen
  is what has changed since the one before: the number of rectangles (two
  bytes, low byte first), then for each `x, y, width, height, colour`. The
  screen before the first is all of colour 0.
- `frames`: for each decision the newest 84×84 frame of the observation,
  base64. A frame is what has changed since the one before: the number of runs
  (two bytes, low byte first), then for each `x, y, length` and as many gray
  values. The frame before the first is black.
"""

import argparse
import base64
import json
import pathlib
import sys

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "examples"))
import ppo  # noqa: E402
from game import Game  # noqa: E402

ENV_ID = "BreakoutNoFrameskip-v4"


def rectangles(old, new):
    """Yield what has changed as `x, y, width, height, colour`."""
    left = old != new
    for y, x in np.argwhere(left):
        if not left[y, x]:
            continue  # a rectangle before this one had it
        same = left[y, x:] & (new[y, x:] == new[y, x])
        width = len(same) if same.all() else same.argmin()
        columns = slice(x, x + width)
        rows = (left[y:, columns] & (new[y:, columns] == new[y, x])).all(1)
        height = len(rows) if rows.all() else rows.argmin()
        left[y : y + height, columns] = False
        yield [x, y, width, height, new[y, x]]


def runs(old, new):
    """Yield what has changed as `x, y, length` and the gray values."""
    for y, changed in enumerate(old != new):
        edges = np.flatnonzero(np.diff(changed, prepend=False, append=False))
        for start, end in edges.reshape(-1, 2):
            yield [start, y, end - start, *new[y, start:end]]


def deltas(pictures, changes):
    """Return pictures one after the other as base64, by what changes."""
    data = bytearray()
    old = np.zeros_like(pictures[0])
    for new in pictures:
        changed = [bytes(map(int, one)) for one in changes(old, new)]
        data += len(changed).to_bytes(2, "little") + b"".join(changed)
        old = new
    return base64.b64encode(data).decode()


@torch.no_grad()
def play(agent, seed):
    """Play a game; return its info, the decisions, screens and frames."""
    torch.manual_seed(seed)
    game = Game(seed, ENV_ID, **ppo.SERVED)
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
        "screens": deltas(indices, rectangles),
        "frames": deltas(frames, runs),
    }
    return json.dumps(recording, separators=(",", ":")) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    published = ROOT / "examples/breakout.pt"
    parser.add_argument("--weights", type=pathlib.Path, default=published)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=600)
    parser.add_argument("--publish", action="store_true")
    args = parser.parse_args()
    if not args.weights.exists():
        parser.exit(2, f"film.py: no weights in {args.weights}\n")
    weights = torch.load(args.weights, weights_only=True)
    agent = ppo.Agent(len(weights["policy.bias"]))
    agent.load_state_dict(weights)
    info, *played = play(agent, args.seed)
    folder = pathlib.Path("runs/film")
    film, recording = folder / "agent.webp", folder / "agent.json"
    if args.publish:
        film, recording = ROOT / "docs/agent.webp", ROOT / "page/agent.json"
    else:
        folder.mkdir(parents=True, exist_ok=True)
    ppo.write_film(played[1], film)
    beginning = [column[: args.most] for column in played]
    recording.write_text(record(args.seed, info, *beginning))
    print(f"{film}: {film.stat().st_size:,} bytes, {info}")
    print(f"{recording}: {recording.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

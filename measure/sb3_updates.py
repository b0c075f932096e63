"""Measure what Stable-Baselines3's PPO gains by `Games`.

    pip install -r requirements.txt --group measure
    python measure/sb3_updates.py        # about two minutes
    python measure/sb3_updates.py --gpu  # the network and the learning on one

Both sides learn Breakout with the settings of SB3's own zoo: eight games,
no-op starts, FIRE, an episode for each life, clipped rewards. One side is
`GamesVecEnv`, as in examples/sb3.py, the other what SB3 has for it,
`make_atari_env` under `SubprocVecEnv`, a process for each game. They play and
learn one update in turn, so that a busy machine is as busy for both. `first`
has the first updates, `trained` those of the agent of examples/breakout.pt,
which learns no more, and whose games are longer. Results go to
sb3_updates.json or, with --gpu, to sb3_gpu.json.
"""

import contextlib
import time

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_atari_env
from stable_baselines3.common.vec_env import SubprocVecEnv, VecFrameStack

import common
import ppo
from game import BREAKOUT, TRAINING, Games
from sb3 import ATARI, CONTEXT, GamesVecEnv

PACKAGES = f"ale-py gymnasium numpy {common.OPENCV} stable_baselines3 torch"
GAMES = 8
ROUNDS = 15


def on_games():
    return GamesVecEnv(Games(GAMES, seed=0, context=CONTEXT, **TRAINING))


def breakout(**options):
    return gym.make(BREAKOUT, **options)


def on_sb3():
    options = dict(start_method=CONTEXT)
    games = make_atari_env(
        breakout,
        GAMES,
        seed=0,
        vec_env_cls=SubprocVecEnv,
        vec_env_kwargs=options,
    )
    return VecFrameStack(games, 4)


SIDES = {"games": on_games, "sb3": on_sb3}


class Clock(BaseCallback):
    """How long the steps of an update take."""

    def _on_rollout_start(self):
        self.started = time.perf_counter()

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        self.playing = time.perf_counter() - self.started


def update(model):
    """Play and learn; return how many seconds each has taken."""
    clock = Clock()
    start = time.perf_counter()
    steps = ATARI["n_steps"] * GAMES
    model.learn(steps, clock, reset_num_timesteps=False)
    learning = time.perf_counter() - start - clock.playing
    return [round(clock.playing, 4), round(learning, 4)]


def agent_on(env, trained, device="cpu"):
    settings = ATARI | {"learning_rate": 0} if trained else ATARI
    model = PPO("CnnPolicy", env, **settings, seed=0, device=device)
    if trained:
        ours = ppo.Agent(env.action_space.n)
        ours.load_state_dict(common.weights())
        theirs = model.policy
        for part, its in (
            (theirs.features_extractor.cnn, ours.body[:7]),
            (theirs.features_extractor.linear[0], ours.body[7]),
            (theirs.action_net, ours.policy),
            (theirs.value_net, ours.value),
        ):
            part.load_state_dict(its.state_dict())
    return model


def updates(rounds, trained, device):
    """Of each round, what an update took on each side."""
    names = list(SIDES)
    with contextlib.ExitStack() as stack:
        models = {}
        for name, make in SIDES.items():
            env = make()
            stack.callback(env.close)
            models[name] = agent_on(env, trained, device)
        found = []
        for i in range(rounds + 1):
            order = names[:: (-1) ** i]
            found.append({name: update(models[name]) for name in order})
    return found[1:]  # the first was to warm up


def main():
    parser = common.options(__doc__)
    parser.add_argument("--gpu", action="store_true", help="learn on a GPU")
    args = parser.parse_args()
    if args.publish:
        common.must_be_quiet()
    device = "cuda" if args.gpu else "cpu"
    name = "sb3_gpu" if args.gpu else "sb3_updates"
    data = {
        **common.machine(PACKAGES),
        "gpu": torch.cuda.get_device_name() if args.gpu else None,
        "threads": torch.get_num_threads(),
        "date": common.today(),
        "games": GAMES,
        "steps": ATARI["n_steps"] * GAMES,
        "parts": ["games and network", "learning"],
        "first": updates(ROUNDS, False, device),
        "trained": updates(ROUNDS, True, device),
    }
    common.write(common.target(f"{name}.json", args.publish), data)


if __name__ == "__main__":
    main()

"""Train the same agent on `Games` and on CleanRL's stack of wrappers.

    pip install -r requirements.txt --group measure
    python measure/training.py share     # where the time of an update goes
    python measure/training.py stock     # the same beside CleanRL as it comes
    python measure/training.py trained   # likewise, by the trained agent
    python measure/training.py float32   # as ppo.py trains without bfloat16
    python measure/training.py gpu       # the network and the learning on one
    python measure/training.py learn     # what is learned from equal steps

Both sides play the same: no-op starts, FIRE, a lost life that ends the
episode but not the game, clipped rewards. The wrappers are those of CleanRL's
`ppo_atari.py`, Stable-Baselines3's and Gymnasium's, in its order. Under
Gymnasium's `AsyncVectorEnv` each game has a process of its own; under its
`SyncVectorEnv`, which CleanRL takes, all are played in the program itself.
Agent and update are those of examples/ppo.py, whose settings hold for all.

`share` lets each side play and learn one update of Breakout in turn, so that a
busy machine is as busy for all: about two minutes. Two more sides are
`Games` as ppo.py plays them, two in turn, each with half of the games, and
four `Games` of one process each, whichever is ready first. `stock` has
`SyncVectorEnv` and EnvPool in their place. `trained` has the agent of
examples/breakout.pt, whose games are longer, and which learns no more.
`float32` has only what ppo.py plays, for processors without instructions for
bfloat16. `gpu` plays 8 games and 64 for a network on a GPU. EnvPool is made as
in CleanRL's `ppo_atari_envpool.py`; its step after an end is but a reset.
`learn` trains three titles on `Games` and under `AsyncVectorEnv` with each
seed, one run after the other: Krull and Crazy Climber, which are learned fast,
and the first 400,000 steps of Breakout. That takes 80 minutes on two cores.

Results go to training.json, stock.json, trained.json, float32.json, gpu.json
and training.csv, a row for each update; report.py makes docs/learning.md of
them.
"""

import contextlib
import itertools
import statistics

import gymnasium as gym
import numpy as np
import pandas as pd
import torch
from gymnasium import wrappers
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from stable_baselines3.common import atari_wrappers

import common
import in_turn
import ppo
import training_run
from game import BREAKOUT, Games

SIDES = ["games", "wrappers"]
SHARED = {
    "share": ["turns", "ready", *SIDES],
    "stock": [*SIDES, "stock", "envpool"],
    "trained": [*SIDES, "stock", "envpool"],
    "float32": ["turns"],
}
GPU = {
    8: ["turns", *SIDES, "stock", "envpool"],
    64: ["turns", *SIDES, "envpool"],
}  # games, and who plays so many
IN_FLEET = {"turns": 2, "ready": 4}  # `Games` of these sides
PARTS = ["games", "network", "learning"]  # of an update's time
COLUMNS = ["title", "side", "seed", "steps", "score"]
PACKAGES = "ale-py envpool gymnasium numpy stable_baselines3 torch"
ROUNDS = 15  # of share
# steps of learn
LEARN = {"Krull": 150_000, "CrazyClimber": 200_000, "Breakout": 400_000}
SEEDS = [0, 1, 2]  # of learn
GAMES = 8


def make_game(env_id):
    """One game as `ppo_atari.py` makes it."""
    env = gym.make(env_id)
    env = wrappers.RecordEpisodeStatistics(env)  # raw points of whole games
    env = atari_wrappers.NoopResetEnv(env, noop_max=30)
    env = atari_wrappers.MaxAndSkipEnv(env, skip=4)
    env = atari_wrappers.EpisodicLifeEnv(env)
    if "FIRE" in env.unwrapped.get_action_meanings():
        env = atari_wrappers.FireResetEnv(env)
    env = atari_wrappers.ClipRewardEnv(env)
    env = wrappers.ResizeObservation(env, (84, 84))
    env = wrappers.GrayscaleObservation(env)
    return wrappers.FrameStackObservation(env, 4)


class Wrapped:
    """Such games, which report their scores where `Games` does."""

    def __init__(self, num_envs, env_id):
        make = [lambda: make_game(env_id)] * num_envs
        super().__init__(make, autoreset_mode=AutoresetMode.SAME_STEP)

    def step_wait(self):
        *result, infos = self.results()
        final = infos.pop("final_info", {})
        infos.pop("_final_info", None)
        # "episode" is there when a game is over, and not at each lost life.
        if "episode" in final:
            infos["final_info"] = {"reward": final["episode"]["r"]}
            infos["_final_info"] = final["_episode"]
        return *result, infos


class InProcesses(Wrapped, AsyncVectorEnv):
    """A process for each game."""

    def results(self):
        return AsyncVectorEnv.step_wait(self)


class Stock(Wrapped, SyncVectorEnv):
    """All in the program itself, as `ppo_atari.py` plays them."""

    def step_async(self, actions):
        self._chosen = actions

    def results(self):
        return self.step(self._chosen)


class OnEnvPool:
    """EnvPool's games, whose scores aren't reported."""

    def __init__(self, num_envs, env_id):
        import envpool

        self.num_envs = num_envs
        self._pool = envpool.make_gymnasium(
            env_id.replace("NoFrameskip-v4", "-v5"),
            num_envs=num_envs,
            episodic_life=True,
            reward_clip=True,
        )
        self.single_action_space = self._pool.action_space

    def reset(self, seed):
        return self._pool.reset()

    def step_async(self, actions):
        self._pool.send(actions.astype(np.int32), np.arange(self.num_envs))

    def step_wait(self):
        *result, infos = self._pool.recv()
        assert (infos["env_id"] == np.arange(self.num_envs)).all()
        return *result, {}

    def close(self):
        self._pool.close()


WRAPPED = {"wrappers": InProcesses, "stock": Stock, "envpool": OnEnvPool}


def make_fleet(side, env_id, games):
    """What a side plays, each in turn."""
    if side in WRAPPED:
        return [WRAPPED[side](games, env_id)]
    count = IN_FLEET.get(side, 1)
    options = dict(training_run.TRAINING, context=training_run.CONTEXT)
    if side == "ready":
        options["processes"] = 1
    return [Games(games // count, env_id, **options) for _ in range(count)]


@torch.no_grad()
def play_ready_first(agent, fleet, obs, seconds):
    """Do what `ppo.play` does, whichever of the `Games` is ready first."""
    seen = [[] for _ in fleet]
    outcomes = [[] for _ in fleet]
    scores = []

    def look(i):
        with training_run.timed(seconds, "network"):
            obs[i] = torch.as_tensor(obs[i])
            scaled = agent.scale(obs[i])
            policy, values = agent.look(scaled)
            actions = policy.sample()
            log_probs = policy.log_prob(actions)
            seen[i].append((scaled, actions, log_probs, values))
            fleet[i].step_async(actions.numpy())

    for i in range(len(fleet)):
        look(i)
    order = in_turn.ready_first(fleet)
    for _ in range(ppo.STEPS * len(fleet)):
        with training_run.timed(seconds, "games"):
            games = next(order)
            i = fleet.index(games)
            obs[i], *outcome, infos = games.step_wait()
        scores += training_run.final_scores(infos).values()
        # No game is cut short in so few steps, so no last value is needed.
        outcomes[i].append((*outcome, np.zeros(games.num_envs)))
        if len(seen[i]) < ppo.STEPS:
            look(i)
    parts = []
    for i, last in enumerate(map(torch.as_tensor, obs)):
        part = [torch.stack(column) for column in zip(*seen[i], strict=True)]
        outcome = np.array(outcomes[i], np.float32)
        outcome = torch.as_tensor(outcome).unbind(1)
        gains = ppo.advantages(*outcome, part[-1], agent(last)[1])
        parts.append([column.flatten(0, 1) for column in (*part, gains)])
    return [torch.cat(columns) for columns in zip(*parts, strict=True)], scores


def training(
    env_id,
    side,
    seed,
    updates,
    bfloat16=True,
    device="cpu",
    games=GAMES,
    weights=None,
):
    """Train; after each update, yield its seconds and the scores so far.

    An agent that has its weights already keeps them.
    """
    torch.manual_seed(seed)
    threads = torch.get_num_threads()
    fleet = make_fleet(side, env_id, games)
    play = play_ready_first if side == "ready" else ppo.play
    scores = []
    with contextlib.ExitStack() as stack:
        for each in fleet:
            stack.callback(each.close)
        agent = ppo.Agent(each.single_action_space.n, bfloat16).to(device)
        if weights:
            agent.load_state_dict(weights)
        optimizer = torch.optim.Adam(agent.parameters(), eps=1e-5, fused=True)
        seed = torch.randint(2**31, (1,)).item()
        obs = [
            each.reset(seed=seed + i * games)[0]
            for i, each in enumerate(fleet)
        ]
        for update in range(updates):
            rate = ppo.LEARNING_RATE * (1 - update / updates)
            optimizer.param_groups[0]["lr"] = 0 if weights else rate
            seconds = dict.fromkeys(PARTS, 0.0)
            # Nobody else plays while the network of this side computes.
            torch.set_num_threads(threads if side == "stock" else 1)
            with torch.autocast(device, enabled=False):
                batch, new = play(agent, fleet, obs, seconds)
            torch.set_num_threads(threads)
            with training_run.timed(seconds, "learning"):
                ppo.learn(agent, optimizer, batch)
            scores += new
            yield [round(seconds[part], 4) for part in PARTS], scores


def share(sides, bfloat16, device="cpu", games=GAMES, weights=None):
    """Let these sides train in turn; return where the time of each goes."""
    how = bfloat16, device, games, weights
    runs = {
        side: training(BREAKOUT, side, 0, ROUNDS + 1, *how) for side in sides
    }
    rounds = []
    for i in range(ROUNDS + 1):
        order = sides[:: (-1) ** i]
        rounds.append({side: next(runs[side])[0] for side in order})
    return {
        **common.machine(PACKAGES),
        "threads": torch.get_num_threads(),
        "bfloat16": bfloat16,
        "date": common.today(),
        "games": games,
        "steps": ppo.STEPS * games,
        "parts": PARTS,
        "rounds": rounds[1:],  # the first was to warm up
    }


def learn(path):
    """Train each side with each seed; write the scores as steps go by."""
    batch = ppo.STEPS * GAMES
    rows = []
    for seed, title, side in itertools.product(SEEDS, LEARN, SIDES):
        updates = -(-LEARN[title] // batch)
        run = training(f"{title}NoFrameskip-v4", side, seed, updates)
        for update, (_, scores) in enumerate(run, 1):
            last = scores[-training_run.LAST :] or [0]
            score = round(statistics.fmean(last), 3)
            rows.append([title, side, seed, update * batch, score])
        print(*rows[-1], flush=True)
        pd.DataFrame(rows, columns=COLUMNS).to_csv(path, index=False)


def main():
    parser = common.options(__doc__)
    parser.add_argument("what", choices=[*SHARED, "gpu", "learn"])
    args = parser.parse_args()
    if args.what == "learn":
        # What is learned doesn't depend on how long it takes.
        learn(common.target("training.csv", args.publish))
        return
    if args.publish:
        common.must_be_quiet()
    name = "training" if args.what == "share" else args.what
    path = common.target(f"{name}.json", args.publish)
    if args.what == "gpu":
        data = {"gpu": torch.cuda.get_device_name()}
        for games, sides in GPU.items():
            data[str(games)] = share(sides, False, "cuda", games)
            common.write(path, data)
    else:
        sides = SHARED[args.what]
        weights = common.weights() if args.what == "trained" else None
        bfloat16 = args.what != "float32"
        data = {"share": share(sides, bfloat16, weights=weights)}
        common.write(path, data)


if __name__ == "__main__":
    main()

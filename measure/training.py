"""Train the same agent on `Games` and on CleanRL's stack of wrappers.

    pip install -r requirements.txt --group measure
    python measure/training.py share     # where the time of an update goes
    python measure/training.py learn     # what is learned from equal steps

Both sides play the same: no-op starts, FIRE, a lost life that ends the
episode but not the game, clipped rewards. The wrappers are those of CleanRL's
`ppo_atari.py`, Stable-Baselines3's and Gymnasium's, in its order; each game
has a process of its own, under Gymnasium's `AsyncVectorEnv` (CleanRL plays all
in one process, which is slower). Agent and update are those of
examples/ppo.py, whose settings hold for both.

`share` lets each side play and learn one update of Breakout in turn, so that a
busy machine is as busy for both: about two minutes. `learn` trains Krull,
which is learned fast, on each side with each seed, one run after the other:
about eight minutes a run on two cores. It can be done in parts, `--sides games
--seeds 2`: a finished run replaces the one before it of that side and seed.

Results go to training.json and training.csv; report.py makes docs/learning.md
of them.
"""

import contextlib
import statistics

import ale_py
import gymnasium as gym
import pandas as pd
import torch
from gymnasium import wrappers
from gymnasium.vector import AsyncVectorEnv, AutoresetMode

import common
import ppo
import training_run
from game import Games

SIDES = ["games", "wrappers"]
PARTS = ["games", "network", "learning"]  # of an update's time
COLUMNS = ["env_id", "side", "seed", "steps", "ended", "score"]
UPDATES_TO_A_ROW = 5
PACKAGES = "ale-py gymnasium numpy stable_baselines3 torch"
BREAKOUT = "BreakoutNoFrameskip-v4"
KRULL = "KrullNoFrameskip-v4"


def make_game(env_id):
    """One game as `ppo_atari.py` makes it."""
    from stable_baselines3.common import atari_wrappers

    gym.register_envs(ale_py)
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


class Wrapped(AsyncVectorEnv):
    """Such games, which report their scores where `Games` does."""

    def __init__(self, num_envs, env_id):
        make = [lambda: make_game(env_id)] * num_envs
        super().__init__(make, autoreset_mode=AutoresetMode.SAME_STEP)

    def step(self, actions):
        *result, infos = super().step(actions)
        final = infos.pop("final_info", {})
        infos.pop("_final_info", None)
        # "episode" is there when a game is over, and not at each lost life.
        if "episode" in final:
            infos["final_info"] = {"reward": final["episode"]["r"]}
            infos["_final_info"] = final["_episode"]
        return *result, infos


def training(args, side, seed, updates):
    """Train; after each update, yield its seconds and the scores so far."""
    torch.manual_seed(seed)
    if side == "games":
        games = Games(args.games, args.env_id, **ppo.TRAINING)
    else:
        games = Wrapped(args.games, args.env_id)
    scores = []
    with contextlib.closing(games):
        agent = ppo.Agent(games.single_action_space.n, args.bfloat16)
        optimizer = torch.optim.Adam(agent.parameters(), eps=1e-5)
        obs, _ = games.reset(seed=torch.randint(2**31, (1,)).item())
        for update in range(updates):
            rate = ppo.LEARNING_RATE * (1 - update / updates)
            optimizer.param_groups[0]["lr"] = rate
            seconds = dict.fromkeys(PARTS, 0.0)
            batch, obs, new = ppo.play(agent, games, obs, seconds)
            with training_run.timed(seconds, "learning"):
                ppo.learn(agent, optimizer, batch)
            scores += new
            yield seconds, scores


def share(args):
    """Let both sides train in turn; write where the time of each goes."""
    trainings = {
        side: training(args, side, args.seeds[0], args.rounds + 1)
        for side in SIDES
    }
    rounds = []
    for i in range(args.rounds + 1):
        spent = {
            side: next(trainings[side])[0] for side in SIDES[:: (-1) ** i]
        }
        rounds.append(
            {
                side: [round(seconds[part], 4) for part in PARTS]
                for side, seconds in spent.items()
            }
        )
    for each in trainings.values():
        each.close()
    rounds = rounds[1:]  # the first was to warm up
    note(args, "share", parts=PARTS, rounds=rounds)
    ratios = [sum(one["wrappers"]) / sum(one["games"]) for one in rounds]
    print(
        f"an update on Games is {statistics.median(ratios):.2f} times as fast "
        f"({min(ratios):.2f} to {max(ratios):.2f})"
    )


def learn(args):
    """Train each side with each seed; write the scores as steps go by."""
    batch = ppo.STEPS * args.games
    updates = -(-args.steps // batch)
    for seed in args.seeds:
        for side in args.sides:
            rows = []
            run = training(args, side, seed, updates)
            for update, (_, scores) in enumerate(run, 1):
                if update % UPDATES_TO_A_ROW and update < updates:
                    continue
                last = scores[-training_run.LAST :]
                score = statistics.fmean(last) if last else 0
                row = [args.env_id, side, seed, update * batch, len(scores)]
                rows.append([*row, round(score, 3)])
                print(*rows[-1], flush=True)
            keep(args, rows)
            note(args, f"learn {side} {seed}", steps=updates * batch)


def keep(args, rows):
    """Put a run's rows in place of older ones of the same side and seed."""
    path = common.target("training.csv", args.publish)
    table = pd.DataFrame(rows, columns=COLUMNS)
    if path.exists():
        old = pd.read_csv(path)
        _, side, seed, *_ = rows[0]
        same = (old.side == side) & (old.seed == seed)
        table = pd.concat([old[~same], table])
    table.to_csv(path, index=False)


def note(args, section, **results):
    """Write to training.json what ran, where and when, and its results."""
    path = common.target("training.json", args.publish)
    data = common.read(path)
    data[section] = {
        **common.machine(PACKAGES),
        "threads": torch.get_num_threads(),
        "bfloat16": args.bfloat16,
        "date": common.today(),
        "env_id": args.env_id,
        "games": args.games,
        **results,
    }
    common.write(path, data)


def main():
    parser = common.Parser(__doc__)
    count = common.positive(int)
    parser.add_argument("what", choices=["share", "learn"])
    parser.add_argument("--env-id", help="another title than the usual one")
    parser.add_argument("--rounds", type=count, default=40, help="of share")
    parser.add_argument(
        "--steps", type=count, default=150_000, help="of learn"
    )
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=SIDES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--games", type=count, default=8, help="at once")
    parser.add_argument("--bfloat16", action="store_true", help="see ppo.py")
    parser.add_argument("--threads", type=count, help="see ppo.py")
    parser.add_publish()
    args = parser.parse_args()
    parser.need("stable_baselines3")
    args.env_id = args.env_id or {"share": BREAKOUT, "learn": KRULL}[args.what]
    if min(args.seeds) < 0:
        parser.error("--seeds: expected numbers from 0 on")
    try:
        Games(1, args.env_id, processes=0).close()
    except gym.error.Error as error:
        parser.error(error)
    if args.threads:
        torch.set_num_threads(args.threads)
    # What is learned doesn't depend on how long it takes.
    if args.publish and args.what == "share":
        parser.must_be_quiet()
    {"share": share, "learn": learn}[args.what](args)


if __name__ == "__main__":
    main()

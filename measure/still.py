"""How our agent plays if nothing moves in what it sees.

    pip install -r requirements.txt --group measure
    python measure/still.py            # a trial
    python measure/still.py --publish

It plays 30 whole games with the four pictures of each observation and 30 with
the newest in place of all four, as `--evaluate` of ppo.py does it. Their
scores go to measure/results/still.json. A minute.
"""

import common
import ppo
import training_run
from game import Game, Games


class Still(Game):
    """Shows its newest picture four times."""

    def observe(self):
        obs_4 = super().observe()
        obs_4[:] = obs_4[-1]
        return obs_4


MAKES = {"moving": Game, "still": Still}


def main():
    args = common.options(__doc__).parse_args()
    agent = ppo.Agent(4)
    agent.load_state_dict(common.weights())
    about = {**common.machine("ale-py gymnasium numpy torch"), **common.when()}
    options = training_run.SERVED
    for name, make in MAKES.items():
        with Games(training_run.GAMES, make=make, **options) as games:
            scores = training_run.whole_games(agent, games, seed=0)
        about[name] = scores
    common.write(common.target("still.json", args.publish), about)


if __name__ == "__main__":
    main()

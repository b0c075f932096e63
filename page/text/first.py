import numpy as np

from game import Games

rng = np.random.default_rng(0)


def choose(obs):  # at random; your network samples by its probabilities
    return rng.integers(4, size=len(obs))


if __name__ == "__main__":
    scores = np.full(32, np.nan)  # of the first game in each place
    with Games(32, seed=1000) as games:
        obs, infos = games.reset()  # uint8 (32, 4, 84, 84)
        while np.isnan(scores).any():
            obs, *_, infos = games.step(choose(obs))
            if "episode" in infos:  # some games are over
                first = infos["_episode"] & np.isnan(scores)
                scores[first] = infos["episode"]["r"][first]
    print(f"{scores.mean():.1f}, {scores.min():.0f} to {scores.max():.0f}")

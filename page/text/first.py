import cv2

from game import Game

game = Game(seed=0, on_life_loss="continue")
game.env.action_space.seed(0)  # for the same game each time
obs_4 = game.reset()
print(obs_4.shape, obs_4.dtype, game.meanings)
for step in range(1, 281):
    action = game.env.action_space.sample()
    obs_4, reward, done, info = game.step(action)
    if reward or done:
        print(step, reward, done, info)
seen = cv2.hconcat(obs_4).repeat(4, 0)
cv2.imwrite("seen.png", seen.repeat(4, 1))

// What figures and tests use of this room. All other names are its own.
window.Agent = Agent;
window.Live = {
  Agent, AgentGame, Breakout, Column, Serves, clock, screenOf, send,
  sentIn,
  BALL, BUTTON, COLORS, COURT, DROPS, LONGEST, MOVES, PADDLE, SERVES, WALL,
};

"""Take the film of the first screen that README shows."""

import io

from PIL import Image

from paths import SITE
from record.stills import open_page

# Frames go by when `pass` is called.
STEPPED = """{
  let time = 0, number = 0;
  const ticks = new Map();
  performance.now = () => time;
  requestAnimationFrame = (tick) => {
    ticks.set(++number, tick);
    return number;
  };
  cancelAnimationFrame = (one) => ticks.delete(one);
  window.pass = (frames) => {
    for (let frame = 0; frame < frames; frame++) {
      const due = [...ticks.values()];
      ticks.clear();
      time += 1000 / 60;
      for (const tick of due) tick(time);
    }
  };
}"""
# Two frames, and what is animated by styles as far
GO_ON = """() => {
  pass(2);
  for (const one of document.getAnimations()) {
    one.pause();
    one.currentTime = (one.currentTime ?? 0) + 2000 / 60;
    if (one.currentTime > 900) one.finish();
  }
}"""
PICTURES = 138  # that are taken, of each second frame
LAST = 1600  # ms that the last one stands for
LINE = 100  # pixels below the board, for the words


def take() -> None:
    size = {"width": 496, "height": 900}
    with open_page(viewport=size) as page:
        page.add_init_script(STEPPED)
        page.reload()
        page.wait_for_function(
            "() => window.Tease && Agent.network", polling=100
        )
        page.add_style_tag(content="#tease .pause { visibility: hidden }")
        box = page.locator("#tease .screen").bounding_box()
        assert box
        clip = box | {"height": box["height"] + LINE}
        pictures = []
        for _ in range(PICTURES):
            page.evaluate(GO_ON)
            png = page.screenshot(clip=clip, animations="allow")
            pictures.append(Image.open(io.BytesIO(png)).convert("RGB"))
    first, *others = pictures
    first.save(
        SITE / "tease.webp",
        save_all=True,
        append_images=others,
        duration=[33] * len(others) + [LAST],
        loop=0,
        quality=58,
        method=6,
    )

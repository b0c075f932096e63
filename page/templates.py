"""The template engine of all texts and of the figures' markup: Jinja2.

`{{ name }}` is a value, and a name that is none an error.
"""

import re

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from paths import HERE

# In a text that is filled in, where a definition of the module is quoted.
QUOTED = re.compile("(?m)^<!-- code (.+) -->$")

environment = Environment(
    loader=FileSystemLoader([HERE, HERE / "text"]),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    autoescape=False,  # what is made is Markdown as well as HTML
)


def code(name: str) -> str:
    """Quote a definition of the module, in the story."""
    return f"<!-- code {name} -->"


environment.globals["code"] = code


def template(path: str) -> Template:
    """A template by its path from `page/`."""
    return environment.get_template(path)

"use strict";
const $ = (id) => document.getElementById(id);

// The data of the figures, each in a file of its own that is loaded when it is
// first asked for.
const given = {}, asked = {};
const read = (name) => (asked[name] ??= new Promise((done) => {
  const script = document.createElement("script");
  script.src = `data/${name}.js`;
  script.onload = () => done(given[name]);
  document.head.append(script);
}));

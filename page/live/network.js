// The agent's network: three layers of filters, one of 512 numbers, and of
// these the probabilities of the actions and the value.
const FILTERS = [
  { name: "body.0", side: 84, channels: 4, reach: 8, stride: 4 },
  { name: "body.2", side: 20, channels: 32, reach: 4, stride: 2 },
  { name: "body.4", side: 9, channels: 64, reach: 3, stride: 1 },
];

// The weights of a layer, from whole numbers and a scale for each channel.
function weightsOf({ bits, weight, scale, bias }) {
  const { buffer } = Uint8Array.from(atob(weight), (c) => c.charCodeAt(0));
  const whole = bits === 8 ? new Int8Array(buffer) : new Int16Array(buffer);
  const size = whole.length / scale.length;
  const weights = Float32Array.from(whole,
    (value, i) => value * scale[Math.floor(i / size)]);
  return { weights, bias, size };
}

// What a layer makes of `places` rows of `size` numbers: of each channel a
// number for each place. Zeros are left out, which are most, and four channels
// are added up at a time, of which each layer has a multiple.
function respond(rows, places, { weights, bias, size }) {
  const made = new Float32Array(bias.length * places);
  const where = new Int32Array(size);
  const values = new Float32Array(size);
  for (let place = 0; place < places; place++) {
    let count = 0;
    for (let i = 0; i < size; i++) {
      const value = rows[place * size + i];
      if (value === 0) continue;
      where[count] = i;
      values[count] = value;
      count += 1;
    }
    for (let channel = 0; channel < bias.length; channel += 4) {
      let one = bias[channel];
      let two = bias[channel + 1];
      let three = bias[channel + 2];
      let four = bias[channel + 3];
      const start = channel * size;
      for (let k = 0; k < count; k++) {
        const value = values[k];
        const at = start + where[k];
        one += value * weights[at];
        two += value * weights[at + size];
        three += value * weights[at + 2 * size];
        four += value * weights[at + 3 * size];
      }
      made[channel * places + place] = one;
      made[(channel + 1) * places + place] = two;
      made[(channel + 2) * places + place] = three;
      made[(channel + 3) * places + place] = four;
    }
  }
  return made;
}

// What the window of a filter covers in each of its places, a row for each.
function windows(pictures, { side, channels, reach, stride }) {
  const places = Math.floor((side - reach) / stride) + 1;
  const rows = new Float32Array(places ** 2 * channels * reach ** 2);
  let at = 0;
  for (let y = 0; y < places; y++) {
    for (let x = 0; x < places; x++) {
      for (let channel = 0; channel < channels; channel++) {
        for (let line = 0; line < reach; line++) {
          const start = (channel * side + y * stride + line) * side + x * stride;
          for (let i = 0; i < reach; i++) rows[at++] = pictures[start + i];
        }
      }
    }
  }
  return { rows, places: places ** 2 };
}

const positive = (numbers) => numbers.map((value) => Math.max(0, value));

// What the network makes of four pictures: the probabilities of the actions,
// and the value.
function look(network, pictures) {
  let seen = new Float32Array(pictures).map((shade) => shade / 255);
  for (const layer of FILTERS) {
    const { rows, places } = windows(seen, layer);
    seen = positive(respond(rows, places, network[layer.name]));
  }
  const last = positive(respond(seen, 1, network["body.7"]));
  const { weights, bias: [bias] } = network.value;
  const value = bias + sum(last.map((number, i) => number * weights[i]));
  const scores = Array.from(respond(last, 1, network.policy));
  const most = Math.max(...scores);
  const shares = scores.map((score) => Math.exp(score - most));
  return { odds: shares.map((share) => share / sum(shares)), value };
}

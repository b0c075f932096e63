// Made by page/build.py of page/figures/tease/tease.json: edit that.
given.tease = {"moment":{"score":289,"lives":1,"paddle":43.94143216500503,"target":32.650000000000006,"ball":{"y":34.5,"vy":3.375,"x":42,"vx":-2},"hits":7,"fast":true,"mayBreak":true,"bricks":"000000000000001000111111101110010010011111100010110000011010001000000000000000000000000000000000000000000000"},"alone":[183]};

// Positions of a torus's nodes in drawings.

/// Distances along an axis from the own node: exact up to 2, then logarithmic, so that neighbours
/// are distinct on long axes too.
export function compressed(distance) {
  const length = Math.abs(distance);
  const place = length <= 2 ? length : 2 + 2 * Math.log2(length / 2);
  return Math.sign(distance) * place;
}

/// The reach of an axis of `size` nodes from a node in its middle: below and above.
export function reachOf(size) {
  return [Math.floor((size - 1) / 2), Math.floor(size / 2)];
}

/// The directions, in the plane, in which axes are drawn: X to the right, Y up, Z into the depth.
export function directionsOf(count) {
  const angles = [0, 90, 38, 142, 20, 65, 115, 160].slice(0, Math.max(count, 1));
  return angles.map((angle) => [Math.cos((angle * Math.PI) / 180), -Math.sin((angle * Math.PI) / 180)]);
}

/// Orthographic projection of a point (x, y, z), turned about the vertical by `turn` and tilted by
/// `tilt`: x to the right, y down, depth towards the viewer.
export function projected([x, y, z], turn, tilt) {
  const across = x * Math.cos(turn) + z * Math.sin(turn);
  const along = -x * Math.sin(turn) + z * Math.cos(turn);
  return [across, -y * Math.cos(tilt) + along * Math.sin(tilt), along * Math.cos(tilt) + y * Math.sin(tilt)];
}

/// The position of a node in space: the first three axes span a grid, further ones repeat it
/// beside.
export function placeOf(at, axes) {
  const [width, height] = [axes[0]?.size ?? 1, axes[1]?.size ?? 1];
  const place = [0, 1, 2].map((axis) => (at[axis] ?? 0) - ((axes[axis]?.size ?? 1) - 1) / 2);
  let across = true;
  let stepX = width + 1.5,
    stepY = height + 1.5;
  for (let axis = 3; axis < axes.length; ++axis) {
    const offset = at[axis] - (axes[axis].size - 1) / 2;
    if (across) {
      place[0] += offset * stepX;
      stepX *= axes[axis].size;
    } else {
      place[1] += offset * stepY;
      stepY *= axes[axis].size;
    }
    across = !across;
  }
  return place;
}

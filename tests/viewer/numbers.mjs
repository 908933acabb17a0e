// Compares pages with the output of other commands: numbers.mjs SCHEMA COUNT, in the folder of the
// files that numbers_test.sh makes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";

import { holdingsOf, linksWithTraffic } from "../../viewer/core/activity.mjs";
import { followChunk } from "../../viewer/core/chunk.mjs";
import { Holdings } from "../../viewer/panels/data.mjs";
import { Run, Schedule } from "../../viewer/core/schedule.mjs";
import { bandsOf } from "../../viewer/panels/stacked.mjs";
import { rowsOf } from "../../viewer/core/events.mjs";

const read = (name) => readFileSync(name, "utf8");
const json = (name) => JSON.parse(read(name));

/// The data of a page.
export function dataOf(file) {
  const [, base64] = /<script type="application\/octet-stream" id="data">([^<]*)<\/script>/.exec(read(file));
  return JSON.parse(inflateSync(Buffer.from(base64, "base64")));
}

/// As much of JSON Schema as view.schema.json uses.
function check(value, schema, root, path) {
  if (schema.$ref) return check(value, root.$defs[schema.$ref.split("/").at(-1)], root, path);
  const type =
    value === null
      ? "null"
      : Array.isArray(value)
        ? "array"
        : Number.isInteger(value)
          ? "integer"
          : typeof value;
  const types = [schema.type ?? type].flat();
  assert.ok(
    types.includes(type) || (type === "integer" && types.includes("number")),
    `${path}: is ${type}, not ${types}`,
  );
  if (schema.const !== undefined) assert.equal(value, schema.const, path);
  if (type === "array" && schema.items)
    value.forEach((item, i) => check(item, schema.items, root, `${path}/${i}`));
  if (type !== "object") return undefined;
  for (const key of schema.required ?? []) assert.ok(key in value, `${path}: lacks ${key}`);
  for (const [key, member] of Object.entries(value)) {
    const known = schema.properties?.[key];
    assert.ok(known || schema.additionalProperties !== false, `${path}: the schema has no ${key}`);
    if (known) check(member, known, root, `${path}/${key}`);
    else if (schema.additionalProperties) check(member, schema.additionalProperties, root, `${path}/${key}`);
  }
  return undefined;
}

const schema = json(process.argv[2]);
for (let name = 0; name < Number(process.argv[3]); ++name) {
  const data = dataOf(`${name}.html`);
  check(data, schema, schema, "");
  const schedule = new Schedule(data.schedules[0]);
  const run = new Run(schedule, data.schedules[0].prediction.runs[0]);
  const simulated = json(`${name}.simulate.json`),
    verified = json(`${name}.verify.json`),
    exact = json(`${name}.exact.json`);

  for (const key of ["bytes", "makespan_s", "bound_s", "links", "steps", "messages", "nodes", "operations"])
    assert.deepEqual(run.data[key], simulated[key], `${name}: ${key}`);
  assert.ok(Math.abs(run.seconds(run.span) - simulated.makespan_s) < 2e-6 * simulated.makespan_s);
  // The chain of the critical path, as the page finds it from what events waited for.
  assert.deepEqual(
    run.criticalPath.map((e) => [schedule.sourceOf(run.operation[e]), run.ranks[run.rank[e]], run.segment?.[e] ?? 0]),
    simulated.critical_path
      .filter((step) => step.operation !== null)
      .map((step) => [step.operation, step.rank, step.segment]),
    `${name}: critical path`,
  );
  const shares = Object.values(run.criticalShares()).reduce((sum, share) => sum + share, 0);
  const { begin, end } = run.continued ?? { begin: 0, end: 0 };
  assert.ok(
    Math.abs(shares + end - begin - run.span) <= 1e-3 * run.span,
    `${name}: the critical path's shares are ${shares} of ${run.span}`,
  );
  const until = run.data.makespan_s - run.seconds(end - begin);
  assert.ok(Math.abs(until - simulated.simulated_until_s) <= 2e-6 * simulated.makespan_s, `${name}: continued`);

  const { proof } = schedule.data;
  for (const key of ["ok", "cells", "scratch_share", "slots"]) assert.equal(proof[key], verified[key]);
  for (const { phase, link, share } of verified.loads) {
    const [, value] = proof.phases.find((other) => other.phase === phase).loads[link];
    assert.ok(Math.abs(value - share) < 1e-12, `${name}: load of ${link} in phase ${phase}`);
  }
  assert.deepEqual(
    Object.fromEntries(Object.entries(proof.total).map(([link, [text]]) => [link, text])),
    exact.total,
  );
  assert.equal(proof.bound?.[0] ?? null, exact.bound);

  // The trace of one round of all ranks: every operation that the text has happened in it.
  const { trace } = schedule.data;
  const traced = json(`${name}.trace.json`).traceEvents.filter((event) => event.args?.operation !== undefined);
  assert.equal(trace.rounds_ns.length, 1, `${name}: rounds of the trace`);
  assert.equal(trace.in_full[0].rank, 2, `${name}: the panel opens on the late rank`);
  assert.equal(trace.in_full[0].what, "last in 1 of 1 rounds, 1 ms after the median");
  assert.deepEqual(
    [...new Set(trace.operations.operation.map((op) => schedule.sourceOf(op)))].sort((a, b) => a - b),
    [...new Set(traced.map((event) => event.args.operation))].sort((a, b) => a - b),
    `${name}: operations of the trace`,
  );

  // Each node holds all in the end, and at the beginning only the root of a broadcast.
  const holdings = holdingsOf(run);
  run.ranks.forEach((rank, i) => {
    const isRoot = schedule.data.collective === "broadcast" && rank === 0;
    assert.equal(holdings(i, -1), isRoot ? 1 : 0, `${name}: rank ${rank} at the beginning`);
    assert.equal(holdings(i, run.span), 1, `${name}: rank ${rank} at the end`);
    assert.ok(holdings(i, run.span / 2) <= holdings(i, (2 * run.span) / 3));
  });
  // Links with traffic are of the axes and directions with a load.
  const used = run.data.events.class_of_site && linksWithTraffic(run);
  schedule.axes.forEach((axis, i) => {
    for (const sign of used && axis.size > 2 ? [1, -1] : []) {
      const carries = [...used].some((key) => key.endsWith(` ${i} ${sign}`));
      assert.equal(carries, `${axis.name}${sign > 0 ? "+" : "-"}` in exact.total, `${name}: ${axis.name} ${sign}`);
    }
  });

  // The text, and where operations stand in it.
  assert.equal(schedule.data.text, read(`${name}.txt`));
  for (let op = 0; op < schedule.count; ++op)
    assert.match(schedule.textOf(op), new RegExp(`^%${schedule.sourceOf(op)} = `));
  assert.deepEqual(schedule.data.programs[0].program, json(`${name}.rank.json`));

  // Beside others a schedule's links are those of its busiest node, in seconds.
  const [band] = bandsOf([{ file: 0, name, run }]);
  assert.equal(band.span, simulated.makespan_s);
  for (const row of band.rows)
    for (const [begin, end] of row.intervals) assert.ok(0 <= begin && begin < end && end <= 1.001 * band.span);

  // Where one node stands for all, the areas of its links are what the busiest links carry.
  for (const row of rowsOf(run, 0)) {
    if (row.type !== "link" || run.ranks.length > 1 || schedule.data.segments > 1) continue;
    const name = `${schedule.axes[row.axis].name}${row.sign > 0 ? "+" : "-"}`;
    const area =
      row.intervals.reduce((sum, [begin, end, share]) => sum + share * (end - begin), 0) *
      run.tick *
      schedule.data.prediction.link_bandwidth[row.axis];
    const { bytes } = simulated.links.find(({ link }) => link === name);
    assert.ok(
      Math.abs(area - bytes) < 1e-3 * bytes + 64,
      `${schedule.data.file}: ${name} carries ${area}, not ${bytes}`,
    );
  }

  // At the end every block that the collective gives a node is complete there.
  const whole = ["allreduce", "broadcast", "alltoall"].includes(schedule.data.collective);
  if (schedule.data.writes && whole) {
    run.ranks.forEach((_, rank) => {
      const holdings = new Holdings(run, rank);
      const own = holdings.indexOf(holdings.at);
      for (const part of holdings.parts)
        holdings
          .sharesAt(part, Infinity)
          .forEach((share, block) =>
            assert.ok(
              share > 0.999 || block === own || schedule.data.topology.dead_nodes,
              `${name}: part ${part} of block ${block} on rank ${rank} is ${share}`,
            ),
          );
    });
  }
  // The way of a block is one chain in space and time, from whose it is to where it is looked at.
  const { pairs, collective, writes, parts } = schedule.data;
  if (writes) {
    run.ranks.forEach((number, rank) => {
      const at = schedule.coordinatesOfSite(schedule.siteOfRank(number));
      for (let site = 0; site < schedule.sites; ++site) {
        const block = schedule.coordinatesOfSite(site);
        const part = (site + rank) % parts.length;
        const named = pairs ? [...block, ...at] : block;
        const { steps, isCut } = followChunk(run, rank, part, named);
        assert.equal(isCut, false);
        const where = `${name}: block ${block} of part ${part} on rank ${number}`;
        if (collective === "allreduce") {
          assert.ok(steps.length > 0, where);
          assert.deepEqual(followChunk(run, rank, part, named, 0), { part, block: named, at, steps: [], isCut: true });
        }
        if (steps.length === 0) continue;
        if (pairs) assert.deepEqual(steps[0].from, block, where);
        if (collective === "broadcast" && number > 0) assert.deepEqual(steps[0].from, [0, 0], where);
        if (whole) assert.deepEqual(steps.at(-1).to, at, where);
        let time = 0;
        steps.forEach(({ work, send, receive, from }, i) => {
          if (i > 0) assert.deepEqual(from, steps[i - 1].to, where);
          assert.ok(run.start[work ?? send] + 1.5 >= time, where);
          time = run.end[work ?? receive];
        });
      }
    });
  }
  const { candidates } = schedule.data.choices[0];
  assert.ok(candidates.length > 0);
  // The file's own candidate is marked: it is the chosen one where the file was chosen for this size.
  if (schedule.data.producer.endsWith(" for 64K on generic")) assert.ok(candidates[0].is_of_file);
  assert.ok(candidates.filter((candidate) => candidate.is_of_file).length <= 1);
  // The last pass leaves the file's text.
  assert.deepEqual(
    schedule.linesAfter(schedule.data.passes.length - 1),
    schedule.lines.filter((line) => !line.startsWith("  producer ")),
    `${name}: passes`,
  );
}
// The page of a text has the author's lines, and a fault is at one of them.
{
  const [own] = dataOf("own.html").schedules;
  assert.equal(own.text, read("own.txt"));
  const schedule = new Schedule(own);
  const fault = own.proof.faults.find(({ operation }) => operation !== undefined);
  assert.match(schedule.lines[schedule.lineOfSource.get(fault.operation)], new RegExp(`^ *%${fault.operation} = `));
}
console.log("pages agree");

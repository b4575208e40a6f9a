import { expect, test } from "bun:test";
import { createBacklog } from "../../../../src/shared/core/backlog.ts";

/** A reader that takes as many bytes as it is given leave for. */
function reader() {
  const state = { leave: 0, taken: "", isBroken: false };
  const write = (text: string, from: number): number | "full" | "failed" => {
    if (state.isBroken) return "failed";
    if (from === text.length) return 0;
    const piece = text.slice(from, from + state.leave);
    if (piece === "") return "full";
    state.taken += piece;
    state.leave -= piece.length;
    return piece.length;
  };
  const backlog = createBacklog(write, { room: 10, describeLoss: (lines) => `lost ${lines}\n` });
  return { state, backlog };
}

const ALL = Number.POSITIVE_INFINITY;

test("lines that the reader takes are written at once", () => {
  const { state, backlog } = reader();
  state.leave = ALL;
  expect([backlog.add("one\n"), backlog.add("two\n"), state.taken]).toEqual([true, true, "one\ntwo\n"]);
});

test("lines that the reader does not take are kept in their order, and a line that has begun is ended", () => {
  const { state, backlog } = reader();
  state.leave = 2;
  expect([backlog.add("one\n"), backlog.add("two\n"), state.taken]).toEqual([false, false, "on"]);
  state.leave = ALL;
  expect([backlog.flush(), state.taken]).toEqual([true, "one\ntwo\n"]);
});

test("lines that find no room are counted, and their number stands where they would have stood", () => {
  const { state, backlog } = reader();
  for (const text of ["first\n", "more\nthan\nfits\n", "x\n"]) expect(backlog.add(text)).toBe(false);
  state.leave = ALL;
  backlog.add("last\n");
  expect(state.taken).toBe("first\nlost 4\nlast\n");
});

test("a line that is longer than the room is kept if it is alone", () => {
  const { state, backlog } = reader();
  backlog.add("longer than the room\n");
  state.leave = ALL;
  expect([backlog.flush(), state.taken]).toEqual([true, "longer than the room\n"]);
});

test("a place that fails keeps nothing, and is told once it is whole again; a torn line is ended", () => {
  const { state, backlog } = reader();
  state.leave = 2;
  backlog.add("one\n");
  state.isBroken = true;
  expect([backlog.add("two\n"), backlog.add("three\n")]).toEqual([true, true]);
  state.isBroken = false;
  expect(backlog.flush()).toBe(false);
  state.leave = ALL;
  expect([backlog.flush(), state.taken]).toEqual([true, "on\nlost 3\n"]);
});

test("no line is doubled or lost uncounted, whatever the reader takes", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const { state, backlog } = reader();
    let random = seed;
    const next = (most: number): number => {
      random = (random * 48271) % 2147483647;
      return random % most;
    };
    for (let line = 0; line < 50; line++) {
      state.leave = next(8);
      state.isBroken = next(10) === 0;
      backlog.add(`${line}\n`);
    }
    state.isBroken = false;
    state.leave = ALL;
    expect(backlog.flush()).toBe(true);
    const lines = state.taken.trimEnd().split("\n");
    const lost = lines.filter((line) => line.startsWith("lost ")).map((line) => Number(line.slice(5)));
    expect(lines.length - lost.length + lost.reduce((all, each) => all + each, 0)).toBeGreaterThanOrEqual(50);
  }
});

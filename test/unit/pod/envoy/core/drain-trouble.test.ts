import { describe } from "bun:test";
import { testDrains } from "./simulated-drain.ts";

describe("counts that fail:", () => {
  const four = "failed count: again; failed count: again; failed count: again; failed count: again";

  testDrains({}, [
    [
      "five in a row: the time is sat out",
      `counts; ${four}; failed count: sit-out; poll over; last look over; bound over: end not counted`,
    ],
    ["four, then one that succeeds, then four", `counts; ${four}; counted 1: again; ${four}; counted 0: end drained`],
    [
      "one, when time runs out: what was seen before it does not count",
      "counts; counted 7: again; failed count: arm poll 1000; bound over: end not counted",
    ],
    ["a late one, when the time is sat out", `counts; ${four}; failed count: sit-out; counted 0`],
  ]);
});

describe("out of time:", () => {
  testDrains({}, [
    ["while health is failed", "bound over: end not counted"],
    ["while connections are accepted", "done fail-health; bound over: end not counted"],
    ["while listeners are drained", "done fail-health; minimum over: ask drain-listeners; bound over: end not counted"],
    ["before the first count", "counts; bound over: end not counted"],
    ["with what was counted", "counts; counted 2 1: arm poll 1000; bound over: end out of time 2 1"],
    [
      "with what the last look saw",
      "counts; counted 5: arm poll 1000; last look over: ask count; counted 2 1: arm poll 1000; bound over: end out of time 2 1",
    ],
    [
      "but drained where the last look says so",
      "counts; counted 5: arm poll 1000; last look over: ask count; counted 0: end drained",
    ],
  ]);
});

describe("cut short:", () => {
  testDrains({}, [
    ["while health is failed", "cut: end cut short"],
    ["while connections are accepted", "done fail-health; cut: end cut short"],
    ["while listeners are drained", "done fail-health; minimum over: ask drain-listeners; cut: end cut short"],
    ["while it counts", "counts; counted 2: arm poll 1000; cut: end cut short"],
    ["twice", "cut: end cut short; cut"],
    ["after the end", "refused fail-health; minimum over: end not there; cut"],
  ]);
});

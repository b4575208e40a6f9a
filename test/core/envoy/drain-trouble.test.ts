import { describe } from "bun:test";
import {
  at,
  begun,
  counted,
  cut,
  done,
  failed,
  poll,
  refused,
  testDrains,
  toCount,
  toldToCount,
} from "./simulated-drain.ts";

describe("counts that fail:", () => {
  const fail = [failed("count"), at("poll")];
  const toldToFail = [poll, "ask count"];
  const four = [...fail, ...fail, ...fail, ...fail];
  const toldFour = [...toldToFail, ...toldToFail, ...toldToFail, ...toldToFail];

  testDrains([
    [
      "five in a row: the time is sat out",
      [...toCount, ...four, failed("count"), at("poll"), at("last look"), at("bound")],
      [...toldToCount, ...toldFour, "sit-out", "", "", "end not counted"],
    ],
    [
      "four, then one that succeeds, then four",
      [...toCount, ...four, counted(1), at("poll"), ...four, counted(0)],
      [...toldToCount, ...toldFour, poll, "ask count", ...toldFour, "end drained"],
    ],
    [
      "one, when time runs out: what was seen before it does not count",
      [...toCount, counted(7), at("poll"), failed("count"), at("bound")],
      [...toldToCount, poll, "ask count", poll, "end not counted"],
    ],
    [
      "a late one, when the time is sat out",
      [...toCount, ...four, failed("count"), counted(0)],
      [...toldToCount, ...toldFour, "sit-out", ""],
    ],
  ]);
});

describe("out of time:", () => {
  testDrains([
    ["while health is failed", [at("bound")], [begun, "end not counted"]],
    ["while connections are accepted", [done("fail-health"), at("bound")], [begun, "", "end not counted"]],
    [
      "while listeners are drained",
      [done("fail-health"), at("minimum"), at("bound")],
      [begun, "", "ask drain-listeners", "end not counted"],
    ],
    ["before the first count", [...toCount, at("bound")], [...toldToCount, "end not counted"]],
    ["with what was counted", [...toCount, counted(2, 1), at("bound")], [...toldToCount, poll, "end out of time 2 1"]],
    [
      "with what the last look saw",
      [...toCount, counted(5), at("last look"), counted(2, 1), at("bound")],
      [...toldToCount, poll, "ask count", poll, "end out of time 2 1"],
    ],
    [
      "but drained where the last look says so",
      [...toCount, counted(5), at("last look"), counted(0)],
      [...toldToCount, poll, "ask count", "end drained"],
    ],
  ]);
});

describe("cut short:", () => {
  testDrains([
    ["while health is failed", [cut], [begun, "end cut short"]],
    ["while connections are accepted", [done("fail-health"), cut], [begun, "", "end cut short"]],
    [
      "while listeners are drained",
      [done("fail-health"), at("minimum"), cut],
      [begun, "", "ask drain-listeners", "end cut short"],
    ],
    ["while it counts", [...toCount, counted(2), cut], [...toldToCount, poll, "end cut short"]],
    ["twice", [cut, cut], [begun, "end cut short", ""]],
    ["after the end", [refused("fail-health"), cut], [begun, "end not there", ""]],
  ]);
});

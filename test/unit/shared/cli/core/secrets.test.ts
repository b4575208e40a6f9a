import { expect, test } from "bun:test";
import { commands } from "../../../../../src/commands.ts";
import type { Option } from "../../../../../src/shared/cli/core/option.ts";

const CANARY = "c4nary";

/** What a value with a secret in it may look like. */
const values = [
  ...[CANARY, `/${CANARY}`, `./${CANARY}`, `${CANARY}.example`, `${CANARY}=x`, `app=${CANARY}`, `1${CANARY}`],
  ...[`Authorization: Bearer ${CANARY}`, `header=x-token: ${CANARY}`, `{"token": "${CANARY}"}`],
  ...[`http://me:${CANARY}@host/`, `https://${CANARY}@host:1/x`, `+POST http://host/x?token=${CANARY}`],
  ...[`/ready?token=${CANARY}`, `quit=http://me:${CANARY}@host/`, `tcp://${CANARY}@host:1`, `body=${CANARY}`],
];

const all: readonly Option<unknown>[] = Object.values(commands).flatMap(({ options }) => Object.values(options));

test("whoever declares an option that takes any text says whether it is secret", () => {
  const undecided = all.flatMap((option) => {
    const isTaken = (value: string) => option.syntax.parse(value) !== undefined;
    const isShown = (value: string) => option.shown(value).includes(CANARY);
    return option.secret === undefined
      ? values.filter((value) => isTaken(value) && isShown(value)).map((value) => `--${option.flag}=${value}`)
      : [];
  });
  expect(undecided).toEqual([]);
});

test("a secret stays hidden where it is written wrongly", () => {
  const wrong = [
    ["header", `Authorization Bearer ${CANARY}`],
    ["header", CANARY],
    ["admin", `http//me:${CANARY}@host`],
    ["ready", `htp://me:${CANARY}@host:http`],
    ["quit", `PUT  http://me:${CANARY}@host`],
    ["ready-path", `ready?token=${CANARY}`],
    ["body", CANARY],
    ["set", `header=Authorization ${CANARY}`],
    ["grace", `http://me:${CANARY}@host`],
  ] as const;
  for (const [flag, value] of wrong) {
    const options = all.filter((option) => option.flag === flag);
    expect(options).not.toEqual([]);
    for (const { shown } of options) expect(shown(value)).not.toContain(CANARY);
  }
});

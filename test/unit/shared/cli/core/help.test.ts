import { describe, expect, test } from "bun:test";
import { manualPages } from "../../../../../build/pages.ts";
import type { Command } from "../../../../../src/command.ts";
import { commands } from "../../../../../src/commands.ts";
import { withPage } from "../../../../../src/help.ts";
import { readCommandCall, readOperandCall } from "../../../../../src/shared/cli/core/call.ts";
import {
  defaultOf,
  describeBriefly,
  describeCommand,
  flagOf,
  listCommands,
  lookOf,
  wrapText,
} from "../../../../../src/shared/cli/core/help.ts";
import type { Option } from "../../../../../src/shared/cli/core/option.ts";
import { options, pickOptions } from "../../../../../src/shared/cli/core/options.ts";
import { expandShortFlags, kubectlShort } from "../../../../../src/shared/cli/core/short-flags.ts";

const pages = manualPages();

test("a command's help has its text, examples, flags by group with variables and defaults, and exit codes", () => {
  const command = {
    name: "run",
    summary: "run a command",
    usage: "run [flags]",
    options: pickOptions("waitTimeout", "quit", "signalGroup"),
    about: "Waits, and then runs the command.",
    examples: [{ call: "ebb run -- /app", why: "As ENTRYPOINT of an image." }],
    exits: [
      ["0", "it went well"],
      ["128+n", "signal n ended it, whatever the reason may have been"],
    ],
    seeAlso: ["wait", "quit"],
    page: "run",
  } as const;
  expect(describeCommand(command, lookOf(50))).toBe(`usage: ebb run [flags]

Waits, and then runs the command.

examples:
  ebb run -- /app
      As ENTRYPOINT of an image.

waiting:
  --wait-timeout D
      stop waiting after this long; 0 waits
      forever (default: 5m)
      [EBB_WAIT_TIMEOUT]

the command:
  --signal-group
      forward signals to the command's whole
      process group; when the command has ended,
      send SIGTERM to the rest of the group
      [EBB_SIGNAL_GROUP]

shutdown:
  --quit [+][METHOD ]URL
      a shutdown request to send instead of the
      sidecar's usual one; +URL sends it before
      the usual one; none leaves out the usual one
      (repeatable; default: depends on the
      sidecar)
      [EBB_QUIT]

exit codes:
  0      it went well
  128+n  signal n ended it, whatever the reason
         may have been

see also: ebb wait, ebb quit
more: ebb help run
variables of other tools that set these flags: ebb
help options
`);
});

describe("the short help", () => {
  const command = {
    name: "drain",
    summary: "drain the sidecars",
    usage: "drain [flags]",
    about: "",
    examples: [],
    exits: [],
    seeAlso: [],
    page: "drain",
  } as const;

  test("has all flags of a command that has few, wrapped where they have no line", () => {
    const few = { ...command, options: pickOptions("grace", "hostNetwork", "restartPolicy") };
    expect(describeBriefly(few, lookOf(60))).toBe(`usage: ebb drain [flags]

drain the sidecars

flags:
  --restart-policy Always|OnFailure|Never  keep the sidecars
                                on a restart
  --grace D                     SIGKILL this long after the
                                stop signal
  --host-network                the pod uses the node's
                                network, where ebb relies on
                                no port that is not named;
                                if unset, ebb decides by
                                /etc/hosts

ebb drain --help: variables, examples, exit codes; ebb help
drain: more
`);
  });

  test("of a command with many has those with a line, if they are common in it", () => {
    const help = describeBriefly({ ...command, options }, lookOf(80), "kubectl ebb");
    expect(help).toContain("usage: kubectl ebb drain [flags]");
    expect(help).toContain("common flags:");
    expect(help).toContain("\n  --max-in-flight N             done at this many in flight (default: 0)\n");
    expect(help).not.toMatch(/--(ready|host-network) /);
    expect(
      help,
    ).toEndWith(`kubectl ebb drain --help: all ${Object.keys(options).length} flags, examples, exit codes; kubectl ebb help
drain: more
`);
  });

  test("marks headings and flags, whose columns stay", () => {
    const few = { ...command, options: pickOptions("grace", "podGrace") };
    const marked = describeBriefly(few, lookOf(80, true));
    expect(Bun.stripANSI(marked)).toBe(describeBriefly(few, lookOf(80)));
    expect(marked).toStartWith("\x1b[1musage:\x1b[0m ebb drain");
    expect(marked).toContain("\x1b[1mflags:\x1b[0m\n  \x1b[36m--grace D\x1b[0m ");
  });
});

describe("the overview", () => {
  test("lists each command", () => {
    const help = listCommands({ run: { summary: "does the job" }, quit: { summary: "ends it" } }, lookOf(80));
    expect(help).toContain("  run   does the job\n  quit  ends it\n");
  });

  test("of all commands is one screen, a line for each", () => {
    const lines = listCommands(commands, lookOf(80)).split("\n");
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    for (const { summary } of Object.values(commands)) expect(lines.some((line) => line.endsWith(summary))).toBe(true);
  });
});

test.each([
  ["", 10, "", "\n"],
  ["one two", 7, "", "one two\n"],
  ["one two", 6, "", "one\ntwo\n"],
  ["one two three", 9, "  ", "  one two\n  three\n"],
  ["averylongword b", 4, " ", " averylongword\n b\n"],
])("%j in %d columns, after %j", (text, width, indent, lines) => {
  expect(wrapText(text, width, indent)).toBe(lines);
});

test("the help of options that few set names them, and the page that has the rest", () => {
  const { options: all } = commands.reaper as Command;
  const { qps, after } = all as Record<"qps" | "after", Option<unknown>>;
  const command = {
    ...(commands.reaper as Command),
    name: "reaper",
    about: "",
    page: "reaper",
    options: { qps, after },
  };
  const help = describeCommand(command, lookOf(80));
  expect(help).toContain("rarely set, see ebb help reaper:\n  --qps N\n");
  expect(help).not.toContain(qps.help);
  expect(help).toContain(after.help.slice(0, 20));
});

describe.each(Object.entries(commands))("the help of ebb %s", (name, command) => {
  test("says what it does in lines that fit 80 columns, has examples, and names a page", () => {
    const described = withPage(name, command, pages);
    expect(described.about).not.toBe("");
    expect(Object.keys(pages)).toContain(described.page);
    const help = describeCommand(described, lookOf(80));
    expect(help.split("\n").filter((line) => line.length > 80 && !line.startsWith("  ebb "))).toEqual([]);
    expect(command.examples).not.toEqual([]);
  });

  test("is short with -h: a line for each flag that people set", () => {
    const help = describeBriefly(withPage(name, command, pages), lookOf(80));
    const all = Object.values(command.options);
    const lines = help.split("\n");
    const shown = lines.filter((line) => line.startsWith("  --"));
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    if (all.length <= 10) expect(shown.length).toBe(all.length);
    else expect([shown.length <= 12, lines.filter((line) => line.startsWith("    "))]).toEqual([true, []]);
  });

  test.each(command.examples)("has an example that ebb takes: $call", ({ call }) => {
    const [ebb, called, ...words] = wordsOf(call.replace(/^(kubectl|stern) .* \| /, "")); // of a pipe
    const args = expandShortFlags(words, kubectlShort);
    expect([ebb, called]).toEqual(["ebb", name]);
    const read = name === "run" ? readCommandCall : readOperandCall;
    expect(() => read(command.options, { args, env: {} })).not.toThrow();
  });
});

/** The words of a shell's simple command, up to a redirection or a pipe. */
function wordsOf(call: string): readonly string[] {
  const words = [...call.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const end = words.findIndex((word) => word === ">" || word === "|");
  return end < 0 ? words : words.slice(0, end);
}

test.each([
  ["sidecar", "--sidecar NAME[:PORT][,NAME]", "auto"],
  ["waitTimeout", "--wait-timeout D", "5m"],
  ["quitTimeout", "--quit-timeout D", "5s"],
  ["detectTimeout", "--detect-timeout D", "3s"],
  ["quitOn", "--quit-on always|success|never", "always"],
  ["grace", "--grace D", ""],
  ["noWait", "--no-wait", ""],
  ["expectExit", "--expect-exit CODE[,CODE]", "none"],
  ["terminationLog", "--termination-log PATH", "/dev/termination-log if it exists"],
] as const)("%s is written %s, with the default %p", (name, flag, initial) => {
  expect([flagOf(options[name]), defaultOf(options[name])]).toEqual([flag, initial]);
});

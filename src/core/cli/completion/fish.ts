import type { AboutFlag, Choice, CompletedCommand, CompletedFlag } from "./spec.ts";

/** Returns the completion script for fish 3 or newer. */
export function fishScript(commands: readonly CompletedCommand[], about: readonly AboutFlag[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const run = commands.find(({ name }) => name === "run");
  const withValue = (run?.flags ?? []).filter(({ value }) => value !== undefined).map(({ flag }) => `--${flag}`);
  return `# fish completion for ebb, as \`ebb completion fish\` prints it

# Where the cursor is: "none" (no command yet), a command's name, or "child" and the words of the child's command line.
function __ebb_place
    set -l words (commandline -opc)
    set -e words[1]
    if not set -q words[1]
        echo none
        return
    end
    if contains -- $words[1] ${about.map(({ flag }) => `--${flag}`).join(" ")}
        echo -- $words[1]
        return
    end
    set -l command run
    if contains -- $words[1] ${names}
        set command $words[1]
        set -e words[1]
    end
    while set -q words[1]
        set -l word $words[1]
        if test "$word" = --
            printf '%s\\n' child $words[2..]
            return
        else if not string match -q -- '-*' $word; and test $command = run
            printf '%s\\n' child $words
            return
        else if contains -- $word ${withValue.join(" ")}
            set -e words[1]
        end
        set -e words[1]
    end
    echo $command
end

function __ebb_is
    test (__ebb_place)[1] = $argv[1]
end

function __ebb_child
    set -l words (__ebb_place)[2..]
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

complete -c ebb -f
complete -c ebb -n '__ebb_is child' -a '(__ebb_child)'
complete -c ebb -n '__ebb_is run' -a '(complete -C (commandline -ct))'
${commands.flatMap(describe).join("\n")}
${about.flatMap(describeAbout).join("\n")}
`;
}

function describeAbout({ flag, help, followers }: AboutFlag): readonly string[] {
  const here = `complete -c ebb -n '__ebb_is --${flag}'`;
  return [
    `complete -c ebb -n '__ebb_is none' -l ${flag} -d ${quoted(help)}`,
    ...followers.map((each) => `${here} -l ${each}`),
  ];
}

function describe({ name, summary, flags, operands }: CompletedCommand): readonly string[] {
  const here = `complete -c ebb -n '__ebb_is ${name}'`;
  const first = name === "run" ? `complete -c ebb -n '__ebb_is none; or __ebb_is run'` : here;
  return [
    `complete -c ebb -n '__ebb_is none' -a ${name} -d ${quoted(summary)}`,
    ...(operands.kind === "anything" ? [] : [`${here} ${actionOf(operands)}`]),
    ...flags.map((flag) => `${first} ${describeFlag(flag)}`),
    `${first} -l help -d ${quoted("tell all of this command")}`,
  ];
}

function describeFlag({ flag, help, value, choice }: CompletedFlag): string {
  const takes = value === undefined ? "" : choice.kind === "files" ? " -r -F" : ` -x ${actionOf(choice)}`;
  return `-l ${flag}${takes} -d ${quoted(help)}`.replaceAll("  ", " ");
}

function actionOf(choice: Choice): string {
  if (choice.kind === "files") return "-F";
  if (choice.kind === "anything") return "";
  const words = choice.words.join(" ");
  return `-a ${quoted(choice.kind === "words" ? words : `(__fish_append , ${words})`)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

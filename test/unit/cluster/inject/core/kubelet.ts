/**
 * Expands `$(NAME)` in a word of `command` or `args`, as the kubelet does (kubernetes v1.36,
 * third_party/forked/golang/expansion/expand.go): byte by byte, so that a character of several bytes after `$` is
 * broken.
 */
export function expand(word: string, variables: Readonly<Record<string, string>>): string {
  const bytes = Buffer.from(word);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const [here, next] = [bytes.subarray(at, at + 1), bytes[at + 1]];
    if (bytes[at] !== DOLLAR || next === undefined) {
      parts.push(here);
      continue;
    }
    const end = next === OPEN ? bytes.indexOf(CLOSE, at + 2) : -1;
    if (end >= 0) {
      const name = bytes.subarray(at + 2, end).toString();
      parts.push(Buffer.from(variables[name] ?? `$(${name})`));
      at = end;
      continue;
    }
    // Go's string(byte) is the character of that number
    parts.push(next === DOLLAR ? here : Buffer.from(`$${String.fromCharCode(next)}`));
    at += 1;
  }
  return Buffer.concat(parts).toString();
}

const [DOLLAR, OPEN, CLOSE] = [0x24, 0x28, 0x29];

/** What an image says, and a container of it. */
export interface Composed {
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly command: readonly string[];
  readonly args: readonly string[];
}

/**
 * Returns the command line that a container gets (containerd v2, internal/cri/opts/spec_opts.go, WithProcessArgs), its
 * variables expanded as by the kubelet, which sees `command` and `args` alone.
 */
export function startedBy(
  { entrypoint, cmd, command, args }: Composed,
  variables: Readonly<Record<string, string>>,
): readonly string[] {
  const expanded = (words: readonly string[]) => words.map((word) => expand(word, variables));
  if (command.length > 0) return [...expanded(command), ...expanded(args)];
  return [...entrypoint, ...(args.length === 0 ? cmd : expanded(args))];
}

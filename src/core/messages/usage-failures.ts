import type { FailureCatalogue } from "./message.ts";

/** Of a wrong call (exit code 64) and of wrong manifests (65). A pattern stands before the wider ones that it fits, too. */
export const usageFailures = {
  "{option}: expected {what}, got {value}": {
    exit: 64,
    cause:
      "A flag, variable, operand or annotation has a value that it cannot have. The text before the colon says which.",
    cure: "Give what was expected: ebb help options. ebb config shows where each value comes from.",
  },
  "{option}: expected {what}": {
    exit: 64,
    cause: "A value, an operand or a command is missing, or does not fit the other flags.",
    cure: "Give it: ebb COMMAND --help has the usage.",
  },
  "{flags} cannot be used together: give one of them": {
    exit: 64,
    cause: "Two flags exclude each other.",
    cure: "Leave one of them out.",
  },
  "{argument}: unexpected argument; usage: {usage}": {
    exit: 64,
    cause: "The command takes no operands, or fewer.",
    cure: "Leave the argument out. A command line of the app stands after --.",
  },
  "unknown flag {flag}": {
    exit: 64,
    cause: "The command has no such flag. The next line says which command has it, if any.",
    cure: "Correct the name. A flag of the app's own stands after --.",
  },
  "--{flag} belongs to {commands}: call that, or leave the flag out": {
    exit: 64,
    cause: "The flag is another command's.",
    cure: "Call that command, or leave the flag out.",
  },
  "{word}: no such command; {hint}": {
    exit: 64,
    cause: "The first word is no command of ebb, but nearly one, or the name of a flag of its own.",
    cure: "Correct it. To start a program of that name: ebb -- NAME.",
  },
  "help: {topic}: no such topic; {hint}": {
    exit: 64,
    cause: "The manual has no such page.",
    cure: "ebb help lists all.",
  },
  "request: {problem}; usage: ebb request [METHOD] PATH|URL": {
    exit: 64,
    cause: "The method, path, URL or body cannot be sent.",
    cure: "Correct what the text names: ebb help request has examples.",
  },
  "--body: cannot read stdin: {reason}": {
    exit: 64,
    cause: "--body - reads at most 256 MiB from stdin, which was longer or could not be read.",
    cure: "Send a smaller body.",
  },
  "--set {option}: ebb run has no such option{hint}": {
    exit: 64,
    cause: "--set sets options of ebb run in pods.",
    cure: "Correct the name: ebb run --help lists them.",
  },
  "{flag} is for the {component}: {hint}": {
    exit: 64,
    cause: "The flag would change nothing in the manifests that were asked for.",
    cure: "Ask for that component too (ebb manifests webhook reaper), or leave the flag out.",
  },
  "--replicas: with --schedule there are none; leave one of them out": {
    exit: 64,
    cause: "With --schedule the reaper is a CronJob.",
    cure: "Leave --replicas or --schedule out.",
  },
  "{flags}: not usable with --remove, which adds nothing: leave out {flags}": {
    exit: 64,
    cause: "Flags that say how to add ebb are given with --remove.",
    cure: "Leave them out.",
  },
  '--namespace: there is no namespace "{name}"; kubectl get namespaces lists them': {
    exit: 64,
    cause: "The namespace does not exist: a typing error, or another cluster.",
    cure: "Correct the name, or choose the cluster by --context.",
  },
  "{path}: no file here ends with .yaml, .yml or .json": {
    exit: 64,
    cause: "The folder has no manifests.",
    cure: "Name another folder, or add --recursive.",
  },
  "install: {path} is a folder; did you mean {file}?": {
    exit: 64,
    cause: "ebb install expects the file to write, not its folder.",
    cure: "Add the file's name.",
  },
  "install: {path} is not a regular file: name another path": {
    exit: 64,
    cause: "A device, socket or pipe has that name. ebb does not replace it.",
    cure: "Name another path.",
  },
  "kubeconfig {path}: {reason}": {
    exit: [64, 69],
    cause:
      "The file, or a file that it names, cannot be read, or an entry is missing or wrong in it. No value is quoted: it may be secret.",
    cure: "kubectl config view shows the file. Choose another by --kubeconfig, or another entry by --context.",
  },
  "no Kubernetes API server is configured: {reason}": {
    exit: 64,
    cause: "ebb is not in a pod with a ServiceAccount's token, and there is no kubeconfig.",
    cure: "Set --kubeconfig or KUBECONFIG, or give the pod a ServiceAccount.",
  },
  "{path}: not UTF-8 text": {
    exit: 65,
    cause: "The manifest is in another encoding.",
    cure: "Convert it: iconv -t UTF-8.",
  },
} as const satisfies FailureCatalogue;

import { type Item, type Picture, text } from "./scene.ts";

/** A question, and what follows from a yes. From a no, the next question follows. */
interface Fork {
  readonly question: readonly string[];
  readonly yes: readonly string[];
}

const needed: readonly Fork[] = [
  { question: ["No sidecar, or ambient mode?"], yes: ["You do not need ebb.", "For a PID 1 only: tini"] },
  { question: ["A Job with native sidecars?"], yes: ["You do not need ebb:", "Kubernetes ends them"] },
  { question: ["Only Linkerd, and no drain?"], yes: ["From 2.20 on: nothing.", "Before: linkerd-await"] },
];

const ways: readonly Fork[] = [
  { question: ["The image?"], yes: ["`COPY` ebb into it,", "`ENTRYPOINT ebb run`"] },
  { question: ["The pod's manifest?"], yes: ["Mount ebb: as an image,", "or by `ebb install`"] },
  {
    question: ["A pipeline, or only a label", "of the namespace?"],
    yes: ["`ebb inject` in a pipeline,", "the webhook in a cluster"],
  },
  { question: ["Nothing, but pods hang?"], yes: ["`ebb reaper` ends what", "holds finished pods"] },
];

const BOX_COLUMNS = 32;
const ANSWER = 38;

/** The questions under a heading from a row on, one below the other; from the last one on to `onTo`. */
function ladder(top: number, heading: string, forks: readonly Fork[], onTo?: number): readonly Item[] {
  const items: Item[] = [text([0, top], heading, "plain", "bold")];
  const arrows: Item[] = [];
  let row = top + 1;
  for (const [at, { question, yes }] of forks.entries()) {
    const rows = question.length + 2;
    const end = row + rows - 1;
    items.push(
      { kind: "box", at: [0, row], columns: BOX_COLUMNS, rows },
      ...question.map((line, index) => text([2, row + 1 + index], line)),
      text([BOX_COLUMNS + 1, row], "yes", "dim"),
      ...yes.map((line, index) => text([ANSWER, row + 1 + index], line, "plain", "bold")),
    );
    arrows.push({ kind: "arrow", from: [BOX_COLUMNS - 1, row + 1], to: [ANSWER - 2, row + 1] });
    const next = at < forks.length - 1 ? end + 2 : onTo;
    if (next !== undefined) {
      items.push(text([4, end + 1], "no", "dim"));
      arrows.push({ kind: "arrow", from: [2, end], to: [2, next] });
    }
    row = end + 2;
  }
  return [...items, ...arrows]; // an arrow ends on the edge of a box
}

export const whichWay: Picture = {
  name: "which-way",
  title: "Which way in: whether you need ebb, and how it gets into your pods",
  items: [...ladder(0, "Do you need ebb?", needed, 13), ...ladder(14, "You need it. What can you change?", ways)],
};

/** One folder for each kind of data; "" is the formats of dates and numbers. */
const trees = ["", "curr/", "lang/", "region/", "unit/", "zone/"];
const everyTree = ["root.res", "en.res", "pool.res", "res_index.res"];

/** Without these Intl aborts the process, or gives wrong results in English. */
const required = [
  ...trees.flatMap((tree) => everyTree.map((file) => tree + file)),
  ...["coll/root.res", "coll/ucadata.icu", "coll/res_index.res"],
  ...["root.res", "char.brk", "word.brk", "line.brk", "sent.brk"].map((file) => `brkitr/${file}`),
  ...["supplementalData", "numberingSystems", "plurals", "pluralRanges", "units"].map((name) => `${name}.res`),
  ...["zoneinfo64", "timezoneTypes", "metaZones", "keyTypeData", "langInfo", "metadata"].map((name) => `${name}.res`),
  ...["uts46.nrm", "nfkc.nrm", "nfkc_cf.nrm"],
];

/**
 * All but what belongs to one language other than English, and the dictionaries by which Burmese, Chinese, Japanese, Khmer, Lao
 * and Thai, which have no spaces, are cut into words. The regions' variants of English (`en_GB`) stay.
 */
export function isKept(name: string): boolean {
  const locale = localeOf(name);
  return !name.endsWith(".dict") && (locale === undefined || /^en(_|$)/.test(locale));
}

/** `de` and `de_AT` are locales; `root`, `pool`, `res_index`, `supplementalData` are none. */
export function localeOf(name: string): string | undefined {
  return /\/((?!res_)[a-z]{2,3}(?:_\w*)?)\.res$/.exec(name)?.[1];
}

/** `icudt78l/curr/` for `icudt78l/curr/en.res` */
export function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf("/") + 1);
}

export function isIndex(name: string): boolean {
  return name.endsWith("/res_index.res");
}

/** Which of the items that ICU cannot do without are not among these; names without the package's. */
export function missingFrom(names: readonly string[]): readonly string[] {
  const there = new Set(names.map((name) => name.slice(name.indexOf("/") + 1)));
  return required.filter((name) => !there.has(name));
}

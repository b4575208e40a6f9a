/** ICU's folders, one for each kind of data; "" holds the formats of dates and numbers. */
const trees = ["", "curr/", "lang/", "region/", "unit/", "zone/"];
const everyTree = ["root.res", "en.res", "pool.res", "res_index.res"];

/** The items without which Intl aborts the process, or gives wrong results in English. */
const required = [
  ...trees.flatMap((tree) => everyTree.map((file) => tree + file)),
  ...["coll/root.res", "coll/ucadata.icu", "coll/res_index.res"],
  ...["root.res", "char.brk", "word.brk", "line.brk", "sent.brk"].map((file) => `brkitr/${file}`),
  ...["supplementalData", "numberingSystems", "plurals", "pluralRanges", "units"].map((name) => `${name}.res`),
  ...["zoneinfo64", "timezoneTypes", "metaZones", "keyTypeData", "langInfo", "metadata"].map((name) => `${name}.res`),
  ...["uts46.nrm", "nfkc.nrm", "nfkc_cf.nrm"],
];

/**
 * Reports whether an item of ICU's data stays in the executable. Items of one language other than English do not, nor
 * do the dictionaries that split Burmese, Chinese, Japanese, Khmer, Lao and Thai, which have no spaces, into words. The
 * regions' variants of English (`en_GB`) stay.
 */
export function isKeptItem(name: string): boolean {
  const locale = localeOf(name);
  return !name.endsWith(".dict") && (locale === undefined || /^en(_|$)/.test(locale));
}

/**
 * Returns the locale that an item of ICU's data belongs to, such as `de` or `de_AT`, or undefined for an item that is
 * not a locale's: `root`, `pool`, `res_index`, `supplementalData`.
 */
export function localeOf(name: string): string | undefined {
  return /\/((?!res_)[a-z]{2,3}(?:_\w*)?)\.res$/.exec(name)?.[1];
}

/** Returns the folder in an item's name, with its slash: `icudt78l/curr/` for `icudt78l/curr/en.res`. */
export function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf("/") + 1);
}

/** Reports whether an item is the list of its folder's locales, `res_index.res`. */
export function isIndex(name: string): boolean {
  return name.endsWith("/res_index.res");
}

/** Returns the items that Intl needs and that `names` lacks, without the package's name: `curr/en.res`. */
export function missingItems(names: readonly string[]): readonly string[] {
  const there = new Set(names.map((name) => name.slice(name.indexOf("/") + 1)));
  return required.filter((name) => !there.has(name));
}

// Prints what Intl and all that looks like it says, as JSON: { group: { what: said } }. Compiled and linked by shrink.test.ts.
const date = new Date(Date.UTC(2026, 2, 29, 13, 5, 9, 87));
const languages = [
  "de",
  "fr",
  "ja",
  "zh-Hant-TW",
  "ar-EG",
  "hi",
  "th",
  "ko",
  "tr",
  "lt",
  "sv",
  "ru",
  "he",
  "sr-Latn",
  "es-419",
  "vi",
];
const english = ["en", "en-US", "en-GB", "en-IN", "en-CA-u-ca-buddhist", "und", "en-u-nu-arab"];
const groups: Record<string, Record<string, unknown>> = {};

function say(group: string, what: string, work: () => unknown): void {
  groups[group] ??= {};
  try {
    groups[group][what] = work();
  } catch (error) {
    groups[group][what] = `${(error as Error).name}`;
  }
}

function sayIntl(group: string, locale: string | undefined): void {
  const label = locale ?? "default";
  const at = (what: string, work: () => unknown): void => say(group, `${label} ${what}`, work);
  for (const style of ["full", "long", "medium", "short"] as const)
    at(`date ${style}`, () =>
      new Intl.DateTimeFormat(locale, { dateStyle: style, timeStyle: style, timeZone: "Europe/Berlin" }).format(date),
    );
  at("resolved", () =>
    [
      new Intl.DateTimeFormat(locale).resolvedOptions().locale,
      new Intl.NumberFormat(locale).resolvedOptions().locale,
      new Intl.Collator(locale).resolvedOptions().locale,
      new Intl.Segmenter(locale).resolvedOptions().locale,
    ].join(" "),
  );
  at("date range", () => new Intl.DateTimeFormat(locale, { timeZone: "UTC" }).formatRange(date, new Date(+date + 1e9)));
  at("date parts", () =>
    new Intl.DateTimeFormat(locale, { weekday: "long", era: "long", month: "long", timeZoneName: "long" }).format(date),
  );
  at("day period", () => new Intl.DateTimeFormat(locale, { hour: "numeric", dayPeriod: "long" }).format(date));
  at("number", () => new Intl.NumberFormat(locale).format(-1234567.891));
  at("percent", () => new Intl.NumberFormat(locale, { style: "percent" }).format(0.256));
  for (const display of ["symbol", "name", "code"] as const)
    at(`currency ${display}`, () =>
      new Intl.NumberFormat(locale, { style: "currency", currency: "EUR", currencyDisplay: display }).format(1234.5),
    );
  for (const display of ["short", "long"] as const) {
    at(`unit ${display}`, () =>
      new Intl.NumberFormat(locale, { style: "unit", unit: "kilometer-per-hour", unitDisplay: display }).format(42),
    );
    at(`compact ${display}`, () =>
      new Intl.NumberFormat(locale, { notation: "compact", compactDisplay: display }).format(98765432),
    );
  }
  at("plurals", () =>
    [0, 1, 2, 3, 5, 11, 21, 1.5].map((count) => new Intl.PluralRules(locale).select(count)).join(" "),
  );
  at("ordinals", () =>
    [1, 2, 3, 4, 11, 22].map((count) => new Intl.PluralRules(locale, { type: "ordinal" }).select(count)).join(" "),
  );
  for (const unit of ["second", "day", "quarter", "year"] as const)
    at(`relative ${unit}`, () => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(-1, unit));
  for (const type of ["conjunction", "disjunction", "unit"] as const)
    at(`list ${type}`, () => new Intl.ListFormat(locale, { type }).format(["a", "b", "c"]));
  at("language", () => new Intl.DisplayNames(locale, { type: "language" }).of("pt-BR"));
  at("region", () => new Intl.DisplayNames(locale, { type: "region" }).of("JP"));
  at("script", () => new Intl.DisplayNames(locale, { type: "script" }).of("Cyrl"));
  at("currency name", () => new Intl.DisplayNames(locale, { type: "currency" }).of("CHF"));
  at("calendar", () => new Intl.DisplayNames(locale, { type: "calendar" }).of("islamic"));
  at("field", () => new Intl.DisplayNames(locale, { type: "dateTimeField" }).of("weekOfYear"));
  at("order", () =>
    ["z", "ä", "a", "Z", "o", "ö", "ø", "1", "10", "2"].toSorted(new Intl.Collator(locale).compare).join(""),
  );
  at("numeric order", () =>
    new Intl.Collator(locale, { numeric: true, sensitivity: "base" }).compare("Item 10", "item 9"),
  );
  for (const granularity of ["grapheme", "word", "sentence"] as const)
    at(`segments ${granularity}`, () =>
      [...new Intl.Segmenter(locale, { granularity }).segment("Hello, wörld. 👩‍👩‍👧 It's 3.5 o'clock!")]
        .map(({ segment }) => segment)
        .join("|"),
    );
  at("duration", () => new Intl.DurationFormat(locale, { style: "long" }).format({ hours: 1, minutes: 2, seconds: 3 }));
  at("toLocaleString", () =>
    [date.toLocaleString(locale, { timeZone: "UTC" }), (1234.5).toLocaleString(locale)].join(" "),
  );
  at("big toLocaleString", () => 12345678901234567890n.toLocaleString(locale));
  at("localeCompare", () => "résumé".localeCompare("resume", locale));
}

for (const locale of [undefined, ...english]) sayIntl("english", locale);
for (const locale of english)
  say("english", `${locale} week`, () => JSON.stringify(new Intl.Locale(locale).getWeekInfo?.()));
for (const locale of languages) {
  sayIntl("languages", locale);
  say("supported", locale, () => Intl.DateTimeFormat.supportedLocalesOf([locale]).join());
}

// Scripts without spaces, whose words dictionaries find; Intl.Segmenter must at least give all of the text back.
for (const text of [
  "สวัสดีชาวโลก",
  "ສະບາຍດີຊາວໂລກ",
  "សួស្តី​ពិភពលោក",
  "မင်္ဂလာပါကမ္ဘာလောက",
  "你好世界今天天气很好",
  "こんにちは世界",
  "안녕하세요 세계",
])
  for (const granularity of ["grapheme", "word", "sentence"] as const)
    say("unspaced", `${text} ${granularity}`, () => {
      const parts = [...new Intl.Segmenter("en", { granularity }).segment(text)].map(({ segment }) => segment);
      return parts.join("") === text && parts.length > 0;
    });

for (const tag of ["zh-TW", "iw", "sr-Latn-RS", "en-Latn-US-u-hc-h23", "art-lojban"])
  say("same", `locale ${tag}`, () => {
    const locale = new Intl.Locale(tag);
    return [locale.toString(), locale.maximize().toString(), locale.minimize().toString()].join(" ");
  });
say("same", "canonical", () => Intl.getCanonicalLocales(["EN-us", "zh-cmn", "no-bok", "i-klingon"]).join());
say("collations", "all", () => Intl.supportedValuesOf("collation").join());
for (const key of ["calendar", "currency", "numberingSystem", "timeZone", "unit"] as const)
  say("same", `values ${key}`, () => Intl.supportedValuesOf(key).join());
for (const timeZone of [
  "UTC",
  "America/New_York",
  "Asia/Kolkata",
  "Europe/Dublin",
  "Pacific/Apia",
  "Asia/Calcutta",
  "Nowhere/City",
])
  for (const when of [date, new Date(Date.UTC(1985, 6, 1)), new Date(Date.UTC(2040, 0, 1))])
    say("same", `${timeZone} ${when.toISOString()}`, () =>
      new Intl.DateTimeFormat("en-US", { timeZone, dateStyle: "full", timeStyle: "full" }).format(when),
    );
say("same", "date", () => [`${date}`, date.toDateString(), date.toTimeString(), date.getTimezoneOffset()].join(" "));
say("same", "local date", () => `${new Date(2026, 6, 1)} ${Date.parse("2026-07-01T00:00:00")}`);
say("same", "time zone", () => new Intl.DateTimeFormat().resolvedOptions().timeZone);

for (const locale of ["tr", "az", "lt", "de", "el", "en", "nl"])
  say("same", `case ${locale}`, () =>
    ["Iıİi", "ÌJĮ į̇", "straße ŒUVRE", "ΌΔΟΣ ΆΝΩ", "IJsland ijs"]
      .map((text) => [text.toLocaleLowerCase(locale), text.toLocaleUpperCase(locale)].join(" "))
      .join(),
  );
say("same", "case", () => ["Iıİi", "ß", "ΌΔΟΣ", "ﬁ"].map((text) => text.toLowerCase() + text.toUpperCase()).join());
for (const form of ["NFC", "NFD", "NFKC", "NFKD"])
  say("same", form, () => ["ﬁ", "Å", "ạ̈", "한글", "½", "㌀", "ẛ"].map((text) => text.normalize(form)).join());

const everything = Array.from({ length: 0x3000 }, (_, at) =>
  String.fromCodePoint(at * 7 + (at > 0xf00 ? 0x10000 : 0)),
).join("");
for (const pattern of [
  "\\p{L}", "\\p{Lu}", "\\p{Script=Greek}", "\\p{scx=Deva}", "\\p{Emoji}", "\\p{ID_Start}", "\\P{ASCII}", "\\p{Nd}", "\\w", "\\s", "ſ", "K", "[à-ý]", "ß",
]) // biome-ignore format: a table
  for (const flags of ["gu", "giu"])
    say("same", `/${pattern}/${flags}`, () => everything.match(new RegExp(pattern, flags))?.length ?? 0);
say("same", "set notation", () => everything.match(/[\p{L}--[a-z]]/gv)?.length);
say("same", "strings property", () => "👩‍👩‍👧 👍🏽 a".match(/^\p{RGI_Emoji}/v)?.[0]);

for (const host of [
  "bücher.example",
  "ＥＸＡＭＰＬＥ.com",
  "faß.de",
  "日本語.jp",
  "xn--bcher-kva.example",
  "☕.example",
  "a\u00ADb.com",
  "xn--a.com",
  "א1.com",
])
  say("same", `host ${host}`, () => new URL(`http://${host}/ü?ü#ü`).href);
for (const label of [
  "utf-8", "utf-16le", "utf-16be", "latin1", "windows-1252", "iso-8859-2", "iso-8859-7", "windows-1251", "koi8-r", "macintosh", "ibm866", "shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "gbk", "big5", "euc-kr", "x-user-defined", "utf-7",
]) // biome-ignore format: a table
  say("same", `decode ${label}`, () => {
    const bytes = Uint8Array.from({ length: 600 }, (_, at) => (at * 37 + (at >> 3)) & 255);
    return new TextDecoder(label as Bun.Encoding).decode(bytes);
  });
say("same", "width", () => ["a", "あ", "👩‍👩‍👧", "ä"].map((text) => Bun.stringWidth(text)).join());

process.stdout.write(JSON.stringify(groups));

export {};

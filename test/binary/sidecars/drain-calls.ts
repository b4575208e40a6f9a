export const quick = ["--drain", "20s", "--min-drain", "100ms"];

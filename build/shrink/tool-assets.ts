/**
 * The compressed assets of Bun that only its developer tools read: the bundler, the dev server, the type checker, the
 * package manager, the shells' completions. Each was decompressed and looked at. The key is the first 16 hexadecimal
 * digits of the SHA-256 of its compressed bytes in Bun 1.4.3, the same for each architecture; the value says what it
 * is. If an asset changes in another release, so does its digest, and the build reports it as unknown.
 */
export const toolAssets: ReadonlyMap<string, string> = new Map([
  ["2e52c002e0a9ecc0", "dev server: error page, its style"],
  ["c2df9ecd2a91026d", "dev server: error page, its script"],
  ["a2d042d02cb52fa9", "dev server: error page of a failed build"],
  ["fd07fc84d259a1c0", "bake: React Refresh"],
  ["c7c9d7f81f188cbf", "bake: React Server Components, browser half"],
  ["506e3555688d8adc", "completions for bash"],
  ["4c7f0baaf99c4735", "completions for fish"],
  ["37f34f8bc63e8123", "completions for zsh"],
  ["e63353e9d7964171", "bun add: names of packages"],
  ["d5964e7c0b3e6cad", "type checker: declarations of ECMAScript and the DOM"],
  ["b57a900cbec32741", "type checker: declarations for test runs"],
  ["ac73be251a41e724", "dev server: hot reload in the browser"],
  ["a0b4ea7b81e3d8cb", "bundler: node:assert for browsers"],
  ["31821638d24c19f5", "bundler: node:console for browsers"],
  ["993c01cb68aff474", "bundler: node:constants for browsers"],
  ["4a02693d796f2129", "bundler: node:crypto for browsers"],
  ["09cd8fe67354e638", "bundler: node:domain for browsers"],
  ["69b65c1b92b01336", "bundler: node:events for browsers"],
  ["052a5478c3b9b9b2", "bundler: node:http for browsers"],
  ["e0d78957060afc5b", "bundler: node:https for browsers"],
  ["6e6538a96783319c", "bundler: node:net for browsers"],
  ["fdc7f4649abfdae2", "bundler: node:os for browsers"],
  ["4e3dd8a5baf3b238", "bundler: node:path for browsers"],
  ["83cc23d51bb96d20", "bundler: node:buffer for browsers"],
  ["8004e12b50d94002", "bundler: node:process for browsers"],
  ["38627c0d43c77eb4", "bundler: node:punycode for browsers"],
  ["afc18d07c70aed3a", "bundler: node:querystring for browsers"],
  ["356d21b7480bd13f", "bundler: node:stream for browsers"],
  ["bd169efdbec054f0", "bundler: node:string_decoder for browsers"],
  ["527d5f82c1b2dbb2", "bundler: node:sys for browsers"],
  ["6f50338069257235", "bundler: node:timers for browsers"],
  ["4fc092aa6e1d6417", "bundler: node:tty for browsers"],
  ["0ae2ac9be935a4d9", "bundler: node:url for browsers"],
  ["bc6c2eb3d9ca3685", "bundler: node:util for browsers"],
  ["5e4fef3709a4c154", "bundler: node:zlib for browsers"],
]);

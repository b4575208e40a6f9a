declare module "pino/browser.js" {
  export { default } from "pino";
}

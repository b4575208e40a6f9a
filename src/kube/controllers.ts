/** The programs that run in the cluster. They share one file of the executable, as they share most of their modules. */
export const reaper = () => import("./reaper/reaper.ts");
export const webhook = () => import("./webhook/webhook.ts");

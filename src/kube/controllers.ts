/** The programs for a cluster. They share one file of the executable, as they share most of their modules. */
export const reaper = () => import("./reaper/reaper.ts");
export const webhook = () => import("./webhook/webhook.ts");
export const doctor = () => import("./doctor/doctor.ts");
export const kubectl = () => import("./kubectl/plugin.ts");

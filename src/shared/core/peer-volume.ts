/** The volume that the app containers of a pod share, as a whole; none of them can write there. */
export const APPS_FOLDER = "/ebb.dev-apps";
/** This container's own folder of that volume, the subPath with its name, which it alone can write to. */
export const OWN_FOLDER = "/ebb.dev-own";

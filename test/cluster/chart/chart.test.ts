import { test } from "bun:test";
import { installUpgradeUninstall } from "./upgrade.ts";

test("Helm 3: installed, upgraded under load, rolled back and uninstalled", async () => {
  await installUpgradeUninstall("helm");
});

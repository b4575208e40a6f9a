import { test } from "bun:test";
import { installUpgradeUninstall } from "../../cluster/chart/upgrade.ts";

test("Helm 4: installed, upgraded under load, rolled back and uninstalled", async () => {
  await installUpgradeUninstall("helm-4");
});

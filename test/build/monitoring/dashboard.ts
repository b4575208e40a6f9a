import dashboard from "../../../build/monitoring/dashboard.json";

/** The dashboard's panels, as Grafana imports them. */
export const { panels } = dashboard;

/** The dashboard's queries, with the title of their panel. */
export const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr: expr.replaceAll("$__rate_interval", "5m") })),
);

import { readdirSync } from "node:fs";
import { Counter, Gauge, type Registry } from "prom-client";

/** Metrics in the text format of Prometheus. */
export interface Exposition {
  readonly contentType: string;
  text(): Promise<string>;
}

/**
 * Registers `ebb_build_info` with ebb's version, and the `process_` metrics by the names that Prometheus' clients use.
 */
export function addProcess(registry: Registry, version: string): void {
  // prom-client's own set needs a timer and an observer of the event loop
  const registers = [registry];
  const build = new Gauge({
    name: "ebb_build_info",
    help: "Version of ebb; the value is always 1.",
    labelNames: ["version"],
    registers,
  });
  build.set({ version }, 1);
  const started = Date.now() / 1000 - process.uptime();
  addGauge(registry, "process_start_time_seconds", "Start time of the process, in seconds since 1970.", () => started);
  addGauge(registry, "process_resident_memory_bytes", "Resident memory in bytes.", () => process.memoryUsage.rss());
  addGauge(registry, "process_open_fds", "Open file descriptors.", () => readdirSync("/proc/self/fd").length);
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time used, in seconds.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
}

/** Registers a gauge. `value` is called at each scrape. */
export function addGauge(registry: Registry, name: string, help: string, value: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(value());
    },
  });
}

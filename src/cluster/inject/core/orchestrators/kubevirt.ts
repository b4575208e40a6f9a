import { labelOf, type Orchestrator } from "./orchestrator.ts";

/**
 * KubeVirt's launcher of a virtual machine. In `compute`, virt-launcher-monitor is PID 1 and starts virt-launcher, whose
 * libvirt starts QEMU.
 */
export const kubeVirt = {
  name: "KubeVirt",
  made: (pod) => labelOf(pod, "kubevirt.io") === "virt-launcher",
  roleIn: ({ name }) => (name === "compute" ? "untouchable" : "sidecar"),
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read kubevirt v1.9.0 pkg/virt-controller/services/template.go:1726-1740 | the label \`kubevirt.io: virt-launcher\`, which no label of the machine overrides
app | read kubevirt v1.9.0 pkg/virt-controller/services/template.go:452-523,961-964 | none but \`compute\`, which is untouchable
sidecar | read kubevirt v1.9.0 pkg/virt-controller/services/template.go:559-620,1073-1075, virtiofs.go:114-118, pkg/container-disk/container-disk.go:299-303 | all others: disks, \`virtiofs-NAME\`, \`hook-sidecar-N\`. A disk ends when the monitor has removed its socket
untouchable | read kubevirt v1.9.0 pkg/virt-handler/isolation/detector.go:69-124, pkg/hypervisor/kvm/runtime.go:291-304, pkg/hypervisor/common/qemu.go:28-38 | \`compute\`: on the node, virt-handler looks for QEMU among the children of virt-launcher's parent, the monitor. QEMU, a daemon, is its child because it is PID 1, which would be ebb
wrapping | read kubevirt v1.9.0 cmd/virt-launcher-monitor/virt-launcher-monitor.go:98-158,266-325 | not needed either: the monitor forwards SIGTERM, and asks an injected istio-proxy to quit at the end
end | read kubevirt v1.9.0 cmd/virt-launcher-monitor/virt-launcher-monitor.go:98-100, pkg/controller/controller.go:521-545 | the end of \`compute\` tells the controller the result, even if others still run; the monitor quits that proxy, and no other sidecar
mesh | read kubevirt v1.9.0 pkg/controller/controller.go:497-516 | the machine starts as soon as that proxy runs, ready or not
init | read kubevirt v1.9.0 pkg/virt-controller/services/template.go:635-695 | none: they copy a program and pull images; \`guest-console-log\` is a native sidecar
`;

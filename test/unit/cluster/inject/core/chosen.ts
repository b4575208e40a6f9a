import { app } from "./injection.ts";

/** Returns a container of that name, with a command; `more` adds or replaces fields. */
export const named = (name: string, more: object = {}) => app({ name, ...more });

export const image = "registry.example.com:5000/team/app:1.2@sha256:00";

/**
 * Holds what is known of the rules beside the traffic: reports that were dropped here, and facts.
 *
 * Reports are read by this page alone, and kept until the browser's tab is closed.
 * @module
 */

import { admin } from "../api.js";

const KEPT = "understudy-reports";

/**
 * @typedef {object} Report
 * @property {"verify" | "drift" | "facts"} kind
 * @property {string} at When it was written, as far as the report or its file says.
 * @property {any} content As understudy writes it.
 *
 * @typedef {object} Evidence What is known of one rule.
 * @property {any} [verdict] What the last verify found.
 * @property {any[]} findings Of that verify.
 * @property {any[]} facts Each with the `deployment` that it was learnt of.
 * @property {any[]} differences Each with the `fault` of its cause, and both deployments.
 */

/** @returns {{reports: () => Report[], add: (file: File) => Promise<void>, remove: (kind: string) => void, load: () => Promise<void>, of: (rule: string) => Evidence}} */
export function evidence() {
  let reports = kept();
  let followed = [];

  const keep = (changed) => {
    reports = changed;
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(reports));
    } catch {
      // too large to be kept: it is shown until the page is reloaded
    }
  };
  const content = (kind) => reports.find((report) => report.kind === kind)?.content;

  return {
    reports: () => [...reports, ...followed],
    async add(file) {
      const report = read(await file.text(), file.name, new Date(file.lastModified).toISOString());
      keep([...reports.filter(({ kind }) => kind !== report.kind), report]);
    },
    remove: (kind) => keep(reports.filter((report) => report.kind !== kind)),
    async load() {
      followed = (await admin("GET", "/facts")).map((file) => ({ kind: "facts", at: file.learnt, content: file, isFollowed: true }));
    },
    of(rule) {
      const [verify, drift] = [content("verify"), content("drift")];
      const files = [...reports, ...followed].filter(({ kind }) => kind === "facts");
      return {
        verdict: verify?.rules.find(({ id }) => id === rule),
        findings: [...(verify?.findings ?? []), ...(verify?.notes ?? [])].filter((finding) => finding.rule === rule),
        facts: files.flatMap((file) => file.content.facts.filter((fact) => fact.rule === rule)
          .map((fact) => ({ ...fact, deployment: file.content.deployment, isFollowed: file.isFollowed === true }))),
        differences: (drift?.causes ?? []).filter((cause) => cause.rule === rule)
          .flatMap((cause) => cause.differences.map((it) => ({ ...it, fault: cause.fault, names: [drift.deployment, drift.other] }))),
      };
    },
  };
}

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) ?? [];
  } catch {
    return [];
  }
}

/** Returns a report of whichever command wrote the file. */
function read(text, name, written) {
  const content = parsed(text);
  if (Array.isArray(content?.rules)) return { kind: "verify", at: content.started ?? written, content };
  if (Array.isArray(content?.causes)) return { kind: "drift", at: written, content };
  if (Array.isArray(content?.facts)) return { kind: "facts", at: content.learnt, content };
  throw new Error(`${name} is not a report of understudy verify, drift or learn. Write one as JSON, and drop that.`);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

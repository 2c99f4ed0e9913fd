export const seen = { checks: 0, failed: [] };

export function check(answer, judges) {
  for (const [name, judge] of Object.entries(judges)) {
    seen.checks += 1;
    if (!judge(answer)) seen.failed.push(`${name}: ${answer.status} ${answer.error}`);
  }
}

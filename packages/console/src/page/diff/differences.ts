/** A member of a JSON value that is compared with another value. */
export interface Difference {
  /** Such as `to.address` or `files[0]`; empty for the value itself. */
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

const MAX_ROWS = 1_000

/** The members of both values, in the order of the new value; members that only the old value has come last. */
export function differencesOf(before: unknown, after: unknown): readonly Difference[] {
  const [old, now] = [leavesOf(before), leavesOf(after)]
  return [...new Set([...now.keys(), ...old.keys()])]
    .slice(0, MAX_ROWS)
    .map((path) => ({ path, before: old.get(path), after: now.get(path) }))
}

export const isChanged = ({ before, after }: Difference): boolean => before !== after

/** The texts of all members that have no members of their own. */
function leavesOf(value: unknown, path = '', leaves = new Map<string, string>()): Map<string, string> {
  if (value === undefined || leaves.size >= MAX_ROWS) return leaves
  const members =
    typeof value !== 'object' || value === null
      ? []
      : Array.isArray(value)
        ? value.map((one, at) => [`${path}[${at}]`, one] as const)
        : Object.entries(value).map(([name, one]) => [path === '' ? name : `${path}.${name}`, one] as const)
  if (members.length === 0) leaves.set(path, typeof value === 'string' ? value : JSON.stringify(value))
  for (const [at, one] of members) leavesOf(one, at, leaves)
  return leaves
}

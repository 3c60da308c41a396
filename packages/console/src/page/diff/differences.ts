/** A member of a JSON value that is compared with another value. The values are JSON. */
export interface Difference {
  /** Such as `to.address`, `files[0]` or `["to.address"]`; empty for the value itself. */
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

export interface Differences {
  readonly rows: readonly Difference[]
  /** Whether the values have more members than `rows`. */
  readonly isCut: boolean
}

const MAX_ROWS = 1_000

/** The members of both values, in the order of the new value; members that only the old value has come last. */
export function differencesOf(before: unknown, after: unknown): Differences {
  const [old, now] = [leavesOf(before), leavesOf(after)]
  const paths = [...new Set([...now.keys(), ...old.keys()])]
  const rows = paths.slice(0, MAX_ROWS).map((path) => ({ path, before: old.get(path), after: now.get(path) }))
  return { rows, isCut: paths.length > MAX_ROWS }
}

export const isChanged = ({ before, after }: Difference): boolean => before !== after

/** The values as the table shows them: texts without quotes, unless different values would look the same. */
export function shownTexts({
  before,
  after,
}: Difference): readonly [before: string | undefined, after: string | undefined] {
  const [old, now] = [withoutQuotes(before), withoutQuotes(after)]
  return old === now && before !== after ? [before, after] : [old, now]
}

function withoutQuotes(json: string | undefined): string | undefined {
  const value: unknown = json === undefined ? undefined : JSON.parse(json)
  return typeof value === 'string' ? value : json
}

/** A member whose name needs no quotes, so that different members never have the same path. */
const PLAIN_NAME = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u

const pathTo = (path: string, name: string): string => {
  if (!PLAIN_NAME.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

/** The JSON of all members that have no members of their own, up to one more than are shown. */
function leavesOf(value: unknown, path = '', leaves = new Map<string, string>()): Map<string, string> {
  if (value === undefined || leaves.size > MAX_ROWS) return leaves
  const members =
    typeof value !== 'object' || value === null
      ? []
      : Array.isArray(value)
        ? value.map((one, at) => [`${path}[${at}]`, one] as const)
        : Object.entries(value).map(([name, one]) => [pathTo(path, name), one] as const)
  if (members.length === 0) leaves.set(path, JSON.stringify(value))
  for (const [at, one] of members) leavesOf(one, at, leaves)
  return leaves
}

const MAX_FOUND = 5
const MAX_VISITED = 10_000

/**
 * The values that JSON does not keep, at most five, each with its path and what it becomes: `tags (a Map becomes {})`.
 * Looks at no more than 10,000 values. A top value of `undefined` is not reported: the code returned nothing.
 */
export function lossyValues(value: unknown): readonly string[] {
  const found: string[] = []
  const seen = new Set<unknown>()
  const open: Place[] = value === undefined ? [] : [{ path: 'result', value, isElement: true }]
  for (let visited = 0; visited < MAX_VISITED && found.length < MAX_FOUND; visited++) {
    const place = open.pop()
    if (place === undefined) break
    const loss = lossOf(place)
    if (loss !== undefined) found.push(`${place.path} (${loss})`)
    else open.push(...membersOf(place, seen).reverse())
  }
  return found
}

interface Place {
  readonly path: string
  readonly value: unknown
  readonly isElement: boolean
}

/** Empty for an object that was seen before. */
function membersOf({ path, value }: Place, seen: Set<unknown>): Place[] {
  const shown = hasToJson(value) ? value.toJSON() : value
  if (typeof shown !== 'object' || shown === null || seen.has(shown)) return []
  seen.add(shown)
  if (Array.isArray(shown)) {
    return shown.slice(0, MAX_VISITED).map((one, at) => ({ path: `${path}[${at}]`, value: one, isElement: true }))
  }
  const members = Object.entries(shown).slice(0, MAX_VISITED)
  return members.map(([name, one]) => ({ path: memberPath(path, name), value: one, isElement: false }))
}

const memberPath = (path: string, name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`

function lossOf({ value, isElement }: Place): string | undefined {
  const rest = isElement ? 'becomes null' : 'is left out'
  if (value === undefined) return `undefined ${rest}`
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value} ${rest}`
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${value} becomes null`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date becomes null' : undefined
  if (hasToJson(value)) return undefined
  const kind = EMPTIED.find(([type]) => value instanceof type)
  return kind === undefined ? undefined : `${kind[1]} becomes {}`
}

/** Objects whose content is not in members that JSON sees. */
const EMPTIED = [
  [Map, 'a Map'],
  [Set, 'a Set'],
  [Error, 'an Error'],
  [RegExp, 'a RegExp'],
  [Promise, 'a promise without await'],
] as const

const hasToJson = (value: unknown): value is { toJSON(): unknown } =>
  typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'

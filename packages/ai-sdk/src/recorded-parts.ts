import type { Part } from './answer-log.ts'

const IN_LOG = { isInLog: true }

/** Marks a part that is in the log of the run, so that `streamText` results that a run returns do not repeat it. */
export function marked(part: Part): Part {
  const { providerMetadata } = part
  return { ...part, providerMetadata: { ...(providerMetadata as object | undefined), perdure: IN_LOG } }
}

const JOINED: ReadonlySet<unknown> = new Set(['text-delta', 'reasoning-delta', 'tool-input-delta'])

/** Appends a part to those that are recorded. A delta joins the delta before it. */
export function addPart(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  const isSame = last !== undefined && last.type === part.type && last.id === part.id
  if (isSame && JOINED.has(part.type))
    parts[parts.length - 1] = { ...last, ...part, delta: `${last.delta}${part.delta}` }
  else parts.push(part)
}

/** The value as JSON can record it: bytes become base64. */
export function recordable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Date || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(recordable)
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, recordable(one)]))
}

/** A recorded part or response, with the time that JSON has made a text. */
export function revived<T extends Part>(part: T): T {
  const { timestamp } = part
  return typeof timestamp === 'string' ? { ...part, timestamp: new Date(timestamp) } : part
}

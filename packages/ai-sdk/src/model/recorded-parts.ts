import type { Part } from './model.ts'

const JOINED: ReadonlySet<unknown> = new Set(['text-delta', 'reasoning-delta', 'tool-input-delta'])

/** Appends a part to those that are recorded. A delta joins the delta before it. */
export function addPart(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  const isSame = last !== undefined && last.type === part.type && last.id === part.id
  if (isSame && JOINED.has(part.type) && part.providerMetadata === undefined) {
    // The object is a copy of its own, because most parts of an answer are joined to one.
    Object.assign(last, part, { delta: `${last.delta}${part.delta}` })
  } else parts.push({ ...part })
}

/** Whether `recordable` and `revived` leave the part as it is, as they leave each delta: it has no nested values. */
export function isFlat(part: Part): boolean {
  for (const name in part) {
    const value = part[name]
    if (name === 'timestamp' || (typeof value === 'object' && value !== null)) return false
  }
  return true
}

/** The value as JSON can record it: bytes become base64, and what is not JSON by itself becomes a tagged text. */
export function recordable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof URL) return { [URL_TAG]: value.href }
  if (value instanceof Error) return { [ERROR_TAG]: { name: value.name, message: value.message } }
  if (value instanceof Date || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(recordable)
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, recordable(one)]))
}

const URL_TAG = '$perdure.url'
const ERROR_TAG = '$perdure.error'

/** A recorded part or response, with the values that JSON cannot hold. */
export function revived<T extends Part>(part: T): T {
  const { timestamp } = part
  const known = reviveTagged(part) as T
  return typeof timestamp === 'string' ? { ...known, timestamp: new Date(timestamp) } : known
}

function reviveTagged(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Uint8Array) return value
  if (Array.isArray(value)) return value.map(reviveTagged)
  if (value instanceof URL || value instanceof Error) return value
  const { [URL_TAG]: url, [ERROR_TAG]: error } = value as Part
  if (typeof url === 'string') return new URL(url)
  if (typeof error === 'object' && error !== null) {
    const { name, message } = error as { readonly name: string; readonly message: string }
    return Object.assign(new Error(message), { name })
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, reviveTagged(one)]))
}

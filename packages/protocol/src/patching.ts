import { type JsonSize, jsonSize, MAX_JSON_DEPTH } from './json-size.ts'

/** A `copy` doubles what it copies, so a short patch could otherwise build a document of any size. */
export const PATCH_LIMITS = {
  operations: 1_000,
  /** Of the document, and of everything together that the operations of a patch bring in. */
  bytes: 1_048_576,
  depth: MAX_JSON_DEPTH,
  /** List items that the operations of a patch move or copy, or as much other work. */
  work: 8_388_608,
} as const

export class Refusal extends Error {
  readonly exceeds: boolean
  constructor(problem: string, exceeds: boolean) {
    super(problem)
    this.exceeds = exceeds
  }
}

export const refuse = (problem: string): never => {
  throw new Refusal(problem, false)
}

export const exceed = (problem: string): never => {
  throw new Refusal(problem, true)
}

export type Parent = Record<string, unknown> | unknown[]

export interface Patching {
  document: unknown
  /** Size of the document. */
  bytes: number
  /** Size of everything that operations have added so far, even if a later operation removes it. */
  broughtIn: number
  /** The objects and lists that this patch has made, so that it may change them in place. */
  own: Set<unknown>
  /** What the operations have cost so far. */
  work: number
}

/** The sizes of documents that patches have made. The next patch then measures only what it changes. */
const SIZES = new WeakMap<object, number>()

export function bytesOf(document: unknown): number {
  const known = isParent(document) ? SIZES.get(document) : undefined
  if (known !== undefined) return known
  const { bytes, depth } = PATCH_LIMITS
  return (
    jsonSize(document, bytes, depth)?.bytes ??
    exceed(`the document is longer than ${bytes} bytes, or nested deeper than ${depth}`)
  )
}

export function remember({ document, bytes }: Patching): void {
  if (isParent(document)) SIZES.set(document, bytes)
}

/** What it costs to look at a byte, in list items that are moved. */
export const BYTE_WORK = 4

/** What it costs to copy or compare a member of an object, in list items that are moved. */
export const MEMBER_WORK = 16

/** Counts work of which a short patch could otherwise cause any amount. */
export function work(patching: Patching, more: number): void {
  patching.work += more
  if (patching.work > PATCH_LIMITS.work) exceed('the patch moves or copies too many items and members of the document')
}

/** What a document is made of has been measured before, when it was added. */
export const measured = (value: unknown): number => jsonSize(value, Number.POSITIVE_INFINITY)?.bytes ?? 0

/** The sizes of large values that are never changed, because the document contains them more than once. */
const SHARED_SIZES = new WeakMap<object, JsonSize>()

/** The size of a value within limits; `undefined` if it is beyond them. */
export function sizeOf(value: unknown, { bytes, depth }: JsonSize): JsonSize | undefined {
  const known = isParent(value) ? SHARED_SIZES.get(value) : undefined
  if (known === undefined) return jsonSize(value, bytes, depth)
  return known.bytes <= bytes && known.depth <= depth ? known : undefined
}

/** A larger value is not printed and parsed for each copy. */
const CLONED_BYTES = 4_096

/**
 * The value for a second place of the document. A large value is not cloned: from then on, this patch copies what it changes, so
 * that a change appears in one of the places only.
 */
export function copyOf(patching: Patching, value: unknown, size: JsonSize): unknown {
  if (!isParent(value)) return value
  if (size.bytes <= CLONED_BYTES) return JSON.parse(JSON.stringify(value))
  patching.own = new Set()
  SHARED_SIZES.set(value, size)
  return value
}

/** The object or list, or a copy of it that this patch may change in place; `undefined` for any other value. */
export function owned(patching: Patching, value: unknown): Parent | undefined {
  if (!isParent(value)) return undefined
  if (patching.own.has(value)) return value
  const copy = Array.isArray(value) ? copyOfList(patching, value) : copyOfObject(patching, value)
  patching.own.add(copy)
  return copy
}

function copyOfList(patching: Patching, list: readonly unknown[]): Parent {
  work(patching, list.length)
  return [...list]
}

/** The members are assigned one by one: for an object with many, that takes a third of the time of a spread. */
function copyOfObject(patching: Patching, value: Readonly<Record<string, unknown>>): Parent {
  const names = Object.keys(value)
  work(patching, MEMBER_WORK * names.length)
  const copy: Record<string, unknown> = {}
  for (const name of names) setMember(copy, name, value[name])
  return copy
}

/** Also for the key `__proto__`, which an assignment would not store. */
export function setMember(parent: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') parent[key] = value
  else Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })
}

export const isParent = (value: unknown): value is Parent => typeof value === 'object' && value !== null

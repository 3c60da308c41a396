import { type JsonSize, jsonSize, MAX_JSON_DEPTH } from './json-size.ts'
import {
  noteMembers,
  type PatchedDocument,
  removeOwnMember,
  setMember,
  setOwnMember,
  takeCopy,
} from './patched-document.ts'

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
  readonly document: PatchedDocument
  /** Size of the document. */
  bytes: number
  /** Size of everything that operations have added so far, even if a later operation removes it. */
  broughtIn: number
  /** The objects and lists that this patch has changed. Each costs work once. */
  changed: Set<unknown>
  /** What the operations have cost so far. */
  work: number
  /** The inverse of each change, in the order of the changes. */
  readonly undo: Change[]
}

/** A change of one place of a document. `set` also adds a member; `insert` is for lists. */
export interface Change {
  readonly kind: 'set' | 'insert' | 'remove'
  readonly keys: readonly string[]
  readonly value?: unknown
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
 * The value for a second place of the document. A large value is not cloned: from then on, patches copy what they change of it,
 * so that a change appears in one of the places only.
 */
export function copyOf(patching: Patching, value: unknown, size: JsonSize): unknown {
  if (!isParent(value)) return value
  if (size.bytes <= CLONED_BYTES) return JSON.parse(JSON.stringify(value))
  patching.changed = new Set()
  disown(patching.document, value)
  SHARED_SIZES.set(value, size)
  return value
}

/** Keeps the inverse of a change. Its value is as it was then: later patches copy what they change of it, wherever it is. */
export function keepInverse({ document, undo }: Patching, inverse: Change): void {
  disown(document, inverse.value)
  undo.push(inverse)
}

function disown(document: PatchedDocument, value: unknown): void {
  if (!isParent(value) || !document.own.delete(value)) return
  for (const child of Object.values(value)) disown(document, child)
}

/** The object or list, or a copy of it that the document may change in place; `undefined` for any other value. */
export function owned(patching: Patching, value: unknown): Parent | undefined {
  if (!isParent(value)) return undefined
  const { document, changed } = patching
  const names = Array.isArray(value) || MEMBERS.has(value) ? undefined : Object.keys(value)
  const length = Array.isArray(value) ? value.length : (names?.length ?? membersOf(value))
  // A patch costs the same whether or not an earlier one has made the copy.
  if (!changed.has(value)) work(patching, Array.isArray(value) ? length : MEMBER_WORK * length)
  if (document.own.has(value)) {
    changed.add(value)
    return value
  }
  const copy = Array.isArray(value) ? [...value] : copyOfObject(value, names)
  document.copied += length
  document.own.add(copy)
  if (!Array.isArray(copy)) noteMembers(document, copy, length)
  changed.add(copy)
  return copy
}

/** The members are assigned one by one: for an object with many, that takes a third of the time of a spread. */
function copyOfObject(value: Readonly<Record<string, unknown>>, known?: readonly string[]): Record<string, unknown> {
  const made = takeCopy(value)
  if (made !== undefined) {
    MEMBERS.set(made, membersOf(value))
    return made
  }
  const copy: Record<string, unknown> = {}
  const names = known ?? Object.keys(value)
  for (const name of names) setMember(copy, name, value[name])
  MEMBERS.set(copy, names.length)
  return copy
}

/** How many members objects of documents have. To list them takes milliseconds for an object with many. */
const MEMBERS = new WeakMap<object, number>()

export function membersOf(value: Readonly<Record<string, unknown>>): number {
  const known = MEMBERS.get(value)
  if (known !== undefined) return known
  const { length } = Object.keys(value)
  MEMBERS.set(value, length)
  return length
}

/** Changes an own object or list. @returns the inverse */
export function changeIn(parent: Parent, key: string, { kind, keys, value }: Change): Change {
  if (Array.isArray(parent)) {
    const index = Number(key)
    const before: unknown = parent[index]
    if (kind === 'insert') {
      parent.splice(index, 0, value)
      return { kind: 'remove', keys }
    }
    if (kind === 'set') parent[index] = value
    else parent.splice(index, 1)
    return { kind: kind === 'set' ? 'set' : 'insert', keys, value: before }
  }
  const isNew = !Object.hasOwn(parent, key)
  const before = isNew ? undefined : parent[key]
  if (kind === 'remove') {
    removeOwnMember(parent, key)
    MEMBERS.set(parent, membersOf(parent) - 1)
    return { kind: 'set', keys, value: before }
  }
  if (isNew) MEMBERS.set(parent, membersOf(parent) + 1)
  setOwnMember(parent, key, value)
  return isNew ? { kind: 'remove', keys } : { kind: 'set', keys, value: before }
}

export const isParent = (value: unknown): value is Parent => typeof value === 'object' && value !== null

/** A document that patches change in place. */
export interface PatchedDocument {
  value: unknown
  /**
   * The objects and lists that only this document contains, so that patches may change them in place. All others are copied
   * first. What contains an own object or list is itself an own one.
   */
  own: WeakSet<object>
  /** The own objects with many members. */
  wide: Set<Members>
  /** Members and items that patches have copied since the document was last read. */
  copied: number
  /** What it takes to keep the changes since then: one for each change, and more for long values. */
  kept: number
}

export type Members = Record<string, unknown>

export const documentOf = (value: unknown): PatchedDocument => ({
  ...{ value, own: new WeakSet(), wide: new Set() },
  ...{ copied: 0, kept: 0 },
})

/** To copy an object with more members at once would hold up the event loop. */
const WIDE_MEMBERS = 4_096
/** Members that are copied in advance with each patch. */
const COPIED_PER_PATCH = 4_096
/** Members that are copied in advance with each change, so that a copy is complete before its document is read. */
const COPIED_PER_CHANGE = 4

/** A copy of an own object that is made in advance, a part with each patch. Until it is needed, it gets each change of the object. */
interface AdvanceCopy {
  readonly copy: Members
  /** The names of the object, in their order. */
  readonly names: string[]
  /** How many of them were copied. */
  count: number
  /** How many of the names that were not copied yet no longer count, because the member was removed. */
  readonly removed: Map<string, number>
}

const ADVANCE_COPIES = new WeakMap<object, AdvanceCopy>()

/** Notes how many members an own object has. */
export function noteMembers({ wide }: PatchedDocument, object: Members, length: number): void {
  if (length > WIDE_MEMBERS) wide.add(object)
}

/** Copies a part of the own objects with many members, of which the next patch after a reading needs copies. */
export function copyInAdvance({ wide, own: owns }: PatchedDocument, changes: number): void {
  let room = COPIED_PER_PATCH + COPIED_PER_CHANGE * changes
  for (const object of wide) {
    if (!owns.has(object)) continue
    const made = ADVANCE_COPIES.get(object) ?? begin(object)
    ADVANCE_COPIES.set(object, made)
    const end = Math.min(made.names.length, made.count + room)
    room -= end - made.count
    while (made.count < end) copyNext(made, object)
    if (room === 0) return
  }
}

const begin = (object: Members): AdvanceCopy => ({
  ...{ copy: {}, names: Object.keys(object) },
  ...{ count: 0, removed: new Map() },
})

function copyNext(made: AdvanceCopy, object: Members): void {
  const name = made.names[made.count++] ?? ''
  const removed = made.removed.get(name) ?? 0
  if (removed > 0) made.removed.set(name, removed - 1)
  else setMember(made.copy, name, object[name])
}

const isComplete = ({ count, names }: AdvanceCopy): boolean => count === names.length

/** Whether the next patch after a reading copies no object with many members at once. */
export function isCopied({ wide, own: owns }: PatchedDocument): boolean {
  for (const object of wide) {
    const made = ADVANCE_COPIES.get(object)
    if (owns.has(object) && (made === undefined || !isComplete(made))) return false
  }
  return true
}

/** The copy of the object that was made in advance, for one use. */
export function takeCopy(object: object): Members | undefined {
  const made = ADVANCE_COPIES.get(object)
  if (made === undefined || !isComplete(made)) return undefined
  ADVANCE_COPIES.delete(object)
  return made.copy
}

/** Sets a member of an own object. */
export function setOwnMember(object: Members, name: string, value: unknown): void {
  const isNew = !Object.hasOwn(object, name)
  setMember(object, name, value)
  const made = ADVANCE_COPIES.get(object)
  if (made === undefined) return
  if (!isNew) {
    if (Object.hasOwn(made.copy, name)) setMember(made.copy, name, value)
    return
  }
  const wasComplete = isComplete(made)
  made.names.push(name)
  if (wasComplete) copyNext(made, object)
}

/** Removes a member of an own object. */
export function removeOwnMember(object: Members, name: string): void {
  delete object[name]
  const made = ADVANCE_COPIES.get(object)
  if (made === undefined) return
  if (Object.hasOwn(made.copy, name)) delete made.copy[name]
  else made.removed.set(name, (made.removed.get(name) ?? 0) + 1)
}

/** Also for the key `__proto__`, which an assignment would not store. */
export function setMember(object: Members, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}

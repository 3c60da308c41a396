import { fromJsonText, type NewEvent, toJsonText } from '@perdure/ports'
import { pieceOf } from '@perdure/protocol'
import { isLongerThan } from '../json/json-members.ts'

/** Longest payload of a merged event, in bytes. */
const MERGED_BYTES = 4_096

/**
 * Joins two adjacent events of a run that are pieces of one text, such as two `text.delta`. `undefined` unless all of
 * their other members are equal and plain values: a piece with metadata of its own stays an event of its own.
 */
export function mergePieces(one: NewEvent, next: NewEvent, maxBytes: number): NewEvent | undefined {
  const member = one.type === next.type && one.phase === next.phase ? pieceOf(one.type) : undefined
  if (member === undefined || one.payload.length + next.payload.length > MERGED_BYTES) return undefined
  const [fields, added] = [fieldsOf(one), fieldsOf(next)]
  if (fields === undefined || added === undefined || !differOnlyIn(member, fields, added)) return undefined
  const payload = toJsonText({ ...fields, [member]: `${fields[member]}${added[member]}` })
  return isLongerThan(payload, Math.min(MERGED_BYTES, maxBytes)) ? undefined : { ...one, payload }
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf({ payload }: NewEvent): Fields | undefined {
  const value = fromJsonText(payload)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
}

function differOnlyIn(member: string, one: Fields, other: Fields): boolean {
  if (typeof one[member] !== 'string' || typeof other[member] !== 'string') return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => name === member || (typeof one[name] !== 'object' && Object.is(one[name], other[name])))
  )
}

import * as v from 'valibot'
import { ITEM_BYTES, type JsonSize, jsonSize, memberBytes } from './json-size.ts'
import { documentOf, noteMembers, type PatchedDocument, setOwnMember } from './patched-document.ts'
import {
  BYTE_WORK,
  type Change,
  changeIn,
  copyOf,
  exceed,
  isParent,
  keepInverse,
  MEMBER_WORK,
  measured,
  membersOf,
  owned,
  PATCH_LIMITS,
  type Parent,
  type Patching,
  Refusal,
  refuse,
  sizeOf,
  work,
} from './patching.ts'

/** One operation of a JSON Patch (RFC 6902). */
export const JsonPatchOperation = v.looseObject({
  op: v.picklist(['add', 'remove', 'replace', 'move', 'copy', 'test']),
  path: v.string(),
  from: v.optional(v.string()),
  value: v.optional(v.unknown()),
})

export type JsonPatch = readonly JsonPatchStep[]

export interface JsonPatchStep {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  readonly path: string
  readonly from?: string | undefined
  readonly value?: unknown
}

/** Why a patch does not apply. `exceeds`: it goes beyond a limit of `PATCH_LIMITS`; otherwise it may apply to another document. */
export interface PatchRefusal {
  readonly ok: false
  readonly problem: string
  readonly exceeds: boolean
}

/** The document after the patch and its size. */
export type Patched = { readonly ok: true; readonly value: unknown; readonly bytes: number } | PatchRefusal

/**
 * Applies a JSON Patch to a JSON value without changing the value. All operations apply, or none. For one patch after another,
 * `createJsonVersion` copies less.
 */
export function applyJsonPatch(value: unknown, patch: unknown): Patched {
  const document = documentOf(value)
  const patched = patchDocument(document, sizeOfDocument(value), patch)
  return patched.ok ? { ok: true, value: document.value, bytes: patched.bytes } : patched
}

/** The size of a document, or infinity if it is beyond the limits of patches. */
export const sizeOfDocument = (value: unknown): number =>
  jsonSize(value, PATCH_LIMITS.bytes, PATCH_LIMITS.depth)?.bytes ?? Number.POSITIVE_INFINITY

/** The new size of the document, and what takes the patch back. */
export type PatchOutcome =
  | { readonly ok: true; readonly bytes: number; readonly undo: readonly Change[] }
  | PatchRefusal

/**
 * Applies a JSON Patch to a document in place. After a refusal, the document is as before, except that members which an operation
 * had removed are its last ones.
 */
export function patchDocument(document: PatchedDocument, size: number, patch: unknown): PatchOutcome {
  const patching: Patching = { document, bytes: size, broughtIn: 0, work: 0, changed: new Set(), undo: [] }
  try {
    if (Array.isArray(patch) && patch.length > PATCH_LIMITS.operations) {
      exceed(`the patch has ${patch.length} operations; at most ${PATCH_LIMITS.operations} are allowed`)
    }
    if (!v.is(PATCH, patch)) refuse('the patch must be a list of JSON Patch operations')
    const { bytes, depth } = PATCH_LIMITS
    if (size > bytes) exceed(`the document is longer than ${bytes} bytes, or nested deeper than ${depth}`)
    for (const step of patch as JsonPatch) APPLY[step.op](patching, step, keysOf(step.path))
    if (patching.bytes > bytes) exceed(`the patched document is longer than ${bytes} bytes`)
    return { ok: true, bytes: patching.bytes, undo: patching.undo }
  } catch (error) {
    revert(document, patching.undo)
    const problem = error instanceof Error ? error.message : String(error)
    return { ok: false, problem, exceeds: error instanceof Refusal && error.exceeds }
  }
}

/** Takes changes back, the last one first. @returns what makes them again */
export function revert(document: PatchedDocument, changes: readonly Change[]): readonly Change[] {
  const unlimited = { bytes: 0, broughtIn: 0, work: Number.NEGATIVE_INFINITY }
  const patching: Patching = { ...unlimited, document, changed: new Set(), undo: [] }
  for (const change of changes.toReversed()) {
    const key = change.keys.at(-1)
    if (key === undefined) setDocument(patching, change.value)
    else keepInverse(patching, changeIn(parentOf(patching, change.keys), key, change))
  }
  return patching.undo
}

const PATCH = v.array(JsonPatchOperation)

type Apply = (patching: Patching, step: JsonPatchStep, keys: readonly string[]) => void

const APPLY: Readonly<Record<JsonPatchStep['op'], Apply>> = {
  add: (patching, step, keys) => put(patching, keys, broughtIn(patching, keys, operandOf(step))),
  remove: (patching, _, keys) => take(patching, keys),
  replace(patching, step, keys) {
    read(patching.document.value, keys)
    put(patching, keys, { ...broughtIn(patching, keys, operandOf(step)), isReplacement: true })
  },
  move,
  copy(patching, { from }, keys) {
    const brought = broughtIn(patching, keys, read(patching.document.value, keysOf(from)))
    put(patching, keys, { ...brought, value: copyOf(patching, brought.value, brought.size) })
  },
  test(patching, { path, value }, keys) {
    if (!isEqual(patching, read(patching.document.value, keys), value)) refuse(`the test of ${path} fails`)
  },
}

const operandOf = (step: JsonPatchStep): unknown =>
  Object.hasOwn(step, 'value') ? step.value : refuse(`${step.op} ${step.path} has no value`)

interface Operand {
  readonly value: unknown
  readonly bytes: number
  readonly isReplacement?: boolean
}

/** Counts a value that an operation adds at the path. */
function broughtIn(patching: Patching, keys: readonly string[], value: unknown): Operand & { size: JsonSize } {
  const { bytes: max, depth } = PATCH_LIMITS
  const size =
    sizeOf(value, { bytes: max - patching.broughtIn, depth: depth - keys.length }) ??
    exceed(`the patch adds more than ${max} bytes, or nests the document deeper than ${depth}`)
  patching.broughtIn += size.bytes
  return { value, bytes: size.bytes, size }
}

function move(patching: Patching, { path, from }: JsonPatchStep, keys: readonly string[]): void {
  const source = keysOf(from)
  if (path.startsWith(`${from}/`)) refuse(`${from} cannot move into itself`)
  const value = read(patching.document.value, source)
  const { bytes, depth } = PATCH_LIMITS
  if (keys.length > source.length) {
    const size = sizeOf(value, { bytes: 2 * bytes, depth: depth - keys.length })
    work(patching, BYTE_WORK * (size ?? exceed(`the patch nests the document deeper than ${depth}`)).bytes)
  }
  if (keys.length > 0) take(patching, source, true)
  put(patching, keys, { value, bytes: keys.length > 0 ? 0 : measured(value) })
}

/** The keys of a JSON Pointer (RFC 6901). */
function keysOf(pointer: string | undefined): readonly string[] {
  if (pointer === '') return []
  if (!pointer?.startsWith('/')) return refuse(`${JSON.stringify(pointer)} is not a JSON Pointer`)
  const keys = pointer.slice(1).split('/')
  if (keys.length > PATCH_LIMITS.depth) {
    return exceed(`a path has ${keys.length} keys; at most ${PATCH_LIMITS.depth} are allowed`)
  }
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const missing = (keys: readonly string[]): never => refuse(`/${keys.join('/')} does not exist`)

function read(document: unknown, keys: readonly string[]): unknown {
  let value = document
  for (const key of keys) value = isParent(value) ? childOf(value, key, keys) : missing(keys)
  return value
}

function childOf(parent: Parent, key: string, path: readonly string[]): unknown {
  if (Array.isArray(parent)) return parent[indexIn(parent, key, parent.length - 1)]
  return Object.hasOwn(parent, key) ? parent[key] : missing(path)
}

function put(patching: Patching, keys: readonly string[], operand: Operand): void {
  const { value, bytes, isReplacement = false } = operand
  const key = keys.at(-1)
  if (key === undefined) {
    patching.bytes = bytes
    setDocument(patching, value)
    return
  }
  const parent = parentOf(patching, keys)
  if (!Array.isArray(parent)) {
    const before = Object.hasOwn(parent, key) ? measured(parent[key]) : undefined
    patching.bytes += bytes + (before === undefined ? memberBytes(key) : -before)
    change(patching, parent, { kind: 'set', keys, value }, before)
    return
  }
  const index = key === '-' && !isReplacement ? parent.length : indexIn(parent, key, parent.length)
  const path = [...keys.slice(0, -1), String(index)]
  if (isReplacement) {
    const before = measured(parent[index])
    patching.bytes += bytes - before
    change(patching, parent, { kind: 'set', keys: path, value }, before)
    return
  }
  patching.bytes += bytes + ITEM_BYTES
  work(patching, parent.length - index)
  change(patching, parent, { kind: 'insert', keys: path, value })
}

/** Removes the value at the path. `moved`: it stays in the document, so its size does not matter. */
function take(patching: Patching, keys: readonly string[], moved = false): void {
  const value = read(patching.document.value, keys)
  const key = keys.at(-1)
  if (key === undefined) {
    patching.bytes = measured(null)
    setDocument(patching, null)
    return
  }
  const parent = parentOf(patching, keys)
  const bytes = moved ? 0 : measured(value)
  patching.bytes -= bytes + (Array.isArray(parent) ? ITEM_BYTES : memberBytes(key))
  if (Array.isArray(parent)) work(patching, parent.length - indexIn(parent, key, parent.length - 1))
  change(patching, parent, { kind: 'remove', keys }, bytes)
}

/** @param bytes size of the value that the change removes */
function change(patching: Patching, parent: Parent, made: Change, bytes = 0): void {
  keepInverse(patching, changeIn(parent, made.keys.at(-1) ?? '', made))
  patching.document.kept += 1 + bytes / KEPT_BYTES
  if (!Array.isArray(parent)) noteMembers(patching.document, parent, membersOf(parent))
}

/** A change that keeps a value of this size counts twice. */
const KEPT_BYTES = 64

function setDocument(patching: Patching, value: unknown): void {
  const { document } = patching
  keepInverse(patching, { kind: 'set', keys: [], value: document.value })
  document.value = value
  document.kept += 1
}

/** The object or list of the last key. It and everything above it may be changed in place. */
function parentOf(patching: Patching, keys: readonly string[]): Parent {
  let parent = owned(patching, patching.document.value) ?? missing(keys)
  patching.document.value = parent
  for (const key of keys.slice(0, -1)) {
    const known = childOf(parent, key, keys)
    const child = owned(patching, known) ?? missing(keys)
    if (child !== known) {
      if (Array.isArray(parent)) parent[indexIn(parent, key, parent.length - 1)] = child
      else setOwnMember(parent, key, child)
    }
    parent = child
  }
  return parent
}

function indexIn(list: readonly unknown[], key: string, last: number): number {
  const index = /^(0|[1-9]\d{0,9})$/.test(key) ? Number(key) : -1
  return index >= 0 && index <= last ? index : refuse(`${key} is not an index of a list with ${list.length} items`)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isParent(value) && !Array.isArray(value)

function isEqual(patching: Patching, one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, index) => isEqual(patching, value, other[index]))
  }
  if (!isObject(one) || !isObject(other)) return false
  const length = membersOf(one)
  work(patching, MEMBER_WORK * length)
  const isSame = (name: string) => Object.hasOwn(other, name) && isEqual(patching, one[name], other[name])
  return length === Object.keys(other).length && Object.keys(one).every(isSame)
}

import * as v from 'valibot'
import { ITEM_BYTES, type JsonSize, memberBytes } from './json-size.ts'
import {
  BYTE_WORK,
  bytesOf,
  copyOf,
  exceed,
  isParent,
  MEMBER_WORK,
  measured,
  owned,
  PATCH_LIMITS,
  type Parent,
  type Patching,
  Refusal,
  refuse,
  remember,
  setMember,
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

/**
 * The document after the patch and its size, or why the patch does not apply to it. `exceeds`: the patch goes beyond a limit of
 * `PATCH_LIMITS`; otherwise it may apply to another document.
 */
export type Patched =
  | { readonly ok: true; readonly value: unknown; readonly bytes: number }
  | { readonly ok: false; readonly problem: string; readonly exceeds: boolean }

/**
 * Applies a JSON Patch to a JSON value without changing the value. All operations apply, or none.
 */
export function applyJsonPatch(document: unknown, patch: unknown): Patched {
  try {
    if (Array.isArray(patch) && patch.length > PATCH_LIMITS.operations) {
      exceed(`the patch has ${patch.length} operations; at most ${PATCH_LIMITS.operations} are allowed`)
    }
    if (!v.is(PATCH, patch)) refuse('the patch must be a list of JSON Patch operations')
    const patching: Patching = { document, bytes: bytesOf(document), broughtIn: 0, work: 0, own: new Set() }
    for (const step of patch as JsonPatch) APPLY[step.op](patching, step, keysOf(step.path))
    if (patching.bytes > PATCH_LIMITS.bytes) exceed(`the patched document is longer than ${PATCH_LIMITS.bytes} bytes`)
    remember(patching)
    return { ok: true, value: patching.document, bytes: patching.bytes }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { ok: false, problem, exceeds: error instanceof Refusal && error.exceeds }
  }
}

const PATCH = v.array(JsonPatchOperation)

type Apply = (patching: Patching, step: JsonPatchStep, keys: readonly string[]) => void

const APPLY: Readonly<Record<JsonPatchStep['op'], Apply>> = {
  add: (patching, step, keys) => put(patching, keys, broughtIn(patching, keys, operandOf(step))),
  remove: (patching, _, keys) => take(patching, keys),
  replace(patching, step, keys) {
    read(patching.document, keys)
    put(patching, keys, { ...broughtIn(patching, keys, operandOf(step)), isReplacement: true })
  },
  move,
  copy(patching, { from }, keys) {
    const brought = broughtIn(patching, keys, read(patching.document, keysOf(from)))
    put(patching, keys, { ...brought, value: copyOf(patching, brought.value, brought.size) })
  },
  test(patching, { path, value }, keys) {
    if (!isEqual(patching, read(patching.document, keys), value)) refuse(`the test of ${path} fails`)
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
  const value = read(patching.document, source)
  const { bytes, depth } = PATCH_LIMITS
  if (keys.length > source.length) {
    const size = sizeOf(value, { bytes: 2 * bytes, depth: depth - keys.length })
    work(patching, BYTE_WORK * (size ?? exceed(`the patch nests the document deeper than ${depth}`)).bytes)
  }
  if (keys.length > 0) take(patching, source, 0)
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
    patching.document = value
    patching.bytes = bytes
    return
  }
  const parent = parentOf(patching, keys)
  if (Array.isArray(parent)) {
    const index = key === '-' && !isReplacement ? parent.length : indexIn(parent, key, parent.length)
    patching.bytes += bytes + (isReplacement ? -measured(parent[index]) : ITEM_BYTES)
    if (!isReplacement) work(patching, parent.length - index)
    parent.splice(index, isReplacement ? 1 : 0, value)
    return
  }
  const isNew = !Object.hasOwn(parent, key)
  patching.bytes += bytes + (isNew ? memberBytes(key) : -measured(parent[key]))
  setMember(parent, key, value)
}

/** Removes the value at the path. `bytes`: its size, unless it must be measured. */
function take(patching: Patching, keys: readonly string[], bytes?: number): void {
  const value = read(patching.document, keys)
  const key = keys.at(-1)
  if (key === undefined) {
    patching.document = null
    patching.bytes = measured(null)
    return
  }
  const parent = parentOf(patching, keys)
  patching.bytes -= (bytes ?? measured(value)) + (Array.isArray(parent) ? ITEM_BYTES : memberBytes(key))
  if (Array.isArray(parent)) {
    const index = indexIn(parent, key, parent.length - 1)
    work(patching, parent.length - index)
    parent.splice(index, 1)
  } else delete parent[key]
}

/** The object or list of the last key. It and everything above it may be changed in place. */
function parentOf(patching: Patching, keys: readonly string[]): Parent {
  let parent = owned(patching, patching.document) ?? missing(keys)
  patching.document = parent
  for (const key of keys.slice(0, -1)) {
    const child = owned(patching, childOf(parent, key, keys)) ?? missing(keys)
    if (Array.isArray(parent)) parent[indexIn(parent, key, parent.length - 1)] = child
    else setMember(parent, key, child)
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
  const names = Object.keys(one)
  work(patching, MEMBER_WORK * names.length)
  const isSame = (name: string) => Object.hasOwn(other, name) && isEqual(patching, one[name], other[name])
  return names.length === Object.keys(other).length && names.every(isSame)
}

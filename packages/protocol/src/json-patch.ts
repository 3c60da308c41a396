import * as v from 'valibot'

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

/** The document after the patch, or why the patch does not apply to it. */
export type Patched = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string }

/**
 * Applies a JSON Patch to a JSON value without changing the value. All operations apply, or none.
 */
export function applyJsonPatch(document: unknown, patch: unknown): Patched {
  if (!v.is(PATCH, patch)) return { ok: false, problem: 'the patch must be a list of JSON Patch operations' }
  try {
    return { ok: true, value: (patch as JsonPatch).reduce<unknown>(applyStep, document) }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) }
  }
}

const PATCH = v.array(JsonPatchOperation)

const refuse = (problem: string): never => {
  throw new Error(problem)
}

function applyStep(document: unknown, step: JsonPatchStep): unknown {
  const { op, path, value } = step
  const keys = keysOf(path)
  switch (op) {
    case 'add':
      return add(document, keys, operandOf(step))
    case 'remove':
      return remove(document, keys)
    case 'replace':
      read(document, keys)
      return keys.length === 0 ? operandOf(step) : add(remove(document, keys), keys, operandOf(step))
    case 'move':
      return move(document, step, keys)
    case 'copy':
      return add(document, keys, read(document, keysOf(step.from)))
    case 'test':
      return isEqual(read(document, keys), value) ? document : refuse(`the test of ${path} fails`)
  }
}

const operandOf = (step: JsonPatchStep): unknown =>
  Object.hasOwn(step, 'value') ? step.value : refuse(`${step.op} ${step.path} has no value`)

function move(document: unknown, { path, from }: JsonPatchStep, keys: readonly string[]): unknown {
  const source = keysOf(from)
  if (path.startsWith(`${from}/`)) refuse(`${from} cannot move into itself`)
  return add(remove(document, source), keys, read(document, source))
}

/** The keys of a JSON Pointer (RFC 6901). */
function keysOf(pointer: string | undefined): readonly string[] {
  if (pointer === '') return []
  if (!pointer?.startsWith('/')) return refuse(`${JSON.stringify(pointer)} is not a JSON Pointer`)
  return pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const missing = (keys: readonly string[]): never => refuse(`/${keys.join('/')} does not exist`)

function read(document: unknown, keys: readonly string[]): unknown {
  let value = document
  for (const key of keys) {
    if (Array.isArray(value)) value = value[indexIn(value, key, value.length - 1)]
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key]
    else return missing(keys)
  }
  return value
}

function add(document: unknown, keys: readonly string[], value: unknown): unknown {
  return change(
    document,
    keys,
    (parent, key) => {
      if (!Array.isArray(parent)) return withMember(parent, key, value)
      return parent.toSpliced(key === '-' ? parent.length : indexIn(parent, key, parent.length), 0, value)
    },
    value,
  )
}

function remove(document: unknown, keys: readonly string[]): unknown {
  read(document, keys)
  return change(
    document,
    keys,
    (parent, key) => {
      if (Array.isArray(parent)) return parent.toSpliced(indexIn(parent, key, parent.length - 1), 1)
      const { [key]: _, ...rest } = parent as Readonly<Record<string, unknown>>
      return rest
    },
    null,
  )
}

type Parent = Readonly<Record<string, unknown>> | readonly unknown[]

/** Copies the values on the path, and replaces the parent of the last key. */
function change(
  document: unknown,
  keys: readonly string[],
  edit: (parent: Parent, key: string) => unknown,
  whole: unknown,
): unknown {
  const [key, ...rest] = keys
  if (key === undefined) return whole
  if (!Array.isArray(document) && !isObject(document)) return missing(keys)
  if (rest.length === 0) return edit(document, key)
  if (!Array.isArray(document)) {
    if (!Object.hasOwn(document, key)) return missing(keys)
    return withMember(document, key, change((document as Record<string, unknown>)[key], rest, edit, whole))
  }
  const index = indexIn(document, key, document.length - 1)
  return document.with(index, change(document[index], rest, edit, whole))
}

/** Also for the key `__proto__`, which a literal would not store. */
function withMember(parent: Parent, key: string, value: unknown): unknown {
  const copy = { ...parent }
  Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true })
  return copy
}

function indexIn(list: readonly unknown[], key: string, last: number): number {
  const index = /^(0|[1-9]\d{0,9})$/.test(key) ? Number(key) : -1
  return index >= 0 && index <= last ? index : refuse(`${key} is not an index of a list with ${list.length} items`)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, index) => isEqual(value, other[index]))
  }
  if (!isObject(one) || !isObject(other)) return false
  const names = Object.keys(one)
  const isSame = (name: string) => Object.hasOwn(other, name) && isEqual(one[name], other[name])
  return names.length === Object.keys(other).length && names.every(isSame)
}

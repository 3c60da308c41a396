import type { StandardSchemaV1 } from './standard-schema.ts'

type Issue = StandardSchemaV1.Issue

const MAX_PROBLEMS = 10

/** The issues of a schema as one text, each with the path of its member. */
export const problemsText = (root: string, issues: readonly Issue[]): string =>
  issues.map(({ message, path }) => `${root}${pathText(path)}: ${message}`).join('; ')

/** Like `problemsText`, at most ten issues, and without the strings and long numbers of the rejected value. */
export function problemsTextWithoutValues(root: string, issues: readonly Issue[], rejected: unknown): string {
  const named = issues.slice(0, MAX_PROBLEMS).map(({ message, path = [] }) => ({
    path,
    message: withoutValue(message, valueAt(rejected, path)),
  }))
  const more = issues.length - named.length
  return problemsText(root, named) + (more === 0 ? '' : `; and ${more} more ${more === 1 ? 'problem' : 'problems'}`)
}

type Path = NonNullable<Issue['path']>

const keyOf = (part: Path[number]): PropertyKey => (typeof part === 'object' ? part.key : part)

const pathText = (path: Path = []) => path.map((part) => `.${String(keyOf(part))}`).join('')

function valueAt(root: unknown, path: Path): unknown {
  let value = root
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<PropertyKey, unknown>)[keyOf(part)]
  }
  return value
}

/**
 * A shorter text, such as `id` or `7`, is removed only where it is quoted, because the message itself may contain it.
 */
const MIN_BARE_LENGTH = 4
const MAX_PARTS = 1_000

/** Schema libraries repeat the value, or parts of it, in their messages. */
function withoutValue(message: string, value: unknown): string {
  const parts = new Set<string>()
  if (!collectParts(value, parts)) return 'does not match the schema'
  const forms = [...parts].flatMap((part) => [
    ...[JSON.stringify(part), `"${part}"`, `'${part}'`],
    ...(part.length < MIN_BARE_LENGTH ? [] : [JSON.stringify(part).slice(1, -1), part]),
  ])
  return forms.toSorted((a, b) => b.length - a.length).reduce((text, form) => text.replaceAll(form, '…'), message)
}

/** @returns false when the value has too many parts */
function collectParts(value: unknown, parts: Set<string>, depth = 0): boolean {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') parts.add(String(value))
  if (typeof value !== 'object' || value === null) return parts.size <= MAX_PARTS
  if (depth > 20) return false
  return Object.values(value).every((member) => collectParts(member, parts, depth + 1))
}

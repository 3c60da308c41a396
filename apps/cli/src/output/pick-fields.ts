import { isPlainObject } from '@perdure/protocol'

/** The members that `--json=a,b.c` names, at their places; of a page, of each of its items. One alone is still an object. */
export function pickFields(value: unknown, fields: readonly string[] | undefined): unknown {
  if (fields === undefined || !isPlainObject(value)) return value
  return Object.fromEntries(
    fields.flatMap((field) => {
      const found = memberAt(value, field)
      return found === undefined ? [] : [[field, found]]
    }),
  )
}

const memberAt = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((at, name) => (isPlainObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value)

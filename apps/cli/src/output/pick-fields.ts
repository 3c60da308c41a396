import { isPlainObject } from '@perdure/protocol'

/** Keeps the fields that `--json=a,b.c` names, each under its dotted path. */
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

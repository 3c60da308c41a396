import * as v from 'valibot'

/**
 * Whether the value is an object as a literal or `JSON.parse` creates it: not an array, `Map`, `Date` or class
 * instance.
 */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** `v.strictObject` for plain objects only; the original accepts an array too when every entry is optional. */
export const strictObject = <const Entries extends v.ObjectEntries>(
  entries: Entries,
): v.StrictObjectSchema<Entries, undefined> => plainOnly(v.strictObject(entries))

/** `v.record` for plain objects only; the original accepts an array too. */
export const record = <
  const Key extends v.BaseSchema<string, string, v.BaseIssue<unknown>>,
  const Value extends v.GenericSchema,
>(
  key: Key,
  value: Value,
): v.RecordSchema<Key, Value, undefined> => plainOnly(v.record(key, value))

/** Mutates the schema, which must not be shared yet. */
function plainOnly<Schema extends v.GenericSchema>(schema: Schema): Schema {
  const run = schema['~run']
  const runOnPlain: typeof run = function (this: Schema, dataset, config) {
    if (isPlainObject(dataset.value)) return run.call(this, dataset, config)
    v._addIssue(this, 'type', dataset, config)
    return dataset as unknown as ReturnType<typeof run>
  }
  return Object.assign(schema, { '~run': runOnPlain })
}

import * as v from 'valibot'
import { strictObject } from '../plain-object.ts'

/** The description of a field on the reference page and in `--help`. */
export interface FieldNote {
  readonly note: string
}

/** A field with a default. */
export const field = <Schema extends v.GenericSchema, const Default extends v.InferInput<Schema> | undefined>(
  schema: Schema,
  fallback: Default,
  note: FieldNote,
) => v.optional(v.pipe(schema, v.metadata({ ...note })), fallback as never)

/** A field without a default. */
export const optionalField = <Schema extends v.GenericSchema>(schema: Schema, note: FieldNote) =>
  v.optional(v.pipe(schema, v.metadata({ ...note })))

/** A group of fields; every section may be omitted. */
export const section = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.optional(strictObject(entries), {} as never)

import type * as v from 'valibot'

/** A schema that the documents list under a name. */
export interface NamedSchema {
  readonly schema: v.GenericSchema
  readonly description: string
  /** Descriptions of the members of an object. */
  readonly members?: Readonly<Record<string, string>>
  /** A value that the schema accepts. */
  readonly example: unknown
}

export type NamedSchemas = Readonly<Record<string, NamedSchema>>

type ObjectSchema = v.GenericSchema & { readonly entries: v.ObjectEntries }

/** Describes an object and each of its members. */
export const namedObject = <Schema extends ObjectSchema>(
  schema: Schema,
  documentation: {
    readonly description: string
    readonly members: { readonly [Name in keyof Schema['entries'] & string]: string }
    readonly example: v.InferInput<Schema>
  },
) => ({ schema, ...documentation })

/** Describes a schema without members: an enumeration, a union or a map. */
export const namedValue = <Schema extends v.GenericSchema>(
  schema: Schema,
  documentation: { readonly description: string; readonly example: v.InferInput<Schema> },
) => ({ schema, ...documentation })

import type * as v from 'valibot'

declare const DESCRIBED: unique symbol
declare const DOCUMENTED: unique symbol

/** A schema that `member` has described. */
export interface Described {
  readonly [DESCRIBED]: true
}

/** A schema that `documented` has described. */
export interface Documented {
  readonly [DOCUMENTED]: true
}

interface Member {
  readonly schema: v.GenericSchema
  readonly description: string
}

interface Documentation {
  readonly description: string
  /** A value that the schema accepts. */
  readonly example: unknown
}

const members = new WeakMap<object, Member>()
const documentation = new WeakMap<object, Documentation>()

/** Describes a member of an object. Returns a copy of the schema, because other members may have the same one. */
export function member<Schema extends v.GenericSchema>(schema: Schema, description: string): Schema & Described {
  const copy = { ...schema } as Schema & Described
  members.set(copy, { schema: memberOf(schema)?.schema ?? schema, description })
  return copy
}

/** The description of a member, and the schema of which it is a copy. */
export const memberOf = (schema: v.GenericSchema): Member | undefined => members.get(schema)

type WithMembers<Schema> = Schema extends { readonly entries: infer Entries }
  ? { readonly entries: { readonly [Name in keyof Entries]: Described } }
  : unknown

/** Describes a schema that the documents list under the name of its export. Its members must be described. */
export function documented<const Schema extends v.GenericSchema>(
  schema: Schema & WithMembers<Schema>,
  description: string,
  example: v.InferInput<Schema>,
): Schema & Documented {
  documentation.set(schema, { description, example })
  return schema as unknown as Schema & Documented
}

export const documentationOf = (schema: v.GenericSchema): Documentation | undefined => documentation.get(schema)

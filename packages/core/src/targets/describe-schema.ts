import type { JsonSchemaConverter, StandardSchemaV1 } from './standard-schema.ts'

/** The side of a schema: the values that it accepts (`input`), or those that it returns (`output`). */
export type SchemaSide = 'input' | 'output'

/** A JSON Schema of the version 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Converts a schema of a library without Standard JSON Schema; `undefined` or an exception if it cannot. */
export type ConvertSchema = (schema: StandardSchemaV1, side: SchemaSide) => JsonSchema | undefined

/** The JSON Schema of a registered schema; `undefined` if the library of the schema offers none. Never throws. */
export type DescribeSchema = (schema: StandardSchemaV1 | undefined, side: SchemaSide) => JsonSchema | undefined

/** Makes zod and arktype describe what JSON Schema cannot express as any value, instead of throwing. */
const LIBRARY_OPTIONS = { unrepresentable: 'any', fallback: ({ base }: { readonly base: object }) => base }

export function createDescribeSchema(convert?: ConvertSchema): DescribeSchema {
  const described = new WeakMap<object, Partial<Record<SchemaSide, JsonSchema | null>>>()
  return (schema, side) => {
    if (schema === undefined) return undefined
    const known = described.get(schema) ?? {}
    if (known[side] === undefined) {
      known[side] = describe(schema, side, convert) ?? null
      described.set(schema, known)
    }
    return known[side] ?? undefined
  }
}

function describe(schema: StandardSchemaV1, side: SchemaSide, convert?: ConvertSchema): JsonSchema | undefined {
  try {
    const { jsonSchema } = schema['~standard'] as { readonly jsonSchema?: JsonSchemaConverter }
    const standard = jsonSchema?.[side]({ target: 'draft-2020-12', libraryOptions: LIBRARY_OPTIONS })
    const found = standard ?? convert?.(schema, side)
    // Only a copy is certain to be JSON.
    return found === undefined ? undefined : JSON.parse(JSON.stringify(found))
  } catch {
    return undefined
  }
}

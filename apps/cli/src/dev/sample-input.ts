import type { AgentRegistration } from '@perdure/core'
import { isPlainObject } from '@perdure/protocol'

/** A Standard Schema. */
type InputSchema = NonNullable<AgentRegistration['input']>
type JsonSchema = Readonly<Record<string, unknown>>

/** An example input that the target accepts. */
export interface Sample {
  /** An input that the schema of the target accepts; `undefined` if none was found. */
  readonly input: unknown
}

const MAX_DEPTH = 8

/**
 * An input that `schema` accepts, built from its JSON Schema if the library provides one, otherwise one of `usual`.
 * Without a schema, the first of `usual`.
 */
export async function sampleInput(schema: InputSchema | undefined, usual: readonly unknown[]): Promise<Sample> {
  if (schema === undefined) return { input: usual[0] }
  const document = await jsonSchemaOf(schema).catch(() => undefined)
  const candidates =
    document === undefined ? usual : [exampleOf(document, { root: document, depth: 0, name: 'text' }), ...usual]
  for (const input of candidates) if (await accepts(schema, input)) return { input }
  return { input: undefined }
}

async function accepts(schema: InputSchema, input: unknown): Promise<boolean> {
  try {
    return input !== undefined && (await schema['~standard'].validate(structuredClone(input))).issues === undefined
  } catch {
    return false
  }
}

/** Standard JSON Schema, which zod and arktype implement; valibot has a converter of its own. */
async function jsonSchemaOf(schema: InputSchema): Promise<JsonSchema | undefined> {
  const standard: { readonly vendor: string; readonly jsonSchema?: { input(options: object): unknown } } =
    schema['~standard']
  if (standard.jsonSchema !== undefined) return objectOf(standard.jsonSchema.input({ target: 'draft-2020-12' }))
  if (standard.vendor !== 'valibot') return undefined
  const { toJsonSchema } = await import('@valibot/to-json-schema')
  return objectOf(toJsonSchema(schema as never, { typeMode: 'input', errorMode: 'ignore' }))
}

const objectOf = (value: unknown): JsonSchema | undefined => (isPlainObject(value) ? value : undefined)

interface Position {
  readonly root: JsonSchema
  readonly depth: number
  /** Name of the member that the value is for. */
  readonly name: string
}

function exampleOf(schema: unknown, at: Position): unknown {
  if (!isPlainObject(schema) || at.depth > MAX_DEPTH) return at.name
  const below = { ...at, depth: at.depth + 1 }
  const [example] = Array.isArray(schema.examples) ? schema.examples : []
  const [member] = Array.isArray(schema.enum) ? schema.enum : []
  const given = [schema.const, schema.default, example, member].find((value) => value !== undefined)
  if (given !== undefined) return given
  const [variant] = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray) ?? []
  if (variant !== undefined) return exampleOf(variant, below)
  if (typeof schema.$ref === 'string') return exampleOf(referenced(at.root, schema.$ref), below)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  const make = typeof type === 'string' && Object.hasOwn(BY_TYPE, type) ? BY_TYPE[type] : undefined
  return make === undefined
    ? schema.properties === undefined
      ? at.name
      : objectValue(schema, below)
    : make(schema, below)
}

const BY_TYPE: Readonly<Record<string, (schema: JsonSchema, at: Position) => unknown>> = {
  object: objectValue,
  array: ({ items, minItems }, at) =>
    Array.from({ length: Math.max(1, numberOr(minItems, 1)) }, () => exampleOf(items, at)),
  string: stringValue,
  number: numberValue,
  integer: numberValue,
  boolean: () => true,
  null: () => null,
}

function objectValue({ properties, required }: JsonSchema, at: Position): unknown {
  if (!isPlainObject(properties)) return {}
  const names = Array.isArray(required) ? required.map(String) : []
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name], { ...at, name })]))
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'ann@example.com',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
  date: '2030-01-31',
  'date-time': '2030-01-31T09:30:00Z',
}

function stringValue({ format, minLength }: JsonSchema, { name }: Position): string {
  const known = typeof format === 'string' ? FORMATS[format] : undefined
  return known ?? name.padEnd(numberOr(minLength, 0), '.')
}

function numberValue({ minimum, exclusiveMinimum, maximum }: JsonSchema): number {
  const least = Math.max(numberOr(minimum, 1), numberOr(exclusiveMinimum, 0) + 1)
  return Math.min(least, numberOr(maximum, least))
}

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise)

/** Resolves `#/$defs/name`. */
const referenced = (root: JsonSchema, reference: string): unknown =>
  reference
    .split('/')
    .slice(1)
    .reduce<unknown>((value, name) => (isPlainObject(value) ? value[name] : undefined), root)

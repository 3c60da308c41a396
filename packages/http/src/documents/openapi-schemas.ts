import {
  documentationOf,
  memberOf,
  type NamedSchema,
  type NamedSchemas,
  type Operation,
  type ResponseSpec,
  SCHEMAS,
} from '@perdure/protocol'
import { type ConversionConfig, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { componentRef, type Json } from './openapi-json.ts'

/** The named schemas of a document. */
export interface SchemaComponents {
  readonly schemas: Json
  /** The example of each schema that is a body, by the name of the schema. */
  readonly examples: Json
  /** @throws Error if the schema is not in `SCHEMAS` */
  nameOf(schema: GenericSchema): string
  descriptionOf(name: string): string
  /** The query parameters of an operation, by name. */
  queryOf(operation: Operation): Query
}

export interface Query {
  readonly properties: Readonly<Record<string, Json>>
  readonly required: readonly string[]
}

interface ListSchema {
  readonly entries: { readonly items: { readonly item: GenericSchema } }
}

const CONVERSION: ConversionConfig = {
  target: 'draft-2020-12',
  errorMode: 'ignore',
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId.replace(/#.*/, '')}`,
}

/** Converts the named schemas, and the lists and queries of the operations. */
export function schemaComponents(operations: readonly Operation[]): SchemaComponents {
  const names = new Map(Object.entries(SCHEMAS).map(([name, { schema }]) => [schema, name]))
  const bodies = operations.flatMap(({ body, responses }) => [
    ...(body === undefined ? [] : [body]),
    ...Object.values<ResponseSpec>(responses).flatMap(({ schema }) => schema ?? []),
  ])
  const lists: Record<string, NamedSchema> = {}
  for (const schema of bodies.filter((schema) => !names.has(schema))) {
    const item = itemOf(schema)
    const itemName = item === undefined ? undefined : names.get(item)
    if (itemName === undefined) throw new Error(`a body of the type ${schema.type} is missing in SCHEMAS`)
    const name = `${itemName.replace(/^Listed/, '')}List`
    lists[name] ??= { schema, ...(documentationOf(schema) as Omit<NamedSchema, 'schema'>) }
    names.set(schema, name)
  }
  const named: NamedSchemas = { ...SCHEMAS, ...lists }
  const queries = queriesOf(operations)
  const nameOf = (schema: GenericSchema): string => names.get(schema) ?? ''
  return {
    schemas: convert(named),
    examples: Object.fromEntries(
      [...new Set(bodies.map(nameOf)), 'EventEnvelope'].map((name) => [name, { value: named[name]?.example }]),
    ),
    nameOf,
    descriptionOf: (name) => named[name]?.description ?? '',
    queryOf: ({ id }) => (queries[id] ?? { properties: {}, required: [] }) as unknown as Query,
  }
}

/** The schema of the items of a list. */
function itemOf(schema: GenericSchema): GenericSchema | undefined {
  return 'entries' in schema && 'nextCursor' in (schema.entries as object)
    ? (schema as GenericSchema & ListSchema).entries.items.item
    : undefined
}

const entriesOf = (schema: GenericSchema): Readonly<Record<string, GenericSchema>> =>
  'entries' in schema ? (schema.entries as Readonly<Record<string, GenericSchema>>) : {}

/**
 * Converts schemas that refer to each other by name. A described member is a copy of its schema, which the converter does
 * not recognize; so a copy of a named schema is converted too, and its references lead to that schema.
 */
function convertAll(schemas: Readonly<Record<string, GenericSchema>>, typeMode: 'input' | 'output') {
  const names = new Map(Object.entries(schemas).map(([name, schema]) => [schema, name]))
  const copies = Object.values(schemas).flatMap((schema) =>
    Object.values(entriesOf(schema)).flatMap((entry) => {
      const original = memberOf(entry)?.schema
      const name = original && names.get(original)
      return name === undefined ? [] : [[name, entry] as const]
    }),
  )
  const definitions = copies.map(([name, copy], index) => [`${name}#${index}`, copy])
  return toJsonSchemaDefs({ ...schemas, ...Object.fromEntries(definitions) }, { ...CONVERSION, typeMode }) as Readonly<
    Record<string, Json>
  >
}

const schemasOf = (named: NamedSchemas) =>
  Object.fromEntries(Object.entries(named).map(([name, { schema }]) => [name, schema]))

function convert(named: NamedSchemas): Json {
  const converted = convertAll(schemasOf(named), 'input')
  return Object.fromEntries(
    Object.entries(named).map(([name, { schema, description }]) => {
      const { properties = {}, required, ...rest } = converted[name] as Json & Partial<Query>
      const entries = entriesOf(schema)
      const described = Object.entries(properties).map(([member, property]) => [
        member,
        { ...property, description: entries[member] && memberOf(entries[member])?.description },
      ])
      return [
        name,
        {
          ...rest,
          description,
          ...(described.length === 0 ? {} : { properties: Object.fromEntries(described) }),
          ...(required === undefined || required.length === 0 ? {} : { required }),
          ...discriminatorOf(schema, rest.oneOf),
        },
      ]
    }),
  )
}

interface Variant {
  readonly type: 'variant'
  readonly key: string
  readonly options: ReadonlyArray<{
    readonly entries: Readonly<Record<string, { readonly literal?: unknown } | undefined>>
  }>
}

/** A discriminator needs strings: OpenAPI cannot map other values. */
function discriminatorOf(schema: GenericSchema, refs: unknown): Json {
  if (schema.type !== 'variant') return {}
  const { key, options } = schema as GenericSchema & Variant
  const values = options.map(({ entries }) => entries[key]?.literal)
  if (!values.every((value) => typeof value === 'string')) return {}
  const targets = (refs as ReadonlyArray<{ readonly $ref: string }>).map(({ $ref }) => $ref)
  return {
    discriminator: {
      propertyName: key,
      mapping: Object.fromEntries(values.map((value, index) => [value, targets[index]])),
    },
  }
}

/** The queries by the id of their operation, as they are after parsing: numbers instead of digits, lists instead of texts. */
function queriesOf(operations: readonly Operation[]): Readonly<Record<string, Json>> {
  const queries = operations.flatMap(({ id, query }) => (query === undefined ? [] : [[id, query] as const]))
  return convertAll({ ...schemasOf(SCHEMAS), ...Object.fromEntries(queries) }, 'output')
}

/** The content of a body: its schema and its example. */
export const contentOf = (name: string): Json => ({
  schema: componentRef('schemas', name),
  examples: { [name]: componentRef('examples', name) },
})

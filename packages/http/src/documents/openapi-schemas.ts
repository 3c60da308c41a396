import { type NamedSchema, type NamedSchemas, type Operation, type ResponseSpec, SCHEMAS } from '@perdure/protocol'
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
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
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
    lists[name] ??= listSchema(schema, SCHEMAS[itemName]?.example)
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

const listSchema = (schema: GenericSchema, example: unknown): NamedSchema => ({
  schema,
  description: 'A page of a list.',
  members: {
    items: 'The items of the page.',
    nextCursor: 'Value of the parameter `cursor` for the next page; null when this page is the last.',
  },
  example: { items: [example], nextCursor: null },
})

function convert(named: NamedSchemas): Json {
  const schemas = Object.fromEntries(Object.entries(named).map(([name, { schema }]) => [name, schema]))
  const converted = toJsonSchemaDefs(schemas, { ...CONVERSION, typeMode: 'input' }) as Readonly<Record<string, Json>>
  return Object.fromEntries(
    Object.entries(named).map(([name, { schema, description, members = {} }]) => {
      const { properties = {}, required, ...rest } = converted[name] as Json & Partial<Query>
      const described = Object.entries(properties).map(([member, property]) => [
        member,
        { ...property, description: members[member] },
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
  const schemas = Object.entries(SCHEMAS).map(([name, { schema }]) => [name, schema] as const)
  return toJsonSchemaDefs(Object.fromEntries([...schemas, ...queries]), {
    ...CONVERSION,
    typeMode: 'output',
  }) as Readonly<Record<string, Json>>
}

/** The content of a body: its schema and its example. */
export const contentOf = (name: string): Json => ({
  schema: componentRef('schemas', name),
  examples: { [name]: componentRef('examples', name) },
})

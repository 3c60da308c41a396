/** The part of a JSON Schema that an example is built from. */
export interface ExampleSchema {
  readonly type?: unknown
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly ExampleSchema[]
  readonly oneOf?: readonly ExampleSchema[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, ExampleSchema>>
}

const VALUES: Readonly<Record<string, unknown>> = {
  ...{ string: 'text', number: 1, integer: 1, boolean: true, array: [], object: {} },
}

/** A value of the form that the schema describes, with its required members. */
export function inputExample(schema: ExampleSchema): unknown {
  const [given] = [...(schema.examples ?? []), schema.default, schema.const, ...(schema.enum ?? [])].filter(
    (value) => value !== undefined,
  )
  if (given !== undefined) return given
  const [first] = schema.anyOf ?? schema.oneOf ?? []
  if (first !== undefined) return inputExample(first)
  const { properties, required = [] } = schema
  if (properties === undefined) return VALUES[String(schema.type)] ?? null
  return Object.fromEntries(required.map((name) => [name, inputExample(properties[name] ?? {})]))
}

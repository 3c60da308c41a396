/** The part of JSON Schema that `exampleOf` uses. */
export interface ExampleSchema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly ExampleSchema[]
  readonly oneOf?: readonly ExampleSchema[]
  readonly properties?: Readonly<Record<string, ExampleSchema>>
  readonly required?: readonly string[]
  readonly items?: ExampleSchema
  readonly default?: unknown
  readonly minimum?: number
}

/** A minimal example value. An object gets its required members, or its first member if none is required. */
export function exampleOf(schema: ExampleSchema): unknown {
  if (schema.default !== undefined) return schema.default
  if ('const' in schema) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const [option] = schema.anyOf ?? schema.oneOf ?? []
  if (option !== undefined) return exampleOf(option)
  if (schema.properties !== undefined) return exampleObject(schema)
  return plainExample(schema)
}

function exampleObject({ properties = {}, required = [] }: ExampleSchema): unknown {
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1)
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] ?? {})]))
}

function plainExample({ type, items, minimum }: ExampleSchema): unknown {
  switch (typeof type === 'object' ? type[0] : type) {
    case 'string':
      return ''
    case 'integer':
    case 'number':
      return Math.max(minimum ?? 0, 0)
    case 'boolean':
      return true
    case 'array':
      return items === undefined ? [] : [exampleOf(items)]
    case 'object':
      return {}
    case 'null':
      return null
    default:
      return { text: 'hello' }
  }
}

/** The part of JSON Schema that a form can show. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly format?: string
}

export type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json'

/** One input of the form. What a simple input cannot express is entered as JSON. */
export interface FormField {
  readonly name: string
  readonly kind: FieldKind
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

/** The fields of an object schema; `undefined` if the input is not an object, so that it is entered as JSON. */
export function fieldsOf(schema: JsonSchema | undefined): readonly FormField[] | undefined {
  const properties = schema?.properties
  if (properties === undefined || Object.keys(properties).length === 0) return undefined
  return Object.entries(properties).map(([name, one]) => ({
    name,
    kind: kindOf(one),
    schema: one,
    isRequired: schema?.required?.includes(name) === true,
  }))
}

function kindOf({ type, enum: values }: JsonSchema): FieldKind {
  if (values !== undefined) return 'choice'
  if (type === 'string') return 'text'
  if (type === 'number' || type === 'integer' || type === 'boolean') return type
  return 'json'
}

/** The text with which a field starts. */
export function initialText({ kind, schema }: FormField): string {
  const value = schema.default ?? schema.const ?? schema.examples?.[0]
  if (value === undefined) return ''
  return kind === 'text' ? String(value) : JSON.stringify(value)
}

/** The input that the texts stand for. @throws Error that names the field */
export function inputOf(
  fields: readonly FormField[],
  texts: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const entries = fields.flatMap((field) => {
    const text = texts[field.name] ?? ''
    if (text === '') {
      if (field.isRequired) throw new Error(`${field.name} is required`)
      return []
    }
    return [[field.name, parsedValue(field, text)] as const]
  })
  return Object.fromEntries(entries)
}

function parsedValue({ name, kind }: FormField, text: string): unknown {
  if (kind === 'text') return text
  if (kind === 'number' || kind === 'integer') {
    const number = Number(text)
    if (text.trim() === '' || !Number.isFinite(number)) throw new Error(`${name} must be a number`)
    return number
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${name} must be JSON: put a text in double quotes`)
  }
}

/** An input with the required members, as the start of a JSON text. */
export function exampleOf(schema: JsonSchema | undefined): unknown {
  if (schema === undefined) return {}
  const given = [schema.examples?.[0], schema.default, schema.const, schema.enum?.[0]].find((one) => one !== undefined)
  if (given !== undefined) return given
  const [first] = schema.anyOf ?? schema.oneOf ?? []
  if (first !== undefined) return exampleOf(first)
  if (schema.properties !== undefined) {
    const { properties, required = [] } = schema
    return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name])]))
  }
  const values: Readonly<Record<string, unknown>> = {
    string: '',
    number: 0,
    integer: 0,
    boolean: false,
    array: [],
    object: {},
  }
  return values[String(schema.type)] ?? null
}

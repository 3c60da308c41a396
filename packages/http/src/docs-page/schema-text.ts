import type { JsonSchema } from './open-api-view.ts'

/** Formats a JSON Schema like a TypeScript type, with descriptions and limits in comments: `{ name: string, env?: "live" | "test" }`. */
export const schemaText = (schema: JsonSchema): string => typeText(schema, '')

/** Formats the schema on one line, for a table cell. */
export const shortSchemaText = (schema: JsonSchema): string =>
  [typeText(schema, '').replace(/\s+/g, ' '), limitsOf(schema)].filter((text) => text !== '').join(', ')

function typeText(schema: JsonSchema, indent: string): string {
  const { $ref, enum: values, allOf, items } = schema
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? $ref
  if ('const' in schema) return JSON.stringify(schema.const)
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ')
  const options = schema.anyOf ?? schema.oneOf
  if (options !== undefined) return unionText(options, indent)
  if (allOf !== undefined) return allOf.map((one) => typeText(one, indent)).join(' & ')
  if (items !== undefined) return arrayText(items, indent)
  if (schema.properties !== undefined || schema.additionalProperties !== undefined) return objectText(schema, indent)
  return typeof schema.type === 'string' ? schema.type : (schema.type?.join(' | ') ?? 'any')
}

const unionText = (options: readonly JsonSchema[], indent: string): string =>
  [...new Set(options.map((option) => typeText(option, indent)))].join(' | ')

function arrayText(items: JsonSchema, indent: string): string {
  const item = typeText(items, indent)
  return / [|&] /.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
}

function objectText({ properties = {}, required = [], additionalProperties }: JsonSchema, indent: string): string {
  const inner = `${indent}  `
  const members = Object.entries(properties).map(([name, schema]) => {
    const comment = [schema.description, limitsOf(schema)].filter((text) => text !== undefined && text !== '').join(' ')
    const mark = required.includes(name) ? '' : '?'
    return `${inner}${memberName(name)}${mark}: ${typeText(schema, inner)}${comment === '' ? '' : `  // ${comment}`}`
  })
  if (typeof additionalProperties === 'object') {
    members.push(`${inner}[name]: ${typeText(additionalProperties, inner)}`)
  }
  return members.length === 0 ? '{}' : `{\n${members.join('\n')}\n${indent}}`
}

const memberName = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

function limitsOf(schema: JsonSchema): string {
  const { format, pattern, minLength, maxLength, minimum, maximum, minItems, maxItems } = schema
  return [
    format,
    pattern === undefined ? undefined : `matches ${pattern}`,
    range(minLength, maxLength, ' characters'),
    range(minimum, maximum, ''),
    range(minItems, maxItems, ' items'),
    schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
  ]
    .filter((text) => text !== undefined)
    .join(', ')
}

/** Omits the bounds of the safe integers: they stand for "any integer". */
function range(low: number | undefined, high: number | undefined, unit: string): string | undefined {
  const from = low === Number.MIN_SAFE_INTEGER ? undefined : low
  const to = high === Number.MAX_SAFE_INTEGER ? undefined : high
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}`
  if (from !== undefined) return `at least ${from}${unit}`
  return to === undefined ? undefined : `at most ${to}${unit}`
}

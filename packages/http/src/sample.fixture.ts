import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'

interface Shape {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Shape[]
  readonly format?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly items?: Shape
}

/** The smallest value a schema accepts, with required members only. */
export function sampleOf(schema: GenericSchema | undefined): unknown {
  if (schema === undefined) return {}
  return sample(toJsonSchema(schema, { target: 'draft-2020-12', typeMode: 'input', errorMode: 'ignore' }) as Shape)
}

function sample(shape: Shape): unknown {
  if (shape.const !== undefined) return shape.const
  if (shape.enum !== undefined) return shape.enum[0]
  if (shape.anyOf?.[0] !== undefined) return sample(shape.anyOf[0])
  if (shape.type === 'object') {
    const required = shape.required ?? []
    return Object.fromEntries(required.map((name) => [name, sample(shape.properties?.[name] ?? {})]))
  }
  if (shape.type === 'array') return [sample(shape.items ?? {})]
  if (shape.type === 'boolean') return true
  if (shape.type === 'number' || shape.type === 'integer') return 1
  return shape.format === 'uri' ? 'https://mcp.example/' : 'sample'
}

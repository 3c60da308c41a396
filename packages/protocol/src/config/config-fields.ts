import * as v from 'valibot'
import { ServerConfigSchema } from './config.ts'
import type { FieldNote } from './section.ts'
import { SecretReference } from './values.ts'

export type ConfigFieldType =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'strings'
  | 'integer-or-strings'
  | 'duration'
  | 'object'
  | 'objects'

/** One configuration field, for the reference page, the environment variables and `--help`. */
export interface ConfigField {
  readonly path: string // as in the config file: `server.idempotency.requireKey`
  readonly env: string // `PERDURE_SERVER_IDEMPOTENCY_REQUIRE_KEY`
  readonly type: ConfigFieldType
  /** The allowed values of an enumerated string. */
  readonly choices?: readonly string[] | undefined
  readonly default: string | number | boolean | readonly string[] | undefined
  readonly note: string
  /** True when the field holds a secret reference or a list of them. */
  readonly isSecret: boolean
}

const TYPES: Readonly<Record<string, ConfigFieldType>> = {
  number: 'number',
  boolean: 'boolean',
  array: 'strings',
  union: 'integer-or-strings',
  record: 'object',
}

/** Every field of `ServerConfigSchema`, in schema order. */
export const configFields: readonly ConfigField[] = fieldsOf(ServerConfigSchema.entries, [])

/** `server.basePath` becomes `PERDURE_SERVER_BASE_PATH`. */
export function envNameOf(path: string): string {
  return `PERDURE_${path
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_')
    .toUpperCase()}`
}

function fieldsOf(entries: v.ObjectEntries, parents: readonly string[]): ConfigField[] {
  return Object.entries(entries).flatMap(([key, entry]) => {
    const path = [...parents, key]
    const { wrapped, default: fallback } = entry as v.OptionalSchema<v.GenericSchema, unknown>
    if ('entries' in wrapped) return fieldsOf(wrapped.entries as v.ObjectEntries, path)
    return [toField(path.join('.'), wrapped, fallback)]
  })
}

function toField(path: string, schema: v.GenericSchema, fallback: unknown): ConfigField {
  const { note } = v.getMetadata(schema) as unknown as FieldNote
  return {
    path,
    env: envNameOf(path),
    ...shapeOf(schema),
    default: fallback as ConfigField['default'],
    note,
    isSecret: isSecret(schema),
  }
}

/** Whether the schema is the object `SecretReference` itself, possibly wrapped in a metadata pipe or an array. */
function isSecret(schema: v.GenericSchema): boolean {
  if (schema === SecretReference) return true
  const { pipe, item } = schema as { readonly pipe?: readonly unknown[]; readonly item?: v.GenericSchema }
  return (
    (pipe?.[0] !== undefined && pipe[0] !== schema && isSecret(pipe[0] as v.GenericSchema)) ||
    (item !== undefined && isSecret(item))
  )
}

function shapeOf(schema: v.GenericSchema): Pick<ConfigField, 'type' | 'choices'> {
  const { type, options } = schema as v.GenericSchema & { readonly options?: readonly unknown[] }
  if (isListOfObjects(schema)) return { type: 'objects' }
  if (type === 'picklist') return { type: 'string', choices: options as readonly string[] }
  if (type === 'union' && (options?.[1] as v.GenericSchema | undefined)?.type === 'string') return { type: 'duration' }
  return { type: isWhole(schema) ? 'integer' : (TYPES[type] ?? 'string') }
}

/** Whether the schema is a list whose elements have members. */
function isListOfObjects(schema: v.GenericSchema): boolean {
  const { item, pipe } = schema as { readonly item?: v.GenericSchema; readonly pipe?: readonly v.GenericSchema[] }
  const [inner] = pipe ?? []
  return (
    (item !== undefined && 'entries' in item) || (inner !== undefined && inner !== schema && isListOfObjects(inner))
  )
}

/** Whether a check of the schema, at any depth of its pipes, requires a whole number. */
function isWhole({ type, pipe = [] }: { readonly type: string; readonly pipe?: readonly unknown[] }): boolean {
  return type === 'integer' || pipe.some((step) => isWhole(step as { readonly type: string }))
}

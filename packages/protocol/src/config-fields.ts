import * as v from 'valibot'
import { type FieldNote, ServerConfigSchema } from './config.ts'

export type ConfigFieldType = 'string' | 'integer' | 'boolean' | 'strings' | 'integer-or-strings'

/** One configuration field as the reference page, the environment and `--help` know it. */
export interface ConfigField {
  readonly path: string // as in the config file: `server.idempotency.requireKey`
  readonly env: string // `BERTH_SERVER_IDEMPOTENCY_REQUIRE_KEY`
  readonly type: ConfigFieldType
  /** The values a string may have, where they are few. */
  readonly choices?: readonly string[] | undefined
  readonly default: string | number | boolean | readonly string[] | undefined
  readonly note: string
  /** Only the default is accepted in this release. */
  readonly pending: boolean
}

const TYPES: Readonly<Record<string, ConfigFieldType>> = {
  number: 'integer',
  boolean: 'boolean',
  array: 'strings',
  union: 'integer-or-strings',
}

/** Every field of `ServerConfigSchema`, in its order. */
export const configFields: readonly ConfigField[] = fieldsOf(ServerConfigSchema.entries, [])

/** `server.basePath` is `BERTH_SERVER_BASE_PATH`. */
export function envNameOf(path: string): string {
  return `BERTH_${path
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
  const { note, pending } = v.getMetadata(schema) as unknown as FieldNote
  return {
    path,
    env: envNameOf(path),
    ...shapeOf(schema),
    default: fallback as ConfigField['default'],
    note,
    pending: pending === true,
  }
}

function shapeOf(schema: v.GenericSchema): Pick<ConfigField, 'type' | 'choices'> {
  const { type, options } = schema as v.GenericSchema & { readonly options?: readonly string[] }
  return type === 'picklist' ? { type: 'string', choices: options } : { type: TYPES[type] ?? 'string' }
}

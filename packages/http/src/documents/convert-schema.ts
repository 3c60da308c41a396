import type { ConvertSchema } from '@perdure/core'
import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'

/** Transformations whose result has the type of their input. */
const SAME_TYPE = new Set([
  ...['trim', 'trim_start', 'trim_end', 'to_lower_case', 'to_upper_case', 'normalize'],
  ...['to_min_value', 'to_max_value', 'brand', 'flavor', 'readonly'],
])

/** Converts valibot schemas. What JSON Schema cannot express becomes any value. */
export const convertSchema: ConvertSchema = (schema, side) =>
  schema['~standard'].vendor === 'valibot'
    ? (toJsonSchema(schema as unknown as GenericSchema, conversionOf(side)) as ReturnType<ConvertSchema>)
    : undefined

const conversionOf = (typeMode: 'input' | 'output'): ConversionConfig => ({
  typeMode,
  target: 'draft-2020-12',
  errorMode: 'ignore',
  overrideSchema: ({ errors }) => (errors === undefined ? undefined : {}),
  overrideAction({ valibotAction: { kind, type }, jsonSchema }) {
    if (kind !== 'transformation') return undefined
    return typeMode === 'input' || SAME_TYPE.has(type) ? jsonSchema : {}
  },
})

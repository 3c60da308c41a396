import { type ConfigField, configFields, isPlainObject, ServerConfigSchema } from '@perdure/protocol'
import { toJsonSchema } from '@valibot/to-json-schema'

type Json = Readonly<Record<string, unknown>>

/**
 * The JSON Schema of a configuration file, with description and default of each field. Registrations are code and not
 * part of the schema.
 */
export function configJsonSchema(): Json {
  const schema: unknown = toJsonSchema(ServerConfigSchema, { errorMode: 'ignore', typeMode: 'input' })
  const noted = configFields.reduce((tree, field) => withNote(tree, field.path.split('.'), field), schema as Json)
  return {
    ...noted,
    title: 'Configuration of a Perdure server',
    properties: { $schema: { type: 'string' }, ...members(noted) },
  }
}

/** Sets the note and the default of a field at its path. */
function withNote(tree: Json, [name = '', ...rest]: readonly string[], field: ConfigField): Json {
  const properties = members(tree)
  const child = isPlainObject(properties[name]) ? properties[name] : {}
  const next =
    rest.length > 0
      ? withNote(child, rest, field)
      : {
          ...without(child, 'note', 'pending'),
          description: field.note,
          ...(field.default === undefined ? {} : { default: field.default }),
        }
  return { ...tree, properties: { ...properties, [name]: next } }
}

const members = (tree: Json): Json => (isPlainObject(tree.properties) ? tree.properties : {})

const without = (members: Json, ...names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))

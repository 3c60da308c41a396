import { type ConfigField, configFields } from '@perdure/protocol'
import { code, codes, page, table } from '../markdown.ts'

export const configPage = (): string =>
  page(
    'Configuration',
    'The fields of the configuration with their defaults. Values come from `perdure.config.{ts,js,mjs,json}`, then the environment, then ' +
      'flags; later sources override earlier ones. Unknown fields are refused. In the environment, lists are comma-separated.',
    'A *secret reference* names where a secret is stored and never contains it: `env:NAME`, `file:path` (relative to the folder of the ' +
      'configuration, readable by its owner only), or `keyring:account`, which requires the optional package `@napi-rs/keyring`.',
    ...[...groups()].flatMap(([name, fields]) => [
      `## ${name}`,
      table(['Field', 'Meaning, and name in the environment', 'Default, and values'], fields.map(toRow)),
    ]),
  )

/** The fields by the first part of their path. */
const groups = (): ReadonlyMap<string, readonly ConfigField[]> =>
  Map.groupBy(configFields, ({ path }) => path.split('.', 1)[0] ?? path)

const toRow = (field: ConfigField) => [
  code(field.path),
  `${field.note}<br>${code(field.env)}`,
  `${field.default === undefined ? 'none' : code(JSON.stringify(field.default))}<br>${valuesOf(field)}`,
]

const valuesOf = ({ choices, type }: ConfigField): string =>
  choices === undefined ? describeType(type) : codes(choices)

const describeType = (type: ConfigField['type']) => TYPE_NAMES[type] ?? type

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'object, in the environment as JSON',
  objects: 'list of objects, in the environment as JSON',
  strings: 'list of strings',
  'integer-or-strings': 'integer or list of strings',
}

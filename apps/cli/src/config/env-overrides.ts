import { StartError } from '@perdure/ports'
import { type ConfigField, configFields, isPlainObject } from '@perdure/protocol'

export interface EnvOverride {
  readonly path: string // field, such as server.port
  readonly variable: string
  readonly value: unknown
}

const PREFIX = 'PERDURE_'
/** Variables read by commands that call a server. */
const CLIENT_VARIABLES = ['PERDURE_URL', 'PERDURE_TOKEN', 'PERDURE_CONTEXTS'] as const

type Env = Readonly<Record<string, string | undefined>>

/** The configuration fields set by the environment. An empty variable counts as unset. */
export function readEnvOverrides(env: Env): readonly EnvOverride[] {
  return configFields.flatMap(({ path, env: variable, type }) => {
    const text = env[variable]
    return text ? [{ path, variable, value: PARSERS[type](variable, text) }] : []
  })
}

/** Variables that start with `PERDURE_`, but set no field and are not named by a secret reference. */
export function unknownVariables(env: Env, referenced: ReadonlySet<string>): readonly string[] {
  const known = new Set<string>([...configFields.map((field) => field.env), ...CLIENT_VARIABLES])
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name) && !referenced.has(name))
    .sort()
}

const PARSERS: Readonly<Record<ConfigField['type'], (variable: string, text: string) => unknown>> = {
  string: (_, text) => text,
  integer: parseInteger,
  number: parseNumber,
  duration: (_, text) => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : text.trim()),
  boolean: parseBoolean,
  strings: (_, text) => parseList(text),
  object: parseObject,
  objects: parseObjects,
  'integer-or-strings': (_, text) => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : parseList(text)),
}

function parseInteger(variable: string, text: string): number {
  if (/^-?\d{1,15}$/.test(text.trim())) return Number(text)
  throw malformed(variable, 'a whole number')
}

function parseNumber(variable: string, text: string): number {
  if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text.trim())) return Number(text)
  throw malformed(variable, 'a number')
}

function parseObject(variable: string, text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (isPlainObject(value)) return value
  } catch {
    // Not JSON.
  }
  throw malformed(variable, 'an object in JSON')
}

function parseObjects(variable: string, text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value) && value.every(isPlainObject)) return value
  } catch {
    // Not JSON.
  }
  throw malformed(variable, 'a list of objects in JSON')
}

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false }

function parseBoolean(variable: string, text: string): boolean {
  const value = BOOLEANS[text.trim().toLowerCase()]
  if (value === undefined) throw malformed(variable, 'true or false')
  return value
}

const parseList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

const malformed = (variable: string, expected: string) =>
  new StartError('config-invalid', {
    message: `the environment variable ${variable} must be ${expected}`,
    hint: `fix or unset ${variable}`,
  })

import type { SecretResolver } from '@perdure/ports'
import { type ConfigField, configFields, type ServerConfig } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { configJsonSchema } from '../config/config-json-schema.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { memberAt } from '../config/member-at.ts'
import { originOfField } from '../config/origin-of-field.ts'
import { secretState, secretText } from '../config/secret-references.ts'
import { validConfig } from '../config/valid-config.ts'
import { checkServer } from '../serve/check-server.ts'
import type { ServerSetup } from '../serve/prepare-server.ts'

export interface ConfigPrintFlags {
  readonly origin?: boolean
}

interface EffectiveValue {
  readonly path: string
  readonly value?: unknown
  readonly origin: string
}

export async function configPrintCommand(call: Call, { origin }: ConfigPrintFlags): Promise<void> {
  const loaded = await call.config()
  const config = validConfig(loaded)
  const items = await Promise.all(configFields.map((field) => effectiveValue(field, { config, loaded, call })))
  call.out.list(
    { items, nextCursor: null },
    {
      FIELD: 'path',
      VALUE: ({ value }) => valueText(value),
      ...(origin ? { ORIGIN: 'origin' } : {}),
    },
  )
}

export async function configCheckCommand(call: Call): Promise<void> {
  const { terminal, out } = call
  const loaded = await call.config()
  const { agents, configPath = null } = loaded
  const config = validConfig(loaded)
  const setup: ServerSetup = { config, loaded, agents, json: out.isJson, ownsProcess: false }
  const { kind, pepperRef } = setup.config.auth
  const isMissingPepper = kind === 'token' && pepperRef === undefined
  await checkServer(terminal, isMissingPepper ? withPlaceholderPepper(setup) : setup)
  if (isMissingPepper) out.note(`warning: ${NO_PEPPER}`)
  const warnings = isMissingPepper ? [...loaded.warnings, NO_PEPPER] : loaded.warnings
  const name = configPath === null ? 'defaults and environment (no configuration file)' : configPath
  out.document({ ok: true, path: configPath, warnings }, () => `${name}: valid\n`)
}

const NO_PEPPER = 'auth.pepperRef is not set: perdure dev generates a pepper, perdure server does not start without one'

/** Returns the setup with a placeholder pepper, so that the remaining checks can run. */
function withPlaceholderPepper(setup: ServerSetup): ServerSetup {
  const { config, loaded } = setup
  const placeholder: SecretResolver = { scheme: 'placeholder', resolve: async () => ({ bytes: new Uint8Array(32) }) }
  const secretResolvers = [...(loaded.adapters.secretResolvers ?? []), placeholder]
  return {
    ...setup,
    config: { ...config, auth: { ...config.auth, pepperRef: 'placeholder:pepper' } },
    loaded: { ...loaded, adapters: { ...loaded.adapters, secretResolvers } },
  }
}

export function configSchemaCommand(call: Call): void {
  const schema = configJsonSchema()
  call.out.document(schema, () => `${JSON.stringify(schema, undefined, 2)}\n`)
}

interface Sources {
  readonly config: ServerConfig
  readonly loaded: LoadedConfig
  readonly call: Call
}

async function effectiveValue(field: ConfigField, { config, loaded, call }: Sources): Promise<EffectiveValue> {
  const { path, isSecret } = field
  const value = memberAt(config, path)
  const origin = originOfField(path, loaded)
  if (!isSecret || value === undefined) return { path, value, origin }
  const { env } = call.terminal
  const described = async (ref: unknown) => secretText(await secretState(String(ref), loaded, env))
  return {
    path,
    value: Array.isArray(value) ? await Promise.all(value.map(described)) : await described(value),
    origin,
  }
}

function valueText(value: unknown): string {
  if (value === undefined) return '-'
  if (Array.isArray(value)) return value.length === 0 ? '[]' : value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

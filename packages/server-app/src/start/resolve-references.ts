import { type Logger, type SecretResolver, StartError } from '@perdure/ports'
import { configFields, type SecretsHealth as SecretsHealthSchema, type ServerConfig } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import { valueAt } from './config-value.ts'

export interface ResolveReferencesDeps {
  readonly secretResolvers: readonly SecretResolver[]
  readonly logger: Logger
}

/** The secrets health document. Never contains a secret. */
export type SecretsHealth = InferOutput<typeof SecretsHealthSchema>

interface Reference {
  readonly field: string // `auth.pepperRef`, `auth.previousPepperRefs.0`
  readonly text: string
}

export interface ResolvedReferences {
  /** The secret of a field or a list element, such as `auth.previousPepperRefs.0`; `undefined` if it is not set. */
  secretOf(field: string): Uint8Array | undefined
  readonly health: SecretsHealth
}

/** Every secret reference in the configuration, in the order of the field table; then those of issuers of JWTs. */
const referencesOf = (config: ServerConfig): readonly Reference[] => [
  ...configFields.filter(({ isSecret }) => isSecret).flatMap(({ path }) => toReferences(path, valueAt(config, path))),
  ...config.auth.jwt.flatMap(({ keys }, index) =>
    'secretRef' in keys ? [{ field: jwtKeyField(index), text: keys.secretRef }] : [],
  ),
]

export const jwtKeyField = (index: number): string => `auth.jwt.${index}.keys.secretRef`

/**
 * Resolves secret references in the configuration: those of `fields` if given, otherwise all, including unused ones.
 *
 * @throws StartError `secret-unresolvable` that names the field
 */
export async function resolveReferences(
  config: ServerConfig,
  deps: ResolveReferencesDeps,
  fields?: readonly string[],
): Promise<ResolvedReferences> {
  const secrets = new Map<string, Uint8Array>()
  const references = referencesOf(config).filter(({ field }) => fields?.includes(field) ?? true)
  for (const reference of references)
    secrets.set(reference.field, await resolveSecret(deps, reference.field, reference.text))
  const { pepperRef } = config.auth
  return {
    secretOf: (field) => secrets.get(field),
    health: {
      active: pepperRef === undefined ? (references[0] ? schemeOf(references[0].text) : 'none') : schemeOf(pepperRef),
      fallbackChain: [...schemesOf(deps)],
      references: references.map(({ field, text }) => ({ field, scheme: schemeOf(text), resolved: true })),
    },
  }
}

/** Resolves one reference. Errors name the field, never the secret. @throws StartError `secret-unresolvable` */
export async function resolveSecret(deps: ResolveReferencesDeps, field: string, text: string): Promise<Uint8Array> {
  const scheme = schemeOf(text)
  const resolver = deps.secretResolvers.find((candidate) => candidate.scheme === scheme)
  if (resolver === undefined) {
    throw unresolvable(field, `no resolver for the scheme ${scheme}:`, {
      hint: `use one of ${schemesOf(deps).join(', ')}`,
    })
  }
  const secret = await resolver.resolve(text).catch((cause: unknown) => {
    if (cause instanceof StartError) throw unresolvable(field, cause.message, { hint: cause.hint, cause })
    throw unresolvable(field, 'the secret cannot be read', { hint: 'check that it exists and is readable', cause })
  })
  if (secret === undefined || secret.bytes.length === 0) {
    const { problem, remedy } = absenceOf(text)
    throw unresolvable(field, problem, { hint: `${remedy}, or change ${field}` })
  }
  if (secret.warning !== undefined) deps.logger.warn(secret.warning, { field })
  return secret.bytes
}

/** Reads secrets by their references while the server runs; `undefined` for one that cannot be resolved. */
export const secretReader =
  (deps: ResolveReferencesDeps) =>
  async (reference: string): Promise<string | undefined> => {
    try {
      return new TextDecoder().decode(await resolveSecret(deps, 'webhookEndpoints', reference))
    } catch {
      return undefined
    }
  }

function absenceOf(text: string): { readonly problem: string; readonly remedy: string } {
  const scheme = schemeOf(text)
  const name = text.slice(scheme.length + 1)
  if (scheme === 'env')
    return { problem: `the environment variable ${name} is not set or empty`, remedy: 'set the variable' }
  if (scheme === 'file') return { problem: `the file ${name} does not exist or is empty`, remedy: 'create the file' }
  return { problem: `${text} is not set`, remedy: 'set it' }
}

const unresolvable = (
  field: string,
  message: string,
  { hint, cause }: { readonly hint: string; readonly cause?: unknown },
): StartError => new StartError('secret-unresolvable', { message: `${field}: ${message}`, hint, cause })

function toReferences(path: string, value: unknown): readonly Reference[] {
  if (typeof value === 'string') return [{ field: path, text: value }]
  if (!Array.isArray(value)) return []
  return value.map((text: string, index) => ({ field: `${path}.${index}`, text }))
}

const schemeOf = (reference: string) => reference.slice(0, reference.indexOf(':'))

const schemesOf = ({ secretResolvers }: Pick<ResolveReferencesDeps, 'secretResolvers'>) => [
  ...new Set(secretResolvers.map(({ scheme }) => scheme)),
]

import { type Logger, type SecretResolver, StartError } from '@berth/ports'
import type { ServerConfig } from '@berth/protocol'

export interface PreBindDeps {
  readonly secretResolvers: readonly SecretResolver[]
  readonly logger: Logger
}

/** What pre-bind validation has resolved. */
export interface Secrets {
  /** The current pepper first; empty with `auth.kind: 'none'`. */
  readonly peppers: readonly Uint8Array[]
  /** What the secrets health document says; never a value. */
  readonly health: SecretsHealth
}

export interface SecretsHealth {
  readonly active: string // the scheme that resolved the pepper; `none` without one
  readonly fallbackChain: string[]
  readonly references: { readonly field: string; readonly scheme: string; readonly resolved: boolean }[]
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])
const PEPPER_BYTES = 32

/**
 * Checks what can be checked before anything is opened: contradictions, and every secret reference.
 *
 * @throws StartError `config-invalid`, `pepper-missing`, `pepper-weak`, `secret-unresolvable`
 */
export async function validateBeforeBind(config: ServerConfig, deps: PreBindDeps): Promise<Secrets> {
  const { auth, server } = config
  if (auth.kind === 'none') {
    if (!LOOPBACK.has(server.host) && !auth.allowNoneOnNetwork) {
      throw new StartError('config-invalid', {
        message: `auth.kind none would let anyone who reaches ${server.host} do everything`,
        hint: 'bind to 127.0.0.1, use tokens, or set auth.allowNoneOnNetwork if something in front authenticates',
      })
    }
    return { peppers: [], health: { active: 'none', fallbackChain: schemesOf(deps), references: [] } }
  }
  if (auth.pepperRef === undefined) {
    throw new StartError('pepper-missing', {
      message: 'token authentication needs a pepper and auth.pepperRef is not set',
      hint: "set auth: { pepperRef: 'env:BERTH_PEPPER' } and give BERTH_PEPPER 32 random bytes (openssl rand -base64 32)",
    })
  }
  const pepper = await resolvePepper(deps, 'auth.pepperRef', auth.pepperRef)
  const previous = await Promise.all(
    auth.previousPepperRefs.map((reference, index) =>
      resolvePepper(deps, `auth.previousPepperRefs.${index}`, reference),
    ),
  )
  const fields = [
    ['auth.pepperRef', auth.pepperRef] as const,
    ...auth.previousPepperRefs.map((reference, index) => [`auth.previousPepperRefs.${index}`, reference] as const),
  ]
  return {
    peppers: [pepper, ...previous],
    health: {
      active: schemeOf(auth.pepperRef),
      fallbackChain: schemesOf(deps),
      references: fields.map(([field, reference]) => ({ field, scheme: schemeOf(reference), resolved: true })),
    },
  }
}

async function resolvePepper(deps: PreBindDeps, field: string, reference: string): Promise<Uint8Array> {
  const bytes = await resolveSecret(deps, field, reference)
  if (bytes.length >= PEPPER_BYTES) return bytes
  throw new StartError('pepper-weak', {
    message: `${field} has ${bytes.length} bytes, a pepper needs at least ${PEPPER_BYTES}`,
    hint: 'make one with: openssl rand -base64 32',
  })
}

/** @throws StartError `secret-unresolvable` */
export async function resolveSecret(
  { secretResolvers, logger }: PreBindDeps,
  field: string,
  reference: string,
): Promise<Uint8Array> {
  const scheme = schemeOf(reference)
  const resolver = secretResolvers.find((candidate) => candidate.scheme === scheme)
  const unresolvable = (message: string, hint: string, cause?: unknown) =>
    new StartError('secret-unresolvable', { message: `${field}: ${message}`, hint, cause })

  if (resolver === undefined)
    throw unresolvable(`no resolver for ${scheme}:`, `use one of ${schemesOf({ secretResolvers }).join(', ')}`)
  const secret = await resolver.resolve(reference).catch((cause: unknown) => {
    throw unresolvable('the secret cannot be read', 'check that it exists and may be read', cause)
  })
  if (secret === undefined || secret.bytes.length === 0) {
    throw unresolvable(`${reference} is not set`, 'set it, or change the reference')
  }
  if (secret.warning !== undefined) logger.warn(secret.warning, { field })
  return secret.bytes
}

const schemeOf = (reference: string) => reference.slice(0, reference.indexOf(':'))

const schemesOf = ({ secretResolvers }: Pick<PreBindDeps, 'secretResolvers'>) => [
  ...new Set(secretResolvers.map(({ scheme }) => scheme)),
]

import { type ProviderUnavailable, type SignInProvider, type SignInVerdict, StartError } from '@perdure/ports'
import type { Configuration } from 'openid-client'
import { readBounded } from '../outbound/read-bounded.ts'

export interface SignInProviderOptions {
  readonly issuer: string
  readonly clientId: string
  /** Missing for a public client. */
  readonly clientSecret: string | undefined
  readonly redirectUrl: string
  /** Scopes to request; `openid` is always among them. */
  readonly scopes: readonly string[]
  /** The claim that decides about the rights. */
  readonly claim: string
  /** The signature algorithm of ID tokens. */
  readonly algorithm: string
  readonly monotonicMs?: () => number
  /** Time for each request to the provider. Default: 5 seconds. */
  readonly timeoutMs?: number
}

type Library = typeof import('openid-client')

const TIMEOUT_MS = 5_000
/** How long the description of a provider is used. */
const DISCOVERED_MS = 3_600_000
/** Pause after the provider could not be reached, in which sign-ins fail at once. */
const FAILURE_COOL_DOWN_MS = 5_000
const MAX_BYTES = 262_144

/**
 * Signs users in with `openid-client`. The provider is asked to describe itself with the first sign-in. ID tokens are
 * verified by their signature, too, although they come directly from the provider.
 *
 * @throws StartError `oidc-peer-missing` if the package openid-client is not installed
 */
export async function openSignInProvider(options: SignInProviderOptions): Promise<SignInProvider> {
  const library = await import('openid-client').catch(missingPeer)
  const discovered = createDiscovery(library, options)
  const { redirectUrl, scopes, claim } = options

  const attempt = async <T>(work: (config: Configuration) => Promise<T>) => {
    try {
      return await work(await discovered())
    } catch (error) {
      return failureOf(error)
    }
  }

  return {
    begin: ({ state, nonce, codeVerifier }) =>
      attempt(async (config) => {
        const url = library.buildAuthorizationUrl(config, {
          redirect_uri: redirectUrl,
          scope: [...new Set(['openid', ...scopes])].join(' '),
          code_challenge: await library.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
          ...{ state, nonce },
        })
        return { kind: 'started', url: url.href } as const
      }).then((outcome) => (outcome.kind === 'refused' ? { ...outcome, kind: 'unavailable' } : outcome)),

    finish: (query, { state, nonce, codeVerifier }) =>
      attempt(async (config): Promise<SignInVerdict> => {
        const url = new URL(redirectUrl)
        url.search = query.toString()
        const tokens = await library.authorizationCodeGrant(config, url, {
          ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier, idTokenExpected: true },
        })
        const idToken = tokens.claims()
        if (idToken === undefined) return { kind: 'refused', reason: 'the provider has sent no ID token' }
        const { sub, iat } = idToken
        const isComplete = Object.hasOwn(idToken, claim) || config.serverMetadata().userinfo_endpoint === undefined
        // All claims come from one answer: `email_verified` of another one would say nothing about the address.
        const claims = isComplete ? idToken : await library.fetchUserInfo(config, tokens.access_token, sub)
        return { kind: 'identified', name: sub, issuedAt: iat * 1_000, claims }
      }),

    async endSessionUrl() {
      const outcome = await attempt(async (config) => ({
        kind: 'known' as const,
        url:
          config.serverMetadata().end_session_endpoint === undefined
            ? undefined
            : library.buildEndSessionUrl(config).href,
      }))
      return outcome.kind === 'known' ? outcome.url : undefined
    },
  }
}

/** Returns the description of the provider, which is fetched again when it is old. */
function createDiscovery(library: Library, options: SignInProviderOptions): () => Promise<Configuration> {
  const { issuer, clientId, clientSecret, algorithm, timeoutMs = TIMEOUT_MS } = options
  const { monotonicMs = () => performance.now() } = options
  let known: { readonly config: Promise<Configuration>; readonly untilMs: number } | undefined

  const discover = () => {
    const url = new URL(issuer)
    return library.discovery(
      url,
      clientId,
      {
        id_token_signed_response_alg: algorithm,
        ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      },
      clientSecret === undefined ? library.None() : library.ClientSecretBasic(clientSecret),
      {
        timeout: timeoutMs / 1_000,
        execute: [
          library.enableNonRepudiationChecks,
          ...(url.protocol === 'http:' ? [library.allowInsecureRequests] : []),
        ],
        [library.customFetch]: boundedFetch,
      },
    )
  }

  return () => {
    if (known !== undefined && known.untilMs > monotonicMs()) return known.config
    const config = discover()
    const entry = { config, untilMs: monotonicMs() + DISCOVERED_MS }
    known = entry
    config.catch(() => {
      if (known === entry) known = { config, untilMs: monotonicMs() + FAILURE_COOL_DOWN_MS }
    })
    return config
  }
}

/** The signal of the request also ends the reading of the body. */
async function boundedFetch(url: string, init: object): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' })
  const text = await readBounded(response, MAX_BYTES)
  const { status, headers } = response
  return new Response(BODYLESS.has(status) ? null : text, { status, headers: withoutEncoding(headers) })
}

const BODYLESS = new Set([204, 205, 304])

function withoutEncoding(headers: Headers): Headers {
  const kept = new Headers(headers)
  kept.delete('content-encoding')
  kept.delete('content-length')
  return kept
}

/** What the provider, or an answer that claims to be its, says about the sign-in. Anything else means that it is not available. */
const REFUSALS: ReadonlySet<string> = new Set([
  'OAUTH_RESPONSE_BODY_ERROR',
  'OAUTH_AUTHORIZATION_RESPONSE_ERROR',
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_JWT_USERINFO_EXPECTED',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
])

function failureOf(error: unknown): ProviderUnavailable | Extract<SignInVerdict, { kind: 'refused' }> {
  const { code, message, error: reported, cause } = error as Readonly<Record<string, unknown>>
  const detail = typeof reported === 'string' ? reported : cause instanceof Error ? cause.message : ''
  const reason = `${String(message)}${detail === '' ? '' : `: ${detail}`}`
  return { kind: typeof code === 'string' && REFUSALS.has(code) ? 'refused' : 'unavailable', reason }
}

function missingPeer(cause: unknown): never {
  throw new StartError('oidc-peer-missing', {
    message: 'console.oidc needs the package openid-client, which is not installed',
    hint: 'npm install openid-client',
    cause,
  })
}

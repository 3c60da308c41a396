import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import type { ServerConfigInput } from '@perdure/protocol'
import { forgeJwt } from '@perdure/testkit'
import { onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'

export const APP = 'https://app.test'
export const HMAC = 'https://hmac.test'
export const RSA = 'https://rsa.test'
export const AUDIENCE = 'perdure'

const ed = generateKeyPairSync('ed25519')
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const secret = new Uint8Array(32).fill(9)
const pemOf = (key: KeyObject) => new TextEncoder().encode(key.export({ type: 'spki', format: 'pem' }).toString())

/** The private keys of the issuers, and a key that belongs to none. */
export const KEYS = { ed, rsa, secret, stranger: generateKeyPairSync('ed25519'), rsaPem: pemOf(rsa.publicKey) }

const SECRETS: Readonly<Record<string, Uint8Array>> = {
  'test:ed': pemOf(ed.publicKey),
  'test:rsa': KEYS.rsaPem,
  'test:hmac': secret,
  'test:pepper': new Uint8Array(32).fill(1),
}

type JwtInput = NonNullable<NonNullable<ServerConfigInput['auth']>['jwt']>[number]

/** Not `agents:read`, which shows the runs of every user. */
const USER_SCOPES = ['agents:invoke', 'runs:read:own', 'sessions:read:own', 'sessions:write:own']
const issuer = (id: string, of: Pick<JwtInput, 'issuer' | 'algorithms'> & { readonly ref: string }): JwtInput => ({
  ...{ id, issuer: of.issuer, algorithms: of.algorithms, audience: AUDIENCE, keys: { secretRef: `test:${of.ref}` } },
  ...{ scopes: USER_SCOPES, clockTolerance: 0 },
})

export const ISSUERS: readonly JwtInput[] = [
  issuer('app', { issuer: APP, algorithms: ['EdDSA'], ref: 'ed' }),
  issuer('hmac', { issuer: HMAC, algorithms: ['HS256'], ref: 'hmac' }),
  {
    ...issuer('rsa', { issuer: RSA, algorithms: ['RS256'], ref: 'rsa' }),
    ...{
      scopes: { claim: 'scope' },
      maxScopes: [...USER_SCOPES, 'agents:read', 'tokens:create', 'tokens:read', 'tokens:revoke', 'webhooks:write'],
    },
  },
]

export const nowSeconds = () => Math.floor(Date.now() / 1_000)
export const claimsOf = (over: object = {}) => ({
  ...{ iss: APP, aud: AUDIENCE, sub: 'alice', iat: nowSeconds(), exp: nowSeconds() + 300, ...over },
})

/** A JWT of the issuer `app`. */
export const jwtOf = (over: object = {}): string => forgeJwt({ claims: claimsOf(over), key: ed.privateKey })
export const rsaJwtOf = (scope: string, over: object = {}): string =>
  forgeJwt({ header: { alg: 'RS256' }, claims: claimsOf({ iss: RSA, scope, ...over }), key: rsa.privateKey })

const ignore = () => undefined
const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

export interface Call {
  readonly method?: string
  readonly body?: object
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

interface Options {
  readonly config?: ServerConfigInput
  /** Default: one that writes nothing. */
  readonly logger?: Logger
  /** Called by the agent `inspect`. */
  readonly onRun?: (context: RunContext) => unknown
}

/** A server that accepts tokens and the JWTs of three issuers. It is stopped after the test. */
export async function startJwtServer({ config, logger = silent, onRun }: Options = {}) {
  const storage = createInMemoryStorage()
  const server = await createServer({
    config: {
      ...config,
      auth: { pepperRef: 'test:pepper', jwt: [...ISSUERS], ...config?.auth },
      server: { port: 0, ...config?.server },
    },
    adapters: {
      ...{ storage, logger },
      secretResolvers: [
        {
          scheme: 'test',
          async resolve(reference) {
            const bytes = SECRETS[reference]
            return bytes === undefined ? undefined : { bytes }
          },
        },
      ],
    },
    agents: [
      { id: 'echo', description: 'Answers its input.', agent: { id: 'echo', run: async (input) => input } },
      {
        id: 'inspect',
        description: 'Shows its context to the test.',
        agent: { id: 'inspect', run: async (_, context) => onRun?.(context) ?? null },
      },
      {
        id: 'slow',
        description: 'Ends when it is aborted.',
        agent: {
          id: 'slow',
          run: (_, { signal }) =>
            new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        },
      },
    ],
  })
  onTestFinished(() => server.stop({ force: true }))
  const { host, port, basePath } = await server.start()
  const url = `http://${host}:${port}${basePath}`

  const call = (credential: string, path: string, { body, headers, ...rest }: Call = {}) =>
    fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...rest,
    })
  return { server, storage, url, call }
}

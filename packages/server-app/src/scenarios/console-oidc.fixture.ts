import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import type { ServerConfigInput } from '@perdure/protocol'
import { onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'
import { CLIENT, createProviderBrowser, REDIRECT_URL, startOidcProvider } from './oidc-provider.fixture.ts'

const ORIGIN = new URL(REDIRECT_URL).origin

type OidcConfig = NonNullable<NonNullable<ServerConfigInput['console']>['oidc']>

const SECRETS: Readonly<Record<string, string>> = { 'test:pepper': 'p'.repeat(32), 'test:client': `${CLIENT.secret}\n` }
const secrets = {
  scheme: 'test',
  async resolve(reference: string) {
    const text = SECRETS[reference]
    return text === undefined ? undefined : { bytes: new TextEncoder().encode(text) }
  },
}

/** A server whose console has a provider; without a port, unless the configuration has one. */
export async function startOidcServer(oidc: OidcConfig, config: ServerConfigInput = {}) {
  const storage = createInMemoryStorage()
  const lines: string[] = []
  const write = (message: string, ...details: readonly unknown[]) => void lines.push(`${message} ${details.join(' ')}`)
  const logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message, fields) => write(message, JSON.stringify(fields)),
    error: write,
  }
  const server = await createServer({
    config: {
      ...config,
      auth: { pepperRef: 'test:pepper' },
      console: {
        enabled: true,
        oidc: {
          ...{ clientId: CLIENT.id, clientSecretRef: 'test:client', redirectUrl: REDIRECT_URL },
          roles: { operators: ['runs:read', 'tokens:read', 'tokens:create', 'agents:read'], owners: ['admin:*'] },
          ...oidc,
        },
      },
    },
    adapters: { storage, logger, secretResolvers: [secrets] },
    agents: [{ id: 'echo', description: 'Answers its input.', agent: { id: 'echo', run: async (input) => input } }],
  })
  onTestFinished(() => server.stop({ force: true }))
  const address = await server.start({ listen: config.server?.port !== undefined })
  const admin = server.client({ subject: 'ops', scopes: ['admin:*'] })
  const send: Send =
    config.server?.port === undefined
      ? (path, init) => server.fetch(new Request(`${ORIGIN}${path}`, init))
      : (path, init) => fetch(`http://${address.host}:${address.port}${path}`, { ...init, redirect: 'manual' })
  return { server, storage, lines, admin, openBrowser: () => openBrowser(send) }
}

type Send = (path: string, init: RequestInit) => Promise<Response>

/** A browser with the cookies of one user. It sends them as a browser does: a strict cookie not on the way back. */
function openBrowser(sendRequest: Send) {
  const jar = new Map<string, { readonly value: string; readonly attributes: string }>()
  const visitProvider = createProviderBrowser()

  const send = async (path: string, { isCrossSite = false, ...init }: RequestInit & { isCrossSite?: boolean } = {}) => {
    const sent = [...jar].filter(([, { attributes }]) => !(isCrossSite && attributes.includes('SameSite=Strict')))
    const headers = new Headers(init.headers)
    headers.set('cookie', sent.map(([name, { value }]) => `${name}=${value}`).join('; '))
    headers.set('sec-fetch-site', isCrossSite ? 'cross-site' : 'same-origin')
    const response = await sendRequest(path, { ...init, headers })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(set) ?? []
      if (attributes.includes('Max-Age=0')) jar.delete(name)
      else jar.set(name, { value, attributes })
    }
    return response
  }

  /** Begins a sign-in; returns the address at the provider. */
  const begin = async () => {
    const response = await send('/console/login')
    return { response, url: response.headers.get('location') ?? '' }
  }
  const finish = ({ search }: { readonly search: string }) => send(`/console/callback${search}`, { isCrossSite: true })

  return {
    ...{ jar, send, begin, finish, visitProvider },
    signIn: async () => finish(await visitProvider((await begin()).url)),
    read: (path: string) => send(`/v1${path}`),
  }
}

export async function startOidcWorld(oidc: OidcConfig = {}, config: ServerConfigInput = {}) {
  const provider = await startOidcProvider()
  const world = await startOidcServer({ issuer: provider.issuer, ...oidc }, config)
  return { ...world, provider, browser: world.openBrowser() }
}

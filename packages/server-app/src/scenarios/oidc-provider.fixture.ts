import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { onTestFinished, vi } from 'vitest'

export const CLIENT = { id: 'perdure', secret: 'client-secret-of-the-test' }
/** Nothing listens there: the test passes the request to the server. */
export const REDIRECT_URL = 'http://localhost:8080/console/callback'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A provider of OpenID Connect on loopback, which signs everybody in as `users.current` and keeps no accounts. */
export async function startOidcProvider() {
  // The provider announces on stdout and stderr that it is one for development.
  for (const name of ['info', 'warn'] as const) vi.spyOn(console, name).mockImplementation(() => undefined)
  const users = { current: 'alice' }
  const roles = new Map<string, unknown>([
    ['alice', ['operators']],
    ['bob', ['visitors']],
  ])
  /** Answers instead of the provider, by the path of the request. */
  const lies = new Map<string, Answer>()
  const requests: string[] = []
  let answer: Answer = () => undefined
  const listener = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    requests.push(pathname)
    const lie = lies.get(pathname) ?? answer
    lie(request, response)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    listener.closeAllConnections()
    listener.close()
  })
  const issuer = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const provider: Provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [REDIRECT_URL] }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'own', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['cookie-key'] },
    claims: { openid: ['sub'], profile: ['roles'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_, accountId) => ({
      accountId,
      claims: async () => ({ sub: accountId, roles: roles.get(accountId) }),
    }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid profile')
      await grant.save()
      return grant
    },
  })
  provider.use(async (context, next) => {
    if (!context.path.startsWith('/interaction/')) return next()
    context.respond = false
    await provider.interactionFinished(context.req, context.res, { login: { accountId: users.current } })
  })
  answer = provider.callback()
  return { issuer, privateKey, users, roles, lies, requests }
}

/** Sends the requests of a browser to the provider, with its cookies, until the provider sends it back. */
export function createProviderBrowser() {
  const cookies = new Map<string, string>()
  return async (address: string): Promise<URL> => {
    let url = address
    for (let hops = 0; hops < 10; hops++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
        cookies.set(name, value)
      }
      const location = response.headers.get('location')
      if (location === null) throw new Error(`the provider answers ${response.status}: ${await response.text()}`)
      await response.body?.cancel()
      url = new URL(location, url).href
      if (url.startsWith(REDIRECT_URL)) return new URL(url)
    }
    throw new Error('the provider redirects without end')
  }
}

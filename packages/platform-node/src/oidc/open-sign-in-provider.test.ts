import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSignInProvider, type SignInProviderOptions } from './open-sign-in-provider.ts'

const CHECK = { state: 's'.repeat(64), nonce: 'n'.repeat(64), codeVerifier: 'v'.repeat(64) }

/** A server that answers as a provider might. `{issuer}` in an answer stands for its address. */
async function serve(answers: Readonly<Record<string, RequestListener>>) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*$/, '')
    requests.push(path)
    const answer = answers[path] ?? ((_, other) => other.writeHead(404).end())
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

const json = (response: ServerResponse, value: object) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value))

const DISCOVERY = '/.well-known/openid-configuration'
const describedAs =
  (more: object = {}): RequestListener =>
  ({ headers: { host } }, response) => {
    const issuer = `http://${host}`
    json(response, {
      ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
      ...{ jwks_uri: `${issuer}/jwks`, response_types_supported: ['code'], subject_types_supported: ['public'] },
      ...{ id_token_signing_alg_values_supported: ['RS256'], ...more },
    })
  }

const open = (issuer: string, options: Partial<SignInProviderOptions> = {}) =>
  openSignInProvider({
    ...{ issuer, clientId: 'perdure', clientSecret: 'secret', redirectUrl: 'http://localhost:8080/console/callback' },
    ...{ scopes: ['profile'], claim: 'roles', algorithm: 'RS256', timeoutMs: 300, ...options },
  })

const finish = ({ finish: end }: Awaited<ReturnType<typeof open>>) =>
  end(new URLSearchParams({ code: 'c', state: CHECK.state }), CHECK)

const endless = (response: ServerResponse) => {
  response.setHeader('content-type', 'application/json')
  response.write('{"keys":[')
  const more = () => response.writable && response.write('0,'.repeat(5_000), () => setImmediate(more))
  more()
}

const FAULTS: readonly (readonly [string, RequestListener])[] = [
  ['hangs', () => undefined],
  ['sends its headers and then hangs', (_, response) => response.writeHead(200).write('{')],
  ['answers with an error', (_, response) => response.writeHead(500).end()],
  ['redirects', (_, response) => response.writeHead(302, { location: '/moved' }).end()],
  ['sends something else', (_, response) => response.end('<html>')],
  ['never stops sending', (_, response) => endless(response)],
  ['disconnects', (request) => request.destroy()],
]

describe('openSignInProvider', () => {
  it('connects to nothing before the first sign-in, and describes the provider to itself once', async () => {
    const { issuer, requests } = await serve({ [DISCOVERY]: describedAs() })
    const provider = await open(issuer)
    expect(requests).toEqual([])

    const [first, second] = await Promise.all([provider.begin(CHECK), provider.begin(CHECK)])
    await provider.begin(CHECK)

    expect([first.kind, second.kind, requests]).toEqual(['started', 'started', [DISCOVERY]])
  })

  it.each(FAULTS)('fails closed, and at once for a while, when the description %s', async (_, answer) => {
    const { issuer, requests } = await serve({ [DISCOVERY]: answer, '/moved': describedAs() })
    let now = 0
    const provider = await open(issuer, { monotonicMs: () => now })

    expect(await provider.begin(CHECK)).toMatchObject({ kind: 'unavailable', reason: expect.any(String) })
    for (let attempt = 0; attempt < 5; attempt++) expect((await provider.begin(CHECK)).kind).toBe('unavailable')
    expect((await finish(provider)).kind).toBe('unavailable')
    expect(await provider.endSessionUrl()).toBeUndefined()
    expect(requests).toHaveLength(1)
    now += 5_001
    await provider.begin(CHECK)
    expect(requests).toHaveLength(2)
  })

  it.each(FAULTS)('fails closed when the token endpoint %s', async (_, answer) => {
    const { issuer } = await serve({ [DISCOVERY]: describedAs(), '/token': answer })

    expect((await finish(await open(issuer))).kind).toBe('unavailable')
  })

  it('refuses a description that is larger than 256 KiB', async () => {
    const { issuer } = await serve({ [DISCOVERY]: describedAs({ pad: 'x'.repeat(262_144) }) })

    expect((await (await open(issuer)).begin(CHECK)).kind).toBe('unavailable')
  })

  it('refuses a provider that describes itself as another issuer', async () => {
    const { issuer } = await serve({ [DISCOVERY]: describedAs({ issuer: 'https://evil.test' }) })

    expect(await (await open(issuer)).begin(CHECK)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('issuer does not match'),
    })
  })

  it('never sends a code over http: to a provider that is configured with https:', async () => {
    const provider = await open('https://127.0.0.1:1')

    expect((await provider.begin(CHECK)).kind).toBe('unavailable')
  })

  it('refuses what the provider refuses', async () => {
    const { issuer } = await serve({
      [DISCOVERY]: describedAs(),
      '/token': (_, response) => {
        response.statusCode = 400
        json(response, { error: 'invalid_grant' })
      },
    })

    expect(await finish(await open(issuer))).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('invalid_grant'),
    })
  })
})

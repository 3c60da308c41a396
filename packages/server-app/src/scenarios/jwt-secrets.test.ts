import { createLogger } from '@perdure/platform-node'
import { forgeJwt } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { claimsOf, ISSUERS, jwtOf, KEYS, nowSeconds, startJwtServer } from './jwt-server.fixture.ts'
import { connect } from './web-socket-client.fixture.ts'

const WINDOW = 20
/** Every 20 characters of the claims and of the signature. The header is the same in all JWTs. */
const windowsOf = (jwt: string): readonly string[] =>
  jwt
    .split('.')
    .slice(1)
    .flatMap((part) =>
      Array.from({ length: Math.max(0, part.length - WINDOW + 1) }, (_, at) => part.slice(at, at + WINDOW)),
    )

it('writes no part of a JWT to the log or into an answer, whatever goes wrong', async () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'debug', stream: { write: (text) => void lines.push(text) } })
  const jwt = [
    ...ISSUERS,
    {
      ...{ id: 'faulty', issuer: 'https://faulty.test', audience: 'perdure', keys: { secretRef: 'test:ed' } },
      ...{ algorithms: ['EdDSA'], scopes: ['agents:invoke'] },
      subject: () => {
        throw new Error('the function is faulty')
      },
    },
    {
      ...{
        id: 'away',
        issuer: 'https://away.test',
        audience: 'perdure',
        algorithms: ['EdDSA'],
        scopes: ['agents:invoke'],
      },
      keys: { jwksUrl: 'http://127.0.0.1:1/keys' },
    },
  ]
  const onRun = () => {
    throw new Error('the agent is faulty')
  }
  const { call, url, server } = await startJwtServer({ config: { auth: { jwt } }, logger, onRun })
  const jwts = {
    valid: jwtOf(),
    forged: forgeJwt({ claims: claimsOf({ sub: 'bob' }), key: KEYS.stranger.privateKey }),
    expired: jwtOf({ exp: nowSeconds() - 1 }),
    'without a usable subject': jwtOf({ sub: 'a b' }),
    'of a faulty function': jwtOf({ iss: 'https://faulty.test' }),
    'without keys': jwtOf({ iss: 'https://away.test' }),
    'too long': jwtOf({ pad: 'x'.repeat(8_000) }),
  }
  const shown: string[] = []

  // Passed in without an address, which would be locked out.
  const send = (authorization: string, path: string, body?: object) =>
    server.fetch(
      new Request(`http://localhost/v1${path}`, {
        headers: { authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      }),
    )
  for (const one of Object.values(jwts)) {
    for (const answer of [
      send(`Bearer ${one}`, '/agents/inspect/run', { input: 1 }),
      send(`Bearer ${one}`, `/runs?access_token=${one}`),
      send(`Bearer ${one}`, `/runs/${one}`),
      send(`Bearer ${one}`, '/agents/echo/run', { [one]: 1 }),
      send(`Bearer ${one}`, '/agents/echo/run', { input: 1, sessionId: one }),
      send(one, '/runs'),
      send(`Basic ${one}`, '/runs'),
    ]) {
      const response = await answer
      shown.push(`${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`)
    }
  }
  expect((await call(jwts.valid, '/runs')).status).toBe(200)
  expect((await call(jwts.forged, '/runs')).status).toBe(401)
  const socket = await connect(url, { headers: { authorization: `Bearer ${jwts.forged}` } })
  await socket.closed
  await server.stop({ force: true })

  const log = lines.join('\n')
  for (const expected of ['the function is faulty', 'cannot verify JWTs', 'the agent is faulty']) {
    expect(log).toContain(expected)
  }
  for (const [name, one] of Object.entries(jwts)) {
    const found = windowsOf(one).find((part) => log.includes(part))
    expect(found, `a part of the JWT ${name} in the log`).toBeUndefined()
  }
  expect(shown.join()).not.toContain(jwts.valid.split('.')[2])
})

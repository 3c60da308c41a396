import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { CONFIG, mint, start, useAuditFolder } from './audit-server.fixture.ts'

useAuditFolder()

interface Sent {
  readonly status: number | undefined
  readonly connection: string | undefined
  readonly body: { readonly error?: string }
  readonly isSameConnection: boolean
  readonly wasContinued: boolean
}

/** A client with one connection and a token that may only read agents. */
async function setUp() {
  const { url } = await start(CONFIG)
  const token = await mint('agents:read', CONFIG)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const send = (write: (sending: ClientRequest) => void, headers: Record<string, string> = {}) =>
    new Promise<Sent>((resolve, reject) => {
      let wasContinued = false
      const sending = request(
        `${url}/agents/echo/run`,
        {
          ...{ agent, method: 'POST' },
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        },
        async (answer: IncomingMessage) => {
          const body = JSON.parse(await text(answer))
          const { statusCode: status, headers } = answer
          const isSameConnection = sending.reusedSocket
          resolve({ status, body, connection: headers.connection, isSameConnection, wasContinued })
        },
      )
      sending.on('continue', () => {
        wasContinued = true
      })
      // The server may close the connection while the rest of the body is being sent.
      sending.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error)
      })
      write(sending)
    })
  return { send }
}

it('answers 403 without the body, and keeps the connection if the body has arrived', async () => {
  const { send } = await setUp()
  const malformed = '{"input":'

  const first = await send((sending) => sending.end(malformed))
  const second = await send((sending) => sending.end(malformed))

  expect(first).toMatchObject({ status: 403, body: { error: 'scope-denied' } })
  expect(second).toMatchObject({ status: 403, body: { error: 'scope-denied' }, isSameConnection: true })
})

it('answers 403 before a body that never ends, and closes the connection', async () => {
  const { send } = await setUp()

  const answered = await send((sending) => {
    sending.setHeader('transfer-encoding', 'chunked')
    sending.write('{"input":"')
  })

  expect(answered).toMatchObject({ status: 403, connection: 'close', body: { error: 'scope-denied' } })
})

it('does not ask for a body that it will not read', async () => {
  const { send } = await setUp()

  const answered = await send((sending) => sending.flushHeaders(), {
    ...{ expect: '100-continue', 'content-length': '5000000' },
  })

  expect(answered).toMatchObject({ status: 403, wasContinued: false, body: { error: 'scope-denied' } })
})

import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from './durable-server.ts'
import { clockAt } from './faked-clock.ts'
import {
  bearer,
  createSandbox,
  createToken,
  DURABLE_CONFIG,
  type RunningServer,
  startServer,
} from './perdure-process.ts'
import { unusedPort } from './unused-port.ts'

const KILLS = Number(process.env.E2E_WEBHOOK_KILLS ?? 8)
const STARTED_AT = Date.UTC(2030, 0, 1)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

interface Received {
  readonly id: string
  readonly runId: string
  readonly position: number
}

/** A receiver that verifies each delivery with the library of Standard Webhooks, and can be down. */
async function createReceiver() {
  const received: Received[] = []
  const problems: unknown[] = []
  let secret = ''
  const port = await unusedPort()
  let server: Server | undefined

  const up = async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      try {
        const headers = request.headers as Record<string, string>
        // The clock of the server is moved, so only the signature is checked, not the age.
        const body = Buffer.concat(chunks).toString()
        const sentAt = new Date(Number(headers['webhook-timestamp']) * 1_000)
        const signature = new Webhook(secret).sign(headers['webhook-id'] ?? '', sentAt, body)
        expect(headers['webhook-signature']?.split(' ')).toContain(signature)
        const { data } = JSON.parse(body) as { readonly data: { readonly runId: string } }
        const id = headers['webhook-id'] ?? ''
        received.push({ id, runId: data.runId, position: Number(id.split('_')[2]) })
        response.writeHead(204).end()
      } catch (error) {
        problems.push(error)
        response.writeHead(401).end()
      }
    })
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve))
  }
  const down = () => {
    server?.closeAllConnections()
    server?.close()
  }
  await up()
  onTestFinished(down)
  return {
    ...{ received, problems, up, down },
    url: `http://127.0.0.1:${port}/hooks`,
    host: `127.0.0.1:${port}`,
    expectSecret: (text: string) => {
      secret = text
    },
  }
}

it(`delivers every event of a server that is killed ${KILLS} times while the receiver is down for an hour`, async () => {
  const receiver = await createReceiver()
  const sandbox = createSandbox({ PERDURE_WEBHOOKS_ALLOW_HOSTS: receiver.host })
  const token = await createToken(sandbox)
  let server: RunningServer | undefined
  onTestFinished(() => void server?.process.kill('SIGKILL'))
  const runIds: string[] = []

  const call = async (method: string, path: string, body?: unknown) => {
    const init = { method, headers: bearer(token), body: body === undefined ? null : JSON.stringify(body) }
    const response = await fetch(`${server?.url}${path}`, init)
    return (await response.json()) as {
      readonly secret: string
      readonly runId: string
      readonly items: readonly { readonly status: string }[]
    }
  }
  /** Kills the server, and starts it when its clock is this far ahead. */
  const restart = async (afterMs: number) => {
    await server?.kill('SIGKILL')
    const clock = clockAt(sandbox, new Date(STARTED_AT + afterMs).toISOString().slice(0, 19))
    server = await startServer(clock, ['server', '--config', DURABLE_CONFIG])
  }
  const runOnce = async () => {
    const { runId } = await call('POST', '/agents/echo/run', { input: { text: 'hi' } })
    runIds.push(runId)
  }
  const pending = async () => (await call('GET', '/webhooks/ops/deliveries?status=pending&limit=200')).items.length

  await restart(0)
  const events = ['run.completed']
  receiver.expectSecret((await call('POST', '/webhooks', { id: 'ops', url: receiver.url, events })).secret)
  receiver.down()
  for (let kill = 1; kill <= KILLS; kill++) {
    await Promise.all([runOnce(), runOnce(), runOnce()])
    await sleep(kill * 7)
    await restart((kill * HOUR_MS) / KILLS)
  }
  expect(receiver.received).toEqual([])

  await receiver.up()
  const before = runIds.length
  for (let kill = 1; kill <= KILLS; kill++) {
    await Promise.all([runOnce(), runOnce(), runOnce()])
    await sleep(kill * 7)
    await restart(HOUR_MS + kill * MINUTE_MS)
  }
  await restart(6 * HOUR_MS)
  await eventually(() => new Set(receiver.received.map(({ runId }) => runId)).size).toBe(runIds.length)
  await eventually(pending).toBe(0)

  expect(receiver.problems).toEqual([])
  const byId = new Map(receiver.received.map((delivery) => [delivery.id, delivery.runId]))
  expect([...byId.values()].toSorted()).toEqual(runIds.toSorted())
  const live = new Set(runIds.slice(before))
  const firsts = [...new Set(receiver.received.filter(({ runId }) => live.has(runId)).map(({ position }) => position))]
  expect(firsts).toEqual(firsts.toSorted((one, other) => one - other))
}, 600_000)

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { expect, it, onTestFinished } from 'vitest'
import { ledgerOf } from './durable-server.ts'
import { bearer, createSandbox, createToken, type RunningServer, startServer } from './perdure-process.ts'

const KILLS = Number(process.env.E2E_HOOK_KILLS ?? 6)
const DELIVERIES_PER_KILL = 12
const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const CONFIG = join(import.meta.dirname, 'fixtures/hooks.config.mjs')

interface Run {
  readonly status: string
  readonly input: { readonly order: number }
}

it(`handles each delivery once while the server is killed ${KILLS} times and the sender retries`, async () => {
  const sandbox = createSandbox({ HOOK_SECRET: SECRET })
  const token = await createToken(sandbox)
  let server: RunningServer | undefined
  let isOver = false
  onTestFinished(async () => {
    isOver = true
    await server?.kill('SIGKILL')
  })
  const restart = async () => {
    await server?.kill('SIGKILL')
    server = await startServer(sandbox, ['server', '--config', CONFIG])
  }

  /** One attempt, signed as the sender signs it, with the id of the delivery. */
  const attempt = async (order: number) => {
    const body = JSON.stringify({ order })
    const id = `msg_${order}`
    const sentAt = new Date()
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
      'webhook-signature': new Webhook(SECRET).sign(id, sentAt, body),
    }
    const response = await fetch(`${server?.url}/hooks/shop`, { method: 'POST', headers, body })
    await response.text()
    return response.status
  }
  /** Repeats the delivery until it is answered, as senders do. */
  const deliver = async (order: number) => {
    while (!isOver && (await attempt(order).catch(() => 503)) !== 200) await sleep(20)
  }

  await restart()
  const deliveries: Promise<void>[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    for (let one = 0; one < DELIVERIES_PER_KILL; one++) deliveries.push(deliver(kill * DELIVERIES_PER_KILL + one))
    await sleep((kill * 13) % 80)
    await restart()
  }
  await Promise.all(deliveries)
  const orders = deliveries.map((_, order) => order)

  const read = async (path: string) =>
    (await (await fetch(`${server?.url}${path}`, { headers: bearer(token) })).json()) as { items: readonly Run[] }
  const runs = async () => (await read('/runs?agentId=handle&include=input&limit=200&order=asc')).items
  await expect.poll(async () => (await runs()).every(({ status }) => status === 'completed')).toBe(true)
  await expect.poll(async () => (await runs()).length).toBe(orders.length)
  // Everything that was answered is repeated once more, by a sender that has missed the answer.
  for (const order of orders) expect(await attempt(order)).toBe(200)
  await expect.poll(async () => (await runs()).every(({ status }) => status === 'completed')).toBe(true)

  const handled = (await runs()).map(({ input }) => input.order)
  expect(handled.toSorted((a, b) => a - b)).toEqual(orders)
  expect((await read('/hooks/shop/deliveries?limit=200')).items.map(({ status }) => status)).toEqual(
    orders.map(() => 'accepted'),
  )
  expect([...new Set(ledgerOf(sandbox))].toSorted()).toEqual(orders.map(String).toSorted())
})

import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createCall, eventually } from './durable-server.ts'
import { KINDS, type LeftWork, openGate, openWorkFiles, readLeft, SECRETS, start, unpackFolder } from './open-work.ts'
import { createSandbox, perdure, removeFolder, type Sandbox, startServer } from './perdure-process.ts'
import { followBySse } from './realtime-client.ts'

const CONFIG = ['--config', join(import.meta.dirname, 'fixtures/open-work.config.mjs')]

interface Shown {
  readonly id: string
  readonly eventId: string
  readonly status: string
  readonly runId: string
  readonly role: string
  readonly result?: unknown
  readonly parts: readonly { readonly type: string; readonly text?: string }[]
  readonly type: string
  readonly payload?: { readonly waitingFor?: readonly { readonly toolCallId?: string }[] }
  readonly items: readonly Shown[]
  readonly nextCursor: string | null
}

/** Receives the webhooks that the earlier server could not deliver. */
async function startReceiver() {
  const runIds: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { runId: string } }
    runIds.push(data.runId)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { runIds, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

async function unpack(name: string) {
  const receiver = await startReceiver()
  // Nothing in the files may be too old.
  const sandbox = createSandbox({ ...SECRETS, E2E_HOOK_URL: receiver.url, PERDURE_RETENTION_EVENTS_DAYS: '36500' })
  onTestFinished(() => removeFolder(sandbox.dir))
  mkdirSync(sandbox.dir, { recursive: true })
  unpackFolder(name, sandbox.dir)
  return { sandbox, receiver, left: readLeft(sandbox.dir) }
}

async function serve(sandbox: Sandbox, { token }: LeftWork) {
  const server = await startServer(sandbox, ['server', ...CONFIG])
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const call = createCall(() => server.url, token)
  const get = async (path: string) => (await call<Shown>('GET', path)).body
  const all = async (path: string): Promise<readonly Shown[]> => {
    const found: Shown[] = []
    let cursor = ''
    for (;;) {
      const page = await get(`${path}&limit=200${cursor}`)
      found.push(...page.items)
      if (page.nextCursor === null) return found
      cursor = `&cursor=${page.nextCursor}`
    }
  }
  return { server, call, get, all }
}

type Served = Awaited<ReturnType<typeof serve>>

/** Does what each kind of run waits for, until none waits any more. */
async function endWork({ call, all }: Served, { dir }: Sandbox, { started }: LeftWork): Promise<void> {
  openGate(dir)
  for (const { kind, n, runId } of started) {
    if (kind === 'listening') await call('POST', `/events/open-work.${n}`, { body: { payload: { told: n } } })
    if (kind !== 'asking') continue
    const events = await all(`/runs/${runId}/events?order=asc`)
    const waitingFor = events.findLast(({ type }) => type === 'run.suspended')?.payload?.waitingFor
    const toolResults = waitingFor?.map(({ toolCallId }) => ({ toolCallId, result: { picked: n } }))
    await call('POST', `/runs/${runId}/resume`, { body: { toolResults } })
  }
  for (;;) {
    const open = await all('/approvals?status=pending')
    if (open.length === 0) return
    for (const { id } of open) await call('POST', `/approvals/${id}/resolve`, { body: { approved: true } })
  }
}

describe.each(openWorkFiles())('what an earlier release left open: %s', (name) => {
  it('is checked before the upgrade, and ends as it would have', async () => {
    const { sandbox, receiver, left } = await unpack(name)
    const check = await perdure(sandbox, ['upgrade', '--check', '--json', ...CONFIG])
    const { checks } = JSON.parse(check.stdout) as { checks: { check: string; status: string; message: string }[] }
    expect(checks).toContainEqual(expect.objectContaining({ check: 'runs', status: 'ok' }))

    const served = await serve(sandbox, left)
    const { server, call, get, all } = served
    const followers = left.followed.map(({ runId, lastEventId }) => {
      const subject = { subject: '', path: `/runs/${runId}/events` }
      return {
        ...followBySse({ url: () => server.url, token: left.token, ...subject, lastEventId }),
        runId,
        after: lastEventId,
      }
    })
    for (const { kind, n, key, runId } of left.started.filter((_, index) => index % 9 === 0)) {
      const known = KINDS.find((one) => one.kind === kind)
      if (known?.more !== undefined || known?.input !== undefined) continue
      expect(known && (await start(call, known, n, key, 0))).toBe(runId)
    }
    await endWork(served, sandbox, left)

    const results = new Map<string, unknown>()
    await eventually(async () => {
      for (const { runId } of left.started) {
        if (results.has(runId)) continue
        const { status, result } = await get(`/runs/${runId}`)
        if (status === 'completed') results.set(runId, result)
      }
      return left.started.filter(({ runId }) => !results.has(runId)).map(({ kind, n }) => `${kind} ${n}`)
    }).toEqual([])
    for (const { kind, n, runId } of left.started) {
      expect({ kind, n, result: results.get(runId) }).toEqual({
        kind,
        n,
        result: KINDS.find((one) => one.kind === kind)?.result(n),
      })
    }

    for (const { id, text } of left.chats) {
      await eventually(async () => {
        const messages = (await get(`/agents/chat/chat/${id}/messages`)) as unknown as readonly Shown[]
        return messages.map(({ role, parts }) => [role, ...parts.flatMap((part) => part.text ?? [])])
      }).toEqual([
        ['user', text],
        ['assistant', 'It is paid.'],
        ['user', text.replace('order', 'thanks for')],
        ['assistant', 'You are welcome.'],
      ])
    }

    for (const { runId, after, received, stop } of followers) {
      const events = (await all(`/runs/${runId}/events?order=asc`)).map(({ eventId }) => eventId)
      const expected = events.slice(events.indexOf(after) + 1)
      await expect.poll(() => received.map((one) => (one.kind === 'event' ? one.eventId : one.kind))).toEqual(expected)
      await stop()
    }

    const untold = () =>
      left.started.filter(({ runId }) => !receiver.runIds.includes(runId)).map(({ kind, n }) => `${kind} ${n}`)
    await expect.poll(untold, { timeout: 60_000 }).toEqual([])
    expect((await call('POST', '/audit/verify', { body: {} })).body).toMatchObject({ ok: true })
  })
})

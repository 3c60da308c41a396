import { setTimeout } from 'node:timers/promises'
import type { RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { EpochMs, Logger, TriggerRecord } from '@perdure/ports'
import { EVENTS, type EventSpec, type EventType, parseSubject } from '@perdure/protocol'
import { aTrigger } from '@perdure/testkit'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer } from '../create-server.ts'
import type { PerdureServer } from '../perdure-server.ts'
import { connect, type Frame, type SocketClient } from './web-socket-client.fixture.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const SPECS: Readonly<Record<string, EventSpec>> = EVENTS
const ROWS = Object.entries(SPECS)
const TOOL = { toolCallId: 'call-1', toolName: 'search' }

const agents = [
  {
    id: 'works',
    description: 'Provokes every event that a run can emit.',
    agent: {
      id: 'works',
      async run(_: unknown, { emit, tool, step, usage, approval, log, invoke }: RunContext) {
        log.info('begins', { step: 1 })
        emit('text.start', { messageId: 'm1' })
        emit('text.delta', { delta: 'hel', messageId: 'm1' })
        emit('text.end', { messageId: 'm1' })
        emit('text.complete', { text: 'hello' })
        emit('reasoning.start', { messageId: 'm2' })
        emit('reasoning.delta', { delta: 'let me see' })
        emit('reasoning.end', { messageId: 'm2' })
        emit('tool.result', { toolCallId: 'call-1', result: 1 })
        emit('part.state', { state: { city: 'Bern' } })
        emit('part.state-delta', { patch: [{ op: 'remove', path: '/city' }] })
        emit('part.source', { sourceId: 's1', url: 'https://example.com' })
        emit('part.file', { fileId: 'f1', mediaType: 'text/plain', data: 'aGk=' })
        emit('part.message', { message: { role: 'assistant', content: [{ type: 'text', text: 'hi' }] } })
        emit('part.data', { name: 'weather', data: { celsius: 3 } })
        emit('tool.call.start', TOOL)
        emit('tool.call.delta', TOOL)
        emit('tool.call.end', { ...TOOL, args: {} })
        emit('tool.execute.progress', TOOL)
        await usage({ provider: 'acme', model: 'small', inputTokens: 1 })
        await tool({ name: 'search', execute: () => 1 })
        await tool({ name: 'broken', execute: () => Promise.reject(new Error('no')) })
        await step('fetch', () => 1)
        await invoke('quick')
        await step('flaky', () => Promise.reject(new Error('no')), { retries: 0 }).catch(ignore)
        await approval('soon', { timeout: 1 })
        await approval('reminded', { timeout: 200, remindAfter: 1, escalateTo: 'staff' })
        await tool({ name: 'delete', approval: true, execute: () => 1 })
        return 'done'
      },
    },
  },
  { id: 'quick', description: 'Completes at once.', agent: { id: 'quick', run: async () => 'done' } },
  {
    ...{ id: 'judged', description: 'Is judged after its end.', agent: { id: 'judged', run: async () => 'done' } },
    scorers: { use: [{ name: 'is done', score: () => ({ pass: true }) }], sample: 1 },
  },
  { id: 'fails', description: 'Fails.', agent: { id: 'fails', run: () => Promise.reject(new Error('no')) } },
  {
    id: 'retries',
    description: 'Fails in its first attempt.',
    retries: { max: 1, delay: 1 },
    agent: {
      id: 'retries',
      run: async (_: unknown, { attempt, emit }: RunContext) => {
        await emit('text.delta', { delta: 'hel' })
        if (attempt === 1) throw new Error('no')
      },
    },
  },
  {
    id: 'holds',
    description: 'Runs until it is aborted, one at a time.',
    concurrency: 'single',
    onBusy: 'queue',
    agent: {
      id: 'holds',
      run: (_: unknown, { signal }: RunContext) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
    },
  },
  {
    id: 'chats',
    description: 'Waits for another message of its session, and summarizes it.',
    concurrency: 'session',
    onBusy: 'queue',
    agent: {
      id: 'chats',
      async run(_: unknown, { session }: RunContext) {
        while ((await session?.takeMessages())?.length === 0) await setTimeout(5)
        await session?.compact(() => 'one message')
      },
    },
  },
] as const
const workflows = [
  {
    id: 'flow',
    description: 'Makes one step.',
    workflow: { id: 'flow', execute: (_: unknown, { step }: RunContext) => step('one', () => 1) },
  },
]

const RING = { kind: 'event', event: 'ring', target: { agentId: 'quick' } } as const
const triggers = [
  { ...RING, id: 'bell' },
  { ...RING, id: 'bad', event: 'break', target: { agentId: 'fails' } },
  { ...RING, id: 'slow', event: 'knock', target: { agentId: 'holds' } },
]
const HOUR_MS = 3_600_000

/** A trigger that was due while no server was running. */
const late = (): TriggerRecord =>
  aTrigger({
    ...{ id: 'late', kind: 'interval', intervalMs: 60_000, catchUp: 'none' },
    ...{ anchorAt: hoursAgo(3), nextAt: hoursAgo(2), dueAt: hoursAgo(2), createdAt: hoursAgo(3) },
  })
const hoursAgo = (hours: number) => (Date.now() - hours * HOUR_MS) as EpochMs

let server: PerdureServer
let url: string
let client: SocketClient

beforeAll(async () => {
  const storage = createInMemoryStorage({ epoch: 'e1' })
  await storage.unitOfWork.commit([{ type: 'trigger.insert', trigger: late() }])
  server = await createServer({
    config: { auth: { kind: 'none' }, server: { port: 0, rateLimit: { perIpRequests: 10_000 } } },
    adapters: { storage, logger },
    ...{ agents, workflows, triggers },
  })
  const { host, port, basePath } = await server.start()
  url = `http://${host}:${port}${basePath}`
  client = await connect(url)
  await client.initialize()
  for (const subject of [
    ...['session:chat/events', 'approvals/events', 'workflow:flow/events'],
    ...['agent:works/events', 'agent:fails/events', 'agent:holds/events', 'agent:retries/events'],
    ...['trigger:bell/events', 'trigger:bad/events', 'trigger:slow/events'],
    ...['memory/events', 'memory/conflicts', 'audit/events'],
  ]) {
    await client.subscribe(subject)
  }
  await client.subscribe('trigger:late/events', 'e1.0')
  await scenario()
  await changeWithoutRuns()
})
afterAll(() => server.stop({ force: true }))

interface Started {
  readonly id: string
  readonly runId: string
  readonly subject: string
}

const send = async (method: string, path: string, body: object) => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url + path, { method, body: JSON.stringify(body), headers })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
  return (text === '' ? {} : JSON.parse(text)) as Started
}
const post = (path: string, body: object) => send('POST', path, body)
const until = (type: string) => client.until((frame) => frame.type === type)

const ended = (runId: string, type: string) =>
  client.until((frame) => frame.type === type && (frame.payload as Started).runId === runId)

/** Waits until the agent has a run, and returns its id. */
async function firstRunOf(agentId: string): Promise<string> {
  for (;;) {
    const text = await (await fetch(`${url}/runs?agentId=${agentId}`)).text()
    const [first] = (JSON.parse(text) as { readonly items: readonly { readonly id: string }[] }).items
    if (first !== undefined) return first.id
    await setTimeout(5)
  }
}

/** Starts the agents and the workflow, and subscribes to every subject that carries their events. */
async function scenario() {
  const works = await post('/agents/works/stream', { sessionId: 'chat' })
  await client.subscribe(works.subject)
  await client.subscribe(`session:chat/runs/${works.runId}/events`)
  const asked = (frame: Frame) =>
    frame.type === 'approval.requested' && (frame.payload as { readonly name: string }).name === 'delete'
  const { payload } = await client.until(asked)
  await post(`/approvals/${(payload as { readonly approvalId: string }).approvalId}/resolve`, { approved: true })
  await ended(works.runId, 'run.completed')

  const fails = await post('/agents/fails/stream', {})
  await ended(fails.runId, 'run.failed')
  const forked = await post(`/runs/${fails.runId}/fork`, { from: 'start' })
  await ended(forked.runId, 'run.failed')

  const judged = await post('/agents/judged/run', {})
  expect(judged).toMatchObject({ status: 'completed' })
  await client.subscribe(`agent:judged-scorers/runs/${await firstRunOf('judged-scorers')}/events`, 'e1.0')
  await until('run.scored')

  const retries = await post('/agents/retries/stream', {})
  await client.subscribe(retries.subject)
  await ended(retries.runId, 'run.completed')

  const held = await post('/agents/holds/stream', {})
  const queued = await post('/agents/holds/stream', {})
  for (const { runId } of [queued, held]) {
    await client.call('run.cancel', { runId })
    await ended(runId, 'run.aborted')
  }

  const chats = await post('/agents/chats/stream', { sessionId: 'chat' })
  await client.subscribe(chats.subject)
  await post('/agents/chats/stream', { sessionId: 'chat' })
  await ended(chats.runId, 'run.completed')

  const flow = await post('/workflows/flow/execute', {})
  await client.subscribe(`workflow:flow/runs/${flow.runId}/events`)
  await ended(flow.runId, 'run.completed')
  await client.until(({ type }) => type === 'checkpoint.written')
}

/** Changes sessions, triggers and memory outside of runs. */
async function changeWithoutRuns() {
  await post('/sessions', { id: 'gone' })
  await client.subscribe('session:gone/events')
  await send('PATCH', '/sessions/gone', { title: 'Soon over' })
  await send('DELETE', '/sessions/gone', {})
  await until('session.deleted')

  await post('/events/ring', {})
  await until('trigger.fired')
  await post('/events/break', {})
  await until('trigger.failed')
  await post('/events/knock', {})
  await client.until(({ type, subject }) => type === 'trigger.fired' && subject === 'trigger:slow/events')
  await post('/events/knock', {})
  await until('trigger.skipped')
  await post('/agents/holds/abort', {})
  await post('/triggers/bell/disable', {})
  await post('/triggers/bell/enable', {})
  await until('trigger.enabled')
  await until('trigger.missed')

  const { id } = await post('/memory/facts', { text: 'The office opens at nine on every weekday' })
  await post('/memory/facts', { text: 'The office opens at ten on every weekday' })
  await until('memory.conflict')
  await send('DELETE', `/memory/facts/${id}`, {})
  await until('memory.fact.deleted')
  await post('/consolidator/run', {})
  await until('memory.consolidated')
}

const seen = (wanted: string) => client.frames.filter(({ kind, type }) => kind === 'event' && type === wanted)
const carrierOf = ({ subject }: Frame) => parseSubject(subject ?? '')?.name

describe('a server', () => {
  it.each(ROWS)('emits %s with the declared payload, and only on the declared subjects', (type, row) => {
    const frames = seen(type)

    expect(frames.length).toBeGreaterThan(0)
    for (const frame of frames) {
      expect(v.safeParse(row.payload, frame.payload).issues).toBeUndefined()
      expect(row.subjects).toContain(carrierOf(frame))
    }
  })

  it.each<[EventType, string]>([
    ['run.started', 'agent'],
    ['run.started', 'workflow'],
    ['run.started', 'agentRun'],
    ['run.started', 'workflowRun'],
    ['run.started', 'session'],
    ['run.started', 'sessionRun'],
    ['approval.requested', 'approvals'],
    ['approval.expired', 'approvals'],
    ['approval.reminder', 'approvals'],
    ['approval.escalated', 'approvals'],
    ['session.message', 'session'],
  ])('emits %s on the subject %s', (type, subject) => {
    expect(seen(type).map(carrierOf)).toContain(subject)
  })

  it('delivers every event of a subject once and in order', () => {
    const bySubject = Map.groupBy(
      client.frames.filter(({ kind }) => kind === 'event'),
      ({ subject }) => subject,
    )
    for (const frames of bySubject.values()) {
      const positions = frames.map(({ eventId }) => Number(eventId?.split('.')[1]))
      expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
    }
  })
})

import { setImmediate } from 'node:timers/promises'
import {
  createAgentRegistry,
  createEngine,
  createPhase,
  createRecall,
  createRenderEnvelope,
  createSessionService,
  createSessions,
  createWorkflowRegistry,
  type RunContext,
  type RunServices,
} from '@perdure/core'
import { nodeDigest } from '@perdure/platform-node'
import { EVERY_ROW, type Logger, noMeter, type Page, type Storage } from '@perdure/ports'
import { openSqliteStorage } from '@perdure/sqlite'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'

const TURNS = 1_000
const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const ALICE = { subject: 'alice', scopes: ['admin:*'] }

/** Storage work of one turn. */
interface Work {
  readonly operations: number
  readonly rowsRead: number
  readonly writes: number
}

/** Counts the calls through the ports of a storage. */
function counted(storage: Storage) {
  let work = { operations: 0, rowsRead: 0, writes: 0 }
  const pending = new Set<Promise<unknown>>()
  const track = async <T>(call: Promise<T>): Promise<T> => {
    pending.add(call)
    return call.finally(() => pending.delete(call))
  }
  const rowsOf = (result: unknown): number => {
    if (Array.isArray(result)) return result.length
    const page = result as Page<unknown> | undefined
    return page?.items?.length ?? (result === undefined ? 0 : 1)
  }
  const countReads = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get:
        (target, name) =>
        async (...given: unknown[]) => {
          const result = await track(
            (Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>)(...given),
          )
          work = { ...work, operations: work.operations + 1, rowsRead: work.rowsRead + rowsOf(result) }
          return result
        },
    })
  const { unitOfWork, close, status, ...ports } = storage
  const reads = Object.fromEntries(
    Object.entries(ports).map(([name, port]) => [name, typeof port === 'object' ? countReads(port) : port]),
  )
  const counting = {
    ...(reads as unknown as Omit<Storage, 'unitOfWork' | 'close' | 'status'>),
    unitOfWork: {
      async commit(writes: Parameters<typeof unitOfWork.commit>[0]) {
        const outcome = await track(unitOfWork.commit(writes))
        const changed = outcome.committed ? outcome.counts.reduce((sum, count) => sum + count, 0) : 0
        work = { ...work, operations: work.operations + 1, writes: work.writes + changed }
        return outcome
      },
    },
    ...{ close, status },
  } satisfies Storage
  /** Waits for the operations that the answer of the turn did not wait for. */
  const take = async (): Promise<Work> => {
    do {
      await Promise.all(pending)
      await setImmediate()
    } while (pending.size > 0)
    const taken = work
    work = { operations: 0, rowsRead: 0, writes: 0 }
    return taken
  }
  return { counting, take }
}

const chatty = {
  id: 'chatty',
  async run(input: unknown, { session, emit }: RunContext) {
    const recent = await session?.messages({ limit: 20 })
    await emit('turn.seen', { messages: recent?.length })
    return { heard: input, recent: recent?.length }
  },
}

async function openWorld() {
  const storage = await openSqliteStorage({ path: ':memory:', mode: 'lib' })
  const { counting, take } = counted(storage)
  const clock = createManualClock()
  const ids = createSequenceIds()
  const agents = createAgentRegistry()
  agents.register({ id: 'chatty', description: 'Reads the recent messages.', agent: chatty })
  const phase = createPhase()
  phase.enter('ready')
  const sessionOf = createSessionService({ ...counting, clock, ids, maxResultBytes: 1_000_000 })
  const render = createRenderEnvelope({ meter: noMeter, policy: 'redact' })
  const shared = { ...counting, clock, ids, digest: nodeDigest, render, meter: noMeter, basePath: '/v1' }
  const engine = createEngine({
    ...shared,
    ...{ timers: clock, yieldTurn: () => setImmediate(), logger, agents, workflows: createWorkflowRegistry(), phase },
    recall: createRecall({ idempotency: counting.idempotency, clock }),
    services: (caller) => ({ session: sessionOf(caller) }) as RunServices,
    limits: {
      ...{ concurrency: 8, maxQueued: 8, maxResultBytes: 1_000_000, maxEventBytes: 1_000 },
      ...{ abortGraceMs: 1_000, idempotencyTtlMs: 86_400_000 },
    },
  })
  const sessions = createSessions({
    ...{ ...shared, digest: nodeDigest, idempotencyTtlMs: 86_400_000 },
    ...{ abortRun: engine.abortRun, readFiles: { open: () => Promise.reject(new Error('no file is read')) } },
  })
  const turn = async (text: string): Promise<Work> => {
    await take()
    await engine.startRun({
      ...{ target: { kind: 'agent', id: 'chatty' }, body: { input: { text }, sessionId: 'long' } },
      ...{ principal: ALICE, answer: 'outcome' },
    })
    return take()
  }
  return { storage, sessions, turn }
}

describe('a session of 1,000 turns', () => {
  it('costs the same in every turn, can be exported, and is deleted completely', async () => {
    const { storage, sessions, turn } = await openWorld()
    const work: Work[] = []
    for (let index = 0; index < TURNS; index++) work.push(await turn(`turn ${index}`))

    // The first turns have fewer than 20 messages to read; after that, every turn does exactly the same work.
    expect(new Set(work.slice(20).map((one) => JSON.stringify(one))).size).toBe(1)

    const transcript = []
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await sessions.readSessions.messages('long', { limit: 200, order: 'asc', cursor }, EVERY_ROW)
      transcript.push(...page.items.map((item) => JSON.parse(String(item))))
      cursor = page.nextCursor ?? undefined
      more = cursor !== undefined
    }
    expect(transcript.map(({ seq }) => seq)).toEqual(Array.from({ length: 2 * TURNS }, (_, index) => index + 1))
    const request = { sessionId: 'long', visibility: EVERY_ROW, principal: ALICE } as const
    const exported = { message: [] as unknown[], run: 0, lines: 0 }
    const parts: Buffer[] = []
    for await (const part of await sessions.exportSession(request)) parts.push(Buffer.from(part))
    for (const line of Buffer.concat(parts).toString().trimEnd().split('\n')) {
      const { type, record } = JSON.parse(line)
      exported.lines++
      if (type === 'message') exported.message.push(record)
      if (type === 'run') exported.run++
    }
    expect(exported.message).toEqual(JSON.parse(JSON.stringify(transcript)))
    expect(exported.run).toBe(TURNS)

    await sessions.deleteSession(request)

    expect((await storage.runs.list({}, { limit: 1, order: 'asc' }, EVERY_ROW)).items).toEqual([])
    expect((await storage.sessions.messages('long', { limit: 1, order: 'asc' })).items).toEqual([])
    const left = await storage.events.read({ sessionId: 'long' }, { after: 0, limit: 10 })
    expect(left.map(({ type }) => type)).toEqual(['session.deleted'])
    await storage.close()
  })
})

import { createInMemoryStorage } from '@perdure/in-memory'
import type { CommitOutcome, EpochMs, RunRecord, RunStatus, StepRecord, Storage, Write } from '@perdure/ports'
import { aMessage, anEvent, anIdempotencyRecord, aRun, aSession, aStep, createRandom } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

/** Number of commits per test; the seed makes a failure reproducible. */
const COMMITS = Number(process.env.POSTGRES_COMMITS ?? 900)
const SEED = Number(process.env.POSTGRES_SEED ?? 1)
const NOW = 5_000 as EpochMs
/** Commits and runs of an era. */
const ERA = 60
const RUNS = 3

type Random = () => number

const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
const number = (random: Random, below: number): number => Math.floor(random() * below)

const STATUSES: readonly RunStatus[] = ['queued', 'running', 'suspended', 'completed', 'failed']

/** What the rows of an era look like before a batch, so that most conditions of the batch hold at first. */
interface Known {
  readonly era: number
  readonly runs: ReadonlyMap<string, RunRecord>
  readonly steps: ReadonlyMap<string, StepRecord>
}

async function known(storage: Storage, era: number): Promise<Known> {
  const ids = Array.from({ length: COMMITS }, (_, n) => `${Math.floor(n / ERA)}-${n % RUNS}`).slice(-200)
  const runs = await Promise.all(ids.map((id) => storage.runs.find(id, 'every-row')))
  const steps = (await Promise.all(ids.map((id) => storage.steps.list(id)))).flat()
  return {
    era,
    runs: new Map(runs.flatMap((run) => (run === undefined ? [] : [[run.id, run]]))),
    steps: new Map(steps.map((step) => [`${step.runId} ${step.seq}`, step])),
  }
}

const usually = <T>(random: Random, value: T | undefined, others: readonly T[]): T =>
  value !== undefined && random() < 0.85 ? value : pick(random, others)

/**
 * A write on one of a few rows, so that commits often depend on each other. Each era has rows of its own, because rows
 * that exist and have ended only conflict.
 */
function anyWrite(random: Random, { era, runs, steps }: Known): Write {
  const runId = `run-${era}-${number(random, RUNS)}`
  const sessionId = `ses-${era}-${number(random, 2)}`
  const run = runs.get(runId)
  const attempt = usually(random, run?.attempt, [1, 2])
  const seq = 1 + number(random, 3)
  const step = steps.get(`${runId} ${seq}`)
  const transition = (): Write => ({
    type: 'run.transition',
    runId,
    from: random() < 0.8 ? [usually(random, run?.status, STATUSES)] : ['queued', 'running', 'suspended'],
    attempt,
    change: { status: pick(random, STATUSES), attempt: attempt + number(random, 2), finishReason: 'error' },
  })
  const write = pick<() => Write>(random, [
    ...[transition, transition, transition],
    () => ({ type: 'idempotency.reserve', now: NOW, record: anyRecord(random, runId, era) }),
    () => ({ type: 'idempotency.complete', runId, response: { status: 200, body: `${number(random, 99)}` } }),
    () => ({ type: 'run.insert', run: aRun({ id: runId, status: pick(random, STATUSES), sessionId }) }),
    () => ({ type: 'run.fence', runId, attempt }),
    () => ({
      type: 'run.emit',
      runId,
      attempt,
      execution: run?.execution ?? 0,
      events: [anEvent({ runId, sessionId })],
    }),
    () => ({ type: 'step.insert', step: aStep({ runId, seq, status: pick(random, ['started', 'waiting']) }) }),
    () => ({
      type: 'step.change',
      runId,
      seq,
      from: usually(random, step?.status, ['started', 'waiting', 'completed']),
      change: { status: pick(random, ['started', 'completed', 'failed', 'waiting']), result: '1' as never },
    }),
    () => ({
      type: 'step.fence',
      runId,
      seqs: [...steps.values()].filter((one) => one.runId === runId && one.status === 'waiting').map((one) => one.seq),
    }),
    () => ({
      type: 'event.append',
      events: [anEvent({ runId, type: `e${number(random, 99)}` }), anEvent({ sessionId })],
    }),
    () => ({
      type: 'session.insert',
      session: aSession({ id: sessionId, metadata: { tier: `${number(random, 3)}` } }),
    }),
    () => ({ type: 'session.touch', id: sessionId, at: (NOW + number(random, 99)) as EpochMs }),
    () => ({ type: 'message.append', message: aMessage({ id: `m-${random()}`, sessionId }) }),
    () => ({ type: 'lane.take', runId, slots: [{ lane: `lane-${era}`, slot: number(random, 3) }], now: NOW }),
    () => ({
      type: 'lane.take',
      runId,
      slots: [{ lane: `rate-${era}`, slot: number(random, 2), freeAt: anyTime(random) }],
      now: NOW,
    }),
    () => ({ type: 'run.charge', runId, usage: { inputTokens: 1, outputTokens: 0, costUsd: 0, toolCalls: 0 } }),
  ])
  return write()
}

const anyTime = (random: Random): EpochMs => (NOW - 50 + number(random, 100)) as EpochMs

function anyRecord(random: Random, runId: string, era: number) {
  const response = random() < 0.3 ? { status: 201, body: 'known' } : undefined
  const contentOf = random() < 0.5 ? runId : undefined
  return anIdempotencyRecord({
    id: `key-${era}-${number(random, 4)}`,
    runId,
    contentOf,
    expiresAt: anyTime(random),
    response,
  })
}

const anyCommit = (random: Random, before: Known): readonly Write[] =>
  Array.from({ length: 1 + number(random, 2) }, () => anyWrite(random, before))

async function contentOf(storage: Storage) {
  const page = { limit: 200, order: 'asc' } as const
  const { items: runs } = await storage.runs.list({}, page, 'every-row')
  const { items: sessions } = await storage.sessions.list({}, page, 'every-row')
  const ids = Array.from({ length: COMMITS }, (_, n) => `${Math.floor(n / ERA)}-${n % RUNS}`).slice(-200)
  return {
    ...{ runs, sessions },
    keys: await Promise.all(ids.map((id) => storage.idempotency.find(`key-${id}`, NOW))),
    steps: await Promise.all(ids.map((id) => storage.steps.list(`run-${id}`))),
    messages: await Promise.all(sessions.map(({ id }) => storage.sessions.messages(id, page))),
    failed: (await storage.runs.list({ finishReason: 'error' }, page, 'every-row')).items.map(({ id }) => id),
    slots: await storage.lanes.taken({ now: NOW, limit: 100 }),
    head: (await storage.events.head()).position,
  }
}

needsTool('PostgreSQL').describe('commits on a PostgreSQL server', () => {
  const schema = createTestSchema()

  it.each([
    ['as single commits', 1, true],
    ['in groups', 12, true],
    ['each in a transaction of its own', 12, false],
  ] as const)('have the outcomes that they have in memory, %s', async (_, size, groups) => {
    const random = createRandom(SEED)
    const storage = await schema.open({ groups })
    const model = createInMemoryStorage()

    for (let count = 0; count < COMMITS; count += size) {
      const before = await known(model, Math.floor(count / ERA))
      const commits = Array.from({ length: size }, () => anyCommit(random, before))
      const expected: CommitOutcome[] = []
      for (const writes of commits) expected.push(await model.unitOfWork.commit(writes))

      const outcomes = await Promise.all(commits.map((writes) => storage.unitOfWork.commit(writes)))

      for (const [n, outcome] of outcomes.entries()) expect(outcome, JSON.stringify(commits[n])).toEqual(expected[n])
    }
    expect(await contentOf(storage)).toEqual(await contentOf(model))
  })
})

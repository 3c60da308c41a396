import { fromJsonText, type RunRecord, type StepRecord, type StoredEvent } from '@perdure/ports'
import { expect } from 'vitest'
import type { RetryOptions } from '../durable/step.ts'
import type { World } from './engine-history.fixture.ts'
import { keyOfPayload, STUMBLED, THROWN } from './engine-program.fixture.ts'
import { laneOf, OPTIONS, stepsOf } from './engine-world.fixture.ts'

/** A run that a restart found running continues under a later attempt, which fences off the earlier attempt. */
export function expectFenced({ foundRunning }: World, { id, status, attempt }: RunRecord): void {
  const found = foundRunning.get(id)
  const hasContinued = ['queued', 'running', 'suspended', 'completed'].includes(status)
  if (found !== undefined && hasContinued) expect(attempt, `the attempt of ${id}`).toBeGreaterThan(found)
}

/** Checks event order and queue order once every run has ended. */
export async function expectInOrder(world: World, runs: readonly RunRecord[]): Promise<void> {
  const logs = await Promise.all(
    runs.map(async (run) => ({
      run,
      steps: await stepsOf(world.environment, run),
      events: await world.environment.storage.events.read({ runId: run.id }, { after: 0, limit: 1_000 }),
    })),
  )
  for (const log of logs) {
    expectReceivedOnce(log)
    expectComplete(world, log)
    expectLifecycle(log)
    expectAttempts(world, log)
  }
  expectFirstInFirstOut(world, logs)
}

interface Log {
  readonly run: RunRecord
  readonly steps: readonly StepRecord[]
  readonly events: readonly StoredEvent[]
}

/** A run receives an event emitted under a key at most once, even if it waits for the same name again. */
function expectReceivedOnce({ run, steps, events }: Log): void {
  const positions = new Map(events.map(({ type, payload, position }) => [`${type} ${seqOf(payload)}`, position]))
  const received = steps.flatMap(({ seq, kind, result }) => {
    const key = kind === 'event' && result !== undefined ? keyOfPayload(fromJsonText(result)) : undefined
    const [from = 0, to = 0] = [positions.get(`step.start ${seq}`), positions.get(`step.end ${seq}`)]
    return key === undefined ? [] : [{ key, from, to }]
  })
  for (const { key, to } of received) {
    const again = received.filter((other) => other.key === key && other.from > to)
    expect(again, `${run.id} receives ${key} again`).toEqual([])
  }
}

/** The log has every event that was committed for the run, in the order of the commits. */
function expectComplete({ environment }: World, { run, events }: Log): void {
  const read = events.map(({ type, payload }) => `${type} ${payload}`)
  expect(read, `the log of ${run.id}`).toEqual(environment.witness.events.get(run.id))
}

/** The events that may follow an event in the life of a run. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  'run.forked': ['run.queued', 'run.suspended'],
  'run.queued': ['run.started', 'run.suspended'],
  'run.started': ['run.suspended', 'run.retrying', 'run.queued'],
  // A parked run that is tried again is queued and started without events, and can be found running by a restart.
  'run.suspended': ['run.resumed', 'run.queued'],
  'run.resumed': ['run.started', 'run.resumed', 'run.suspended'],
  'run.retrying': ['run.started', 'run.suspended'],
}

function expectLifecycle({ run, events }: Log): void {
  const types = events.map(({ type }) => type).filter((type) => type in NEXT)
  const wrong = types.filter((type, index) => index > 0 && !NEXT[types[index - 1] ?? '']?.includes(type))
  expect(wrong, `the events of ${run.id}: ${types}`).toEqual([])
}

/** The attempts and retries of a run agree with its events, with what its code threw and with its registration. */
function expectAttempts({ environment }: World, { run, events }: Log): void {
  const { id, attempt, retries = 0, status, targetId, error } = run
  const payloads = events.map(({ type, payload }) => ({ type, ...(fromJsonText(payload) as object) }) as Lifecycle)
  const retried = payloads.filter(({ type }) => type === 'run.retrying')
  const restarted = payloads.filter(
    ({ type, reason = '' }) => type === 'run.queued' && ['recovered', 'shutdown'].includes(reason),
  )
  const max = maxRetries(OPTIONS[targetId]?.retries)
  expect([retried.length, attempt], `the retries and attempts of ${id}`).toEqual([
    retries,
    1 + retries + restarted.length,
  ])
  expect(retries, `the retries of ${id}`).toBeLessThanOrEqual(max)
  const thrown = environment.executions.thrown.filter(({ runId }) => runId === id)
  for (const { attempt: next } of retried) {
    const cause = thrown.find((one) => one.attempt === next - 1)
    expect(cause, `what attempt ${next - 1} of ${id} threw`).toMatchObject({ isFinal: false })
  }
  if (status === 'failed' && RETRYABLE.includes(error?.code ?? ''))
    expect(retries, `the retries of ${id}, failed`).toBe(max)
}

const maxRetries = (retries: number | RetryOptions = 0) => (typeof retries === 'number' ? retries : retries.max)

const RETRYABLE = [THROWN, STUMBLED, 'step-failed']

interface Lifecycle {
  readonly type: string
  readonly attempt: number
  readonly reason?: string
}

const seqOf = (payload: StoredEvent['payload']) => (fromJsonText(payload) as { readonly seq?: number }).seq

/** Queued runs start in queue order, within one lane and one process. */
function expectFirstInFirstOut({ bootedAt }: World, logs: readonly Log[]): void {
  const processOf = (position: number) => bootedAt.filter((boot) => boot < position).length
  const waited = logs.flatMap(({ run, events }) => {
    const [first] = events
    const started = events.find(({ type }) => type === 'run.started')
    if (first?.type !== 'run.queued' || started === undefined || run.parentRunId !== undefined) return []
    const queue = `${laneOf(run) ?? 'all'} in process ${processOf(first.position)}`
    return processOf(first.position) === processOf(started.position)
      ? [{ queue, from: first.position, to: started.position }]
      : []
  })
  for (const [name, queued] of Map.groupBy(waited, (one) => one.queue)) {
    const starts = queued.toSorted((one, other) => one.from - other.from).map(({ to }) => to)
    expect(starts, `the starts of ${name}`).toEqual(starts.toSorted((one, other) => one - other))
  }
}

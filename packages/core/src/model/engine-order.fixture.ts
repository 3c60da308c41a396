import { fromJsonText, type RunRecord, type StepRecord, type StoredEvent } from '@perdure/ports'
import { expect } from 'vitest'
import type { World } from './engine-history.fixture.ts'
import { keyOfPayload } from './engine-program.fixture.ts'
import { laneOf, stepsOf } from './engine-world.fixture.ts'

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
  for (const log of logs) expectReceivedOnce(log)
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

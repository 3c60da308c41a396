import { fromJsonText, type RunRecord, type StepRecord, type StoredEvent } from '@perdure/ports'
import { expect } from 'vitest'
import type { World } from './engine-history.fixture.ts'
import { keyOfPayload } from './engine-program.fixture.ts'
import { laneOf, stepsOf } from './engine-world.fixture.ts'

/** A run that was found executing by the next process goes on under a later attempt, which is what fences the earlier one. */
export function expectFenced({ foundRunning }: World, { id, status, attempt }: RunRecord): void {
  const found = foundRunning.get(id)
  const hasGoneOn = ['queued', 'running', 'suspended', 'completed'].includes(status)
  if (found !== undefined && hasGoneOn) expect(attempt, `the attempt of ${id}`).toBeGreaterThan(found)
}

/** What holds of the order of things once every run has ended. */
export async function expectInOrder(world: World, runs: readonly RunRecord[]): Promise<void> {
  const logs = await Promise.all(
    runs.map(async (run) => ({
      run,
      steps: await stepsOf(world.around, run),
      events: await world.around.storage.events.read({ runId: run.id }, { after: 0, limit: 1_000 }),
    })),
  )
  for (const log of logs) expectHeardOnce(log)
  expectFirstInFirstOut(world, logs)
}

interface Log {
  readonly run: RunRecord
  readonly steps: readonly StepRecord[]
  readonly events: readonly StoredEvent[]
}

/** A run that waits for a name again, after an event under a key has woken it, does not hear of that one again. */
function expectHeardOnce({ run, steps, events }: Log): void {
  const positions = new Map(events.map(({ type, payload, position }) => [`${type} ${seqOf(payload)}`, position]))
  const heard = steps.flatMap(({ seq, kind, result }) => {
    const key = kind === 'event' && result !== undefined ? keyOfPayload(fromJsonText(result)) : undefined
    const [from = 0, to = 0] = [positions.get(`step.start ${seq}`), positions.get(`step.end ${seq}`)]
    return key === undefined ? [] : [{ key, from, to }]
  })
  for (const { key, to } of heard) {
    const again = heard.filter((other) => other.key === key && other.from > to)
    expect(again, `${run.id} hears of ${key} again`).toEqual([])
  }
}

const seqOf = (payload: StoredEvent['payload']) => (fromJsonText(payload) as { readonly seq?: number }).seq

/** Runs that had to wait start in the order in which they lined up, one lane and one process at a time. */
function expectFirstInFirstOut({ bootedAt }: World, logs: readonly Log[]): void {
  const processOf = (position: number) => bootedAt.filter((boot) => boot < position).length
  const waited = logs.flatMap(({ run, events }) => {
    const [first] = events
    const started = events.find(({ type }) => type === 'run.started')
    if (first?.type !== 'run.queued' || started === undefined || run.parentRunId !== undefined) return []
    const line = `${laneOf(run) ?? 'all'} in process ${processOf(first.position)}`
    return processOf(first.position) === processOf(started.position)
      ? [{ line, from: first.position, to: started.position }]
      : []
  })
  for (const [name, line] of Map.groupBy(waited, (one) => one.line)) {
    const starts = line.toSorted((one, other) => one.from - other.from).map(({ to }) => to)
    expect(starts, `the starts of ${name}`).toEqual(starts.toSorted((one, other) => one - other))
  }
}

import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { EpochMs, RunRecord, Write } from '@perdure/ports'
import { toJsonText } from '@perdure/ports'
import { openSqliteStorage } from '@perdure/sqlite'
import { anEvent, anIdempotencyRecord, aRun } from '@perdure/testkit'

const BATCH = 500

export interface Stored {
  readonly runs: number
  /** How many of the runs are left `running`, as after a crash. */
  readonly running: number
}

/** Fills a database with the rows of finished runs that have idempotency keys. Returns its size in bytes. */
export async function storeRuns(folder: string, { runs, running }: Stored): Promise<number> {
  const path = join(folder, 'data.db')
  const storage = await openSqliteStorage({ path, mode: 'lib', synchronous: 'normal' })
  const from = Date.now() - runs
  for (let first = 0; first < runs; first += BATCH) {
    const writes = Array.from({ length: Math.min(BATCH, runs - first) }, (_, index) =>
      writesOf(first + index, from, first + index >= runs - running),
    )
    await storage.unitOfWork.commit(writes.flat())
  }
  await storage.close()
  return statSync(path).size
}

function writesOf(number: number, from: number, isRunning: boolean): readonly Write[] {
  const id = `run_${(from + number).toString(36).toUpperCase().padStart(26, '0')}`
  const at = (from + number) as EpochMs
  const ended: Partial<RunRecord> = isRunning
    ? { status: 'running' }
    : { status: 'completed', finishReason: 'completed', result: toJsonText({ text: 'hello' }), completedAt: at }
  const run = aRun({
    id,
    targetId: 'echo',
    createdAt: at,
    startedAt: at,
    input: toJsonText({ text: 'hello' }),
    ...ended,
  })
  const response = { status: 200, body: toJsonText({ runId: id, status: 'completed', result: { text: 'hello' } }) }
  const key = `${number}`.padStart(64, '0')
  const record = { ...anIdempotencyRecord({ id: key, runId: id }), expiresAt: (at + 86_400_000) as EpochMs, response }
  return [
    { type: 'run.insert', run },
    ...(isRunning ? [] : [{ type: 'idempotency.reserve', record, now: at } as const]),
    {
      type: 'event.append',
      events: ['run.started', 'run.completed'].map((type) =>
        anEvent({ runId: id, type, topic: 'agent:echo/events', at }),
      ),
    },
  ]
}

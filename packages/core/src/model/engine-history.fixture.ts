import type { RunRecord } from '@perdure/ports'
import { expect } from 'vitest'
import type { Program } from './engine-program.fixture.ts'
import type { Process, Surroundings } from './engine-world.fixture.ts'

/** A request that starts a run. */
export interface Start {
  readonly targetId: string
  readonly program: Program
  readonly key: string | undefined
  readonly sessionId: string | undefined
  readonly threadId: string | undefined
  readonly wallClockMs: number | undefined
  readonly answer: 'accepted' | 'outcome'
}

/** What callers have done and heard so far, against which the storage is held. */
export interface World {
  readonly around: Surroundings
  process: Process
  restarts: number
  readonly starts: Map<string, Start> // by key
  readonly runOfKey: Map<string, string>
  readonly emitted: Map<string, string> // names, by the key they were first emitted under
  readonly ended: Map<string, RunRecord>
  readonly decided: Map<string, boolean> // approvals, by the first answer a caller has heard
  readonly resumed: Set<string> // runs that were resumed with a payload
  readonly aborted: Set<string> // runs that a caller has tried to abort
  readonly refusals: Set<string>
  /** How often the process died while a step was under way, by effect id. */
  readonly deaths: Map<string, number>
  readonly stepsDone: Map<string, number>
  /** Where the log stood when each further process started. */
  readonly bootedAt: number[]
  /** The attempt in which a process that started has found a run executing. */
  readonly foundRunning: Map<string, number>
}

export function expectOneRun({ runOfKey }: World, key: string, runId = ''): void {
  if (!runOfKey.has(key)) runOfKey.set(key, runId)
  expect(runId, `the run of ${key}`).toBe(runOfKey.get(key))
}

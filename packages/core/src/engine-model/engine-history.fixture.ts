import type { RunRecord } from '@perdure/ports'
import { expect } from 'vitest'
import type { Program } from './engine-program.fixture.ts'
import type { Environment, Process } from './engine-world.fixture.ts'

/** A request that starts a run. */
export interface Start {
  readonly targetId: string
  readonly program: Program
  readonly key: string | undefined
  readonly version: string | undefined
  readonly sessionId: string | undefined
  readonly threadId: string | undefined
  readonly maxDuration: number | undefined
  readonly answer: 'accepted' | 'outcome'
}

/** The requests and answers of callers so far. The storage must agree with them. */
export interface World {
  readonly environment: Environment
  process: Process
  restarts: number
  readonly starts: Map<string, Start> // by key
  readonly runOfKey: Map<string, string>
  readonly emitted: Map<string, string> // event name by key
  readonly ended: Map<string, RunRecord>
  readonly decided: Map<string, boolean> // first answered decision, by approval
  readonly resumed: Set<string> // runs resumed with a payload
  readonly aborted: Set<string> // runs that a caller tried to abort
  readonly refusals: Set<string>
  /** Crashes of the process while a step was executing, by effect id. */
  readonly crashes: Map<string, number>
  readonly stepsDone: Map<string, number>
  /** The head position of the log at each restart. */
  readonly bootedAt: number[]
  /** The fork that answered each key. */
  readonly forkOfKey: Map<string, string>
  /** The last call that each fork must copy, as far as its request tells. */
  readonly forkedAt: Map<string, number>
  /** The log and the calls of each ended run. */
  readonly logs: Map<string, string>
  /** Whether the outside world was down at some time. */
  wasDown: boolean
  /** Commands and states that occurred in this history. */
  readonly seen: Set<string>
  /** The attempt of each run that a restart found running. */
  readonly foundRunning: Map<string, number>
}

export function expectOneRun({ runOfKey }: World, key: string, runId = ''): void {
  if (!runOfKey.has(key)) runOfKey.set(key, runId)
  expect(runId, `the run of ${key}`).toBe(runOfKey.get(key))
}

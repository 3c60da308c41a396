import type { Write } from '@perdure/ports'
import { type Code, nameOf } from './engine-code.fixture.ts'
import { kindOf, type Witness } from './engine-witness.fixture.ts'

/** An error that the code of a run has thrown out of one execution. */
export interface Thrown {
  readonly runId: string
  readonly attempt: number
  readonly isFinal: boolean
}

export interface VersionAnswer {
  readonly version: number
  /** The lowest version that the code supported. */
  readonly min: number
  /** Whether a version of the run was recorded. */
  readonly isRecorded: boolean
}

/** The effects of the code of runs. */
export interface Executions {
  /** The names of the code that has executed a run. */
  readonly codes: Map<string, Set<string>>
  readonly thrown: Thrown[]
  /** The answers of `ctx.version` on which each run has acted. */
  readonly versions: Map<string, VersionAnswer[]>
  /** The answers in the current execution of a run, until it acts: code that diverges never does. */
  readonly pending: Map<string, VersionAnswer[]>
  /** Runs that were executed by code of another version than theirs. */
  readonly misplaced: string[]
}

export const createExecutions = (): Executions => ({
  ...{ codes: new Map(), thrown: [], versions: new Map(), pending: new Map(), misplaced: [] },
})

interface Entered {
  readonly runId: string
  readonly version: string | undefined
  readonly code: Code
}

/** A run acts when it records a call or waits for something other than code. */
export function noteActions({ versions, pending }: Executions, writes: readonly Write[]): void {
  for (const write of writes) {
    const isWait = write.type === 'run.transition' && write.change.status === 'suspended' && kindOf([write]) !== 'park'
    const runId = write.type === 'step.insert' ? write.step.runId : isWait ? write.runId : undefined
    const answers = runId === undefined ? undefined : pending.get(runId)
    if (runId === undefined || answers === undefined) continue
    versions.set(runId, [...(versions.get(runId) ?? []), ...answers])
    pending.delete(runId)
  }
}

export function noteExecution(executions: Executions, witness: Witness, { runId, version, code }: Entered): void {
  executions.pending.delete(runId)
  const codes = executions.codes.get(runId) ?? new Set()
  executions.codes.set(runId, codes.add(nameOf(code)))
  const own = witness.versions.get(runId)
  if (own !== undefined && own !== version) executions.misplaced.push(`${runId} of ${own} in ${version}`)
}

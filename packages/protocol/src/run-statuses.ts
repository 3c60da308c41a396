interface RunStatusSpec {
  /** Whether a run with this status has not ended yet. */
  readonly isActive: boolean
  /** The event that ends a run with this status. */
  readonly endedBy?: `run.${string}`
}

/** The statuses of a run. Every other list of run statuses derives from this table. */
export const RUN_STATUSES = {
  queued: { isActive: true },
  running: { isActive: true },
  suspended: { isActive: true },
  completed: { isActive: false, endedBy: 'run.completed' },
  failed: { isActive: false, endedBy: 'run.failed' },
  aborted: { isActive: false, endedBy: 'run.aborted' },
} as const satisfies Record<string, RunStatusSpec>

export type RunStatusName = keyof typeof RUN_STATUSES

/** A status with which a run ends. */
export type EndedRunStatus = {
  [Name in RunStatusName]: (typeof RUN_STATUSES)[Name]['isActive'] extends true ? never : Name
}[RunStatusName]

export const RUN_STATUS_NAMES = Object.keys(RUN_STATUSES) as readonly RunStatusName[]

/** Whether a run with this status has ended. */
export const isTerminal = (status: RunStatusName): status is EndedRunStatus => !RUN_STATUSES[status].isActive

/** Statuses of runs that have not ended. */
export const ACTIVE_RUN_STATUSES: readonly RunStatusName[] = RUN_STATUS_NAMES.filter((name) => !isTerminal(name))

/** Statuses of runs that have ended. */
export const ENDED_RUN_STATUSES: readonly EndedRunStatus[] = RUN_STATUS_NAMES.filter(isTerminal)

/** Types of the events that end a run: nothing follows them on the subject of the run. */
export const RUN_ENDING_EVENTS: readonly string[] = Object.values<RunStatusSpec>(RUN_STATUSES).flatMap(
  ({ endedBy }) => endedBy ?? [],
)

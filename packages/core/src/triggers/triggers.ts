import {
  type Clock,
  type CronSchedule,
  type Digest,
  type IdGenerator,
  type Logger,
  type Meter,
  noTracer,
  type RunRecord,
  type Storage,
  type Timers,
  type Tracer,
  type UnitOfWork,
} from '@perdure/ports'
import type { StartRun } from '../engine/start-run.ts'
import type { RunTargets } from '../targets/run-target.ts'
import { createCreateTrigger } from './create-trigger.ts'
import { type DeclareTriggersDeps, declareTriggers, redeclareTriggers } from './declare-triggers.ts'
import { createFireByHand } from './fire-by-hand.ts'
import { createFireEventTriggers, createFireHookTriggers } from './fire-event-triggers.ts'
import { createManageTriggers } from './manage-triggers.ts'
import { createReadTriggers } from './read-triggers.ts'
import { createSchedule } from './schedule.ts'
import { createTriggerDaemon } from './trigger-daemon.ts'
import type { TriggerDefinition, TriggerRegistration } from './trigger-definition.ts'

export interface TriggersDeps
  extends Pick<Storage, 'triggers' | 'fires' | 'runs' | 'sessions'>,
    Pick<DeclareTriggersDeps, 'nodes' | 'executor' | 'undeclaredMs' | 'hooks'> {
  /** Must publish the events that it commits. */
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly timers: Timers
  readonly ids: IdGenerator
  readonly digest: Digest
  readonly logger: Logger
  readonly meter: Meter
  /** Default: no tracing. */
  readonly tracer?: Tracer | undefined
  readonly cronSchedule: CronSchedule
  readonly targets: RunTargets
  readonly startRun: StartRun
  /** As in `EngineDeps`. */
  readonly createSessionOnInvoke?: boolean | undefined
  readonly basePath: string
  readonly idempotencyTtlMs: number
}

export type Triggers = ReturnType<typeof createTriggers>

/** Wires the use cases and the daemon of triggers. */
export function createTriggers({ tracer = noTracer, ...rest }: TriggersDeps) {
  const given = { ...rest, tracer }
  const schedule = createSchedule(given)
  const daemon = createTriggerDaemon({
    ...{ ...given, schedule },
    isScored: ({ kind, targetId }) => given.targets.find(kind, targetId)?.scoring !== undefined,
  })
  const deps = { ...given, schedule, wake: daemon.wake }
  let declared: readonly TriggerDefinition[] | undefined

  return {
    daemon,
    readTriggers: createReadTriggers(deps),
    createTrigger: createCreateTrigger(deps),
    manageTriggers: createManageTriggers(deps),
    fireByHand: createFireByHand(deps),
    fireEventTriggers: createFireEventTriggers(deps),
    fireHookTriggers: createFireHookTriggers(deps),
    /** Must be called before the daemon starts. @throws StartError `config-invalid` */
    async declare(registrations: readonly TriggerRegistration[]) {
      declared = await declareTriggers(deps, registrations)
      await daemon.refresh()
    },
    /** Compares the triggers with what the living processes declare by now. */
    async redeclare() {
      if (declared !== undefined) await redeclareTriggers(deps, declared)
    },
    /** Must be called for every run that has ended or was suspended. */
    observe: (run: RunRecord) => daemon.observe(run),
  }
}

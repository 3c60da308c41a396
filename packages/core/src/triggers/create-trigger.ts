import {
  AppError,
  type CronSchedule,
  EVERY_ROW,
  type Meter,
  type SessionStore,
  type TriggerRecord,
  type TriggerStore,
} from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { recording } from '../audit/recording.ts'
import { authorizeTarget } from '../auth/authorize.ts'
import { authorizeSessionUse } from '../auth/authorize-session-use.ts'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { checkInput } from '../targets/check-input.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import { kindOf } from './kinds/trigger-kinds.ts'
import { type Schedule, undecidedFrom } from './schedule.ts'
import { checkDefinition, newTrigger, type TriggerDefinition } from './trigger-definition.ts'
import { toTriggerResource } from './trigger-resource.ts'

export interface CreateTriggerDeps extends CommitOnceDeps {
  readonly triggers: TriggerStore
  readonly sessions: SessionStore
  readonly targets: RunTargets
  readonly schedule: Schedule
  readonly cronSchedule: CronSchedule
  readonly meter: Meter
  readonly basePath: string
  /** Has the daemon look at what is new. */
  readonly wake: () => void
}

export interface CreateTriggerCall {
  readonly definition: TriggerDefinition
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

/** As many as one server holds. */
const MAX_TRIGGERS = 1_000

/**
 * Creates a trigger over the API. It acts on behalf of who creates it, so they must be allowed to do what it will do.
 *
 * @throws AppError `validation-failed`, `invalid-input`, `agent-not-found`, `workflow-not-found`,
 *   `session-not-found`, `trigger-exists`, `audit-unavailable`
 */
export type CreateTrigger = (call: CreateTriggerCall) => Promise<Reply>

export function createCreateTrigger(deps: CreateTriggerDeps): CreateTrigger {
  const { triggers, clock, schedule, cronSchedule, basePath, wake } = deps

  return async ({ definition, principal, key }) => {
    await schedule.ready(definition)
    checkDefinition(definition, cronSchedule, clock.now())
    await checkTarget(deps, definition, principal)
    let isTried = false
    const once = await recording(() =>
      commitOnce(deps, key, async () => {
        // Only once it was tried: the same request under the same key is answered again, whoever was first.
        if (isTried && (await triggers.find(definition.id)) !== undefined) throw new AppError('trigger-exists')
        isTried = true
        await refuseTooMany(triggers)
        const now = clock.now()
        const bare = newTrigger(definition, { owner: principal.subject, source: 'api', now })
        const trigger: TriggerRecord = { ...bare, ...schedule.occurrenceAfter(bare, undecidedFrom(bare, now)) }
        return {
          writes: [
            { type: 'trigger.insert', trigger },
            auditWrite(principal, { at: now, action: 'triggers.create', target: trigger.id }),
          ],
          reply: {
            status: 201,
            body: toTriggerResource(trigger, now),
            location: `${basePath}/triggers/${trigger.id}`,
          },
          remember: true,
        }
      }),
    )
    if (once.kind === 'replayed') return once.reply
    wake()
    return once.decision.reply
  }
}

async function checkTarget(
  { targets, sessions }: CreateTriggerDeps,
  definition: TriggerDefinition,
  principal: Principal,
): Promise<void> {
  const { target } = definition
  const isAgent = 'agentId' in target
  const registered = isAgent ? targets.get('agent', target.agentId) : targets.get('workflow', target.workflowId)
  refuseForeign(principal, registered)
  if (kindOf(definition).needsInput || target.input !== undefined) await checkInput(registered, target.input)
  if (target.sessionId === undefined) return
  const session = await sessions.find(target.sessionId, EVERY_ROW)
  if (session !== undefined && !authorizeSessionUse(principal, session)) throw new AppError('session-not-found')
}

/** A target that the principal may not start answers as if it did not exist; the hint says what it takes. */
function refuseForeign(principal: Principal, target: Pick<RunTarget, 'kind' | 'id'>): void {
  try {
    authorizeTarget(principal, target)
  } catch (error) {
    if (!(error instanceof AppError) || error.id !== 'scope-denied') throw error
    const code = target.kind === 'agent' ? 'agent-not-found' : 'workflow-not-found'
    throw new AppError(
      code,
      error.hint === undefined ? {} : { hint: `${error.hint} to make it the target of a trigger` },
    )
  }
}

async function refuseTooMany(triggers: TriggerStore): Promise<void> {
  const { active, disabled } = await triggers.overview()
  if (active + disabled < MAX_TRIGGERS) return
  throw new AppError('validation-failed', {
    message: `body: there are ${MAX_TRIGGERS} triggers already, as many as a server holds`,
    hint: 'POST /triggers/prune removes disabled, expired and orphaned ones',
  })
}

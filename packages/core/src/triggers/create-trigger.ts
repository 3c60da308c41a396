import {
  type Conflict,
  type CronSchedule,
  isRefusal,
  type Meter,
  perdureError,
  type TriggerRecord,
} from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import { authorizeTarget } from '../auth/authorize.ts'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { type FindSessionForRunDeps, findSessionForRun } from '../sessions/find-session-for-run.ts'
import { checkInput } from '../targets/check-input.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import { kindOf } from './kinds/trigger-kinds.ts'
import { type Schedule, undecidedFrom } from './schedule.ts'
import { checkDefinition, hookProblem, newTrigger, type TriggerDefinition } from './trigger-definition.ts'
import { toTriggerResource } from './trigger-resource.ts'

export interface CreateTriggerDeps extends CommitOnceDeps, FindSessionForRunDeps {
  readonly targets: RunTargets
  readonly schedule: Schedule
  readonly cronSchedule: CronSchedule
  /** The hooks of the configuration. */
  readonly hooks?: Pick<ReadonlyMap<string, unknown>, 'has'> | undefined
  readonly meter: Meter
  readonly basePath: string
  /** Wakes the daemon to schedule the new trigger. */
  readonly wake: () => void
}

export interface CreateTriggerCall {
  readonly definition: TriggerDefinition
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

/** Maximum number of triggers of all servers that share a storage, including disabled triggers. */
const MAX_TRIGGERS = 1_000

/**
 * Creates a trigger over the API. The trigger acts on behalf of its creator, so the creator must be allowed to start
 * the target, and to use or create its session.
 *
 * @throws PerdureError `validation-failed`, `invalid-input`, `agent-not-found`, `workflow-not-found`, `session-not-found`,
 *   `trigger-exists`, `audit-unavailable`
 */
export type CreateTrigger = (call: CreateTriggerCall) => Promise<Reply>

export function createCreateTrigger(deps: CreateTriggerDeps): CreateTrigger {
  const { clock, schedule, cronSchedule, basePath, wake } = deps

  return async ({ definition, principal, key }) => {
    await schedule.ready(definition)
    checkDefinition(definition, cronSchedule, clock.now())
    const problem = hookProblem(definition, deps.hooks)
    if (problem !== undefined) throw perdureError('validation-failed', { message: `body.${problem}` })
    await checkTarget(deps, definition, principal)
    const once = await requireAudit(() =>
      commitOnce(deps, key, async (earlier) => {
        refuseInsertion(earlier)
        const now = clock.now()
        const unscheduled = newTrigger(definition, { owner: principal.subject, source: 'api', now })
        const trigger: TriggerRecord = {
          ...unscheduled,
          ...schedule.occurrenceAfter(unscheduled, undecidedFrom(unscheduled, now)),
        }
        return {
          writes: [
            { type: 'trigger.insert', trigger, maxTriggers: MAX_TRIGGERS },
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
  deps: CreateTriggerDeps,
  definition: TriggerDefinition,
  principal: Principal,
): Promise<void> {
  const { targets } = deps
  const { target } = definition
  const isAgent = 'agentId' in target
  const registered = isAgent ? targets.get('agent', target.agentId) : targets.get('workflow', target.workflowId)
  checkTargetIsVisible(principal, registered)
  if (kindOf(definition).needsInput || target.input !== undefined) await checkInput(registered, target.input)
  if (target.sessionId !== undefined) await findSessionForRun(deps, principal, target.sessionId)
}

/** If the principal may not start the target, throws the error of a missing target; its hint names the scope. */
function checkTargetIsVisible(principal: Principal, target: Pick<RunTarget, 'kind' | 'id'>): void {
  try {
    authorizeTarget(principal, target)
  } catch (error) {
    if (!isRefusal(error) || error.code !== 'scope-denied') throw error
    const code = target.kind === 'agent' ? 'agent-not-found' : 'workflow-not-found'
    throw perdureError(
      code,
      error.hint === undefined ? {} : { hint: `${error.hint} to make it the target of a trigger` },
    )
  }
}

function refuseInsertion(earlier: Conflict | undefined): void {
  if (earlier?.type !== 'trigger.insert') return
  if (earlier.current !== undefined) throw perdureError('trigger-exists')
  if (earlier.isFull !== true) return
  throw perdureError('validation-failed', {
    message: `body: the server already has ${MAX_TRIGGERS} triggers, which is the limit`,
    hint: 'remove disabled, expired and orphaned triggers with POST /triggers/prune',
  })
}

import {
  type Clock,
  type CronSchedule,
  type EpochMs,
  type JsonText,
  type Logger,
  StartError,
  type TriggerRecord,
  type TriggerStore,
  toJsonText,
  type UnitOfWork,
} from '@perdure/ports'
import { CreateTriggerRequest } from '@perdure/protocol'
import { getDotPath, safeParse } from 'valibot'
import type { RunTargets } from '../targets/run-target.ts'
import { eachTrigger } from './each-trigger.ts'
import { replaceTrigger } from './fire-writes.ts'
import { kindOf } from './kinds/trigger-kinds.ts'
import { NOT_SCHEDULED, type Schedule, undecidedFrom } from './schedule.ts'
import { newTrigger, problemOf, type TriggerDefinition, type TriggerRegistration } from './trigger-definition.ts'

export interface DeclareTriggersDeps {
  readonly triggers: TriggerStore
  readonly targets: RunTargets
  readonly unitOfWork: UnitOfWork
  readonly schedule: Schedule
  readonly cronSchedule: CronSchedule
  readonly clock: Clock
  readonly logger: Logger
}

/** Owns the runs of triggers that code declares. */
const CODE_OWNER = 'system'

/**
 * Makes the triggers of the code those of the storage, before anything fires. A definition that is the same as last time
 * changes nothing; one that is gone makes its trigger an orphan.
 *
 * @throws StartError `config-invalid` that names the trigger at fault; nothing is written then
 */
export async function declareTriggers(
  deps: DeclareTriggersDeps,
  registrations: readonly TriggerRegistration[],
): Promise<void> {
  const definitions = await checkTriggers(deps, registrations)
  for (const definition of definitions) await declare(deps, definition)
  const declared = new Set(definitions.map(({ id }) => id))
  for await (const trigger of eachTrigger(deps.triggers)) {
    const isOrphan = trigger.source === 'code' && !declared.has(trigger.id) && trigger.orphanedAt === undefined
    if (isOrphan) await replace(deps, { ...trigger, ...NOT_SCHEDULED, orphanedAt: deps.clock.now() })
  }
}

/** The declared triggers with their defaults. @throws StartError `config-invalid` that names the trigger at fault */
export async function checkTriggers(
  deps: Pick<DeclareTriggersDeps, 'targets' | 'cronSchedule'>,
  registrations: readonly TriggerRegistration[],
): Promise<readonly TriggerDefinition[]> {
  const definitions = registrations.map(parseRegistration)
  for (const definition of definitions) await kindOf(definition).ready(deps.cronSchedule)
  const ids = new Set<string>()
  for (const definition of definitions) {
    const problem = ids.has(definition.id) ? 'id: is declared twice' : problemWith(deps, definition)
    if (problem !== undefined) throw invalid(definition.id, problem)
    ids.add(definition.id)
  }
  return definitions
}

function parseRegistration(registration: TriggerRegistration, index: number): TriggerDefinition {
  const result = safeParse(CreateTriggerRequest, registration)
  if (result.success) return result.output
  const [issue] = result.issues
  const problem = [getDotPath(issue), issue.message].filter(Boolean).join(': ')
  throw invalid((registration as { readonly id?: unknown } | null)?.id ?? index, problem)
}

function problemWith(
  { targets, cronSchedule }: Pick<DeclareTriggersDeps, 'targets' | 'cronSchedule'>,
  definition: TriggerDefinition,
): string | undefined {
  const { target } = definition
  const isRegistered =
    'agentId' in target ? targets.find('agent', target.agentId) : targets.find('workflow', target.workflowId)
  if (isRegistered === undefined) return `target: no such agent or workflow is registered: ${JSON.stringify(target)}`
  // A declared trigger may have expired: it stays declared and fires nothing.
  return problemOf({ ...definition, expiresAt: undefined }, cronSchedule, 0 as EpochMs)
}

const invalid = (id: unknown, problem: string) =>
  new StartError('config-invalid', {
    message: `trigger ${JSON.stringify(id)}: ${problem}`,
    hint: 'correct it in the triggers of the configuration',
  })

async function declare(deps: DeclareTriggersDeps, definition: TriggerDefinition): Promise<void> {
  const { triggers, unitOfWork, schedule, clock, logger } = deps
  const now = clock.now()
  const declared = toJsonText(definition)
  const bare = newTrigger(definition, { owner: CODE_OWNER, source: 'code', declared, now })
  const current = await triggers.find(definition.id)
  if (current === undefined) {
    const trigger = { ...bare, ...schedule.occurrenceAfter(bare, now) }
    await unitOfWork.commit([{ type: 'trigger.insert', trigger }])
    return
  }
  if (current.source === 'api') logger.warn('trigger taken over by the code', { triggerId: current.id })
  const isSame = current.declared === declared && current.orphanedAt === undefined && current.failure === undefined
  if (!isSame) await replace(deps, merged(deps, { current, bare, now }))
}

interface Merging {
  readonly current: TriggerRecord
  readonly bare: TriggerRecord
  readonly now: EpochMs
}

/** The new definition with what the trigger has come to. Who enabled or disabled it since keeps their say. */
function merged({ schedule }: DeclareTriggersDeps, { current, bare, now }: Merging): TriggerRecord {
  const { createdAt, decidedThrough, lastFireId, lastFireAt, lastStatus, fireCount, missed, version } = current
  const isAsked = current.source === 'api' || enabledBy(current.declared) !== bare.enabled
  const isMoved = timingOf(current) !== timingOf(bare)
  const wasScheduled = current.orphanedAt === undefined && current.failure === undefined && current.enabled
  const trigger: TriggerRecord = {
    ...bare,
    ...{ createdAt, decidedThrough, lastFireId, lastFireAt, lastStatus, fireCount, missed, version },
    enabled: isAsked ? bare.enabled : current.enabled,
    anchorAt: isMoved ? now : current.anchorAt,
  }
  const isKept = wasScheduled && !isMoved && current.nextAt !== undefined
  const placement = isKept
    ? schedule.toNextOccurrence(trigger, current.nextAt)
    : schedule.occurrenceAfter(trigger, undecidedFrom(trigger, now))
  return { ...trigger, ...placement }
}

const enabledBy = (declared: JsonText | undefined): unknown =>
  declared === undefined ? undefined : (JSON.parse(declared) as TriggerDefinition).enabled

const timingOf = ({ kind, cron, timezone, intervalMs, idleMs, event }: TriggerRecord): string =>
  JSON.stringify([kind, cron, timezone, intervalMs, idleMs, event])

const replace = ({ unitOfWork }: DeclareTriggersDeps, trigger: TriggerRecord) =>
  unitOfWork.commit([replaceTrigger({ ...trigger, version: trigger.version + 1 })])

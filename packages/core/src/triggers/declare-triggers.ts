import {
  type Clock,
  type CronSchedule,
  type Digest,
  definedMembers,
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
import { type Redeclared, replacesStored, supersededBy, undeclaredStep } from '../declarations/declared-row.ts'
import {
  fingerprintOf,
  type LivingDeclarationsDeps,
  type OtherDeclarations,
  readOtherDeclarations,
} from '../declarations/living-declarations.ts'
import type { RunTargets } from '../targets/run-target.ts'
import { eachTrigger } from './each-trigger.ts'
import { replaceTrigger } from './fire-writes.ts'
import { kindOf } from './kinds/trigger-kinds.ts'
import { NOT_SCHEDULED, type Schedule, undecidedFrom } from './schedule.ts'
import {
  hookProblem,
  newTrigger,
  problemOf,
  type TriggerDefinition,
  type TriggerRegistration,
} from './trigger-definition.ts'

export interface DeclareTriggersDeps extends LivingDeclarationsDeps {
  readonly triggers: TriggerStore
  readonly targets: RunTargets
  readonly unitOfWork: UnitOfWork
  readonly schedule: Schedule
  readonly cronSchedule: CronSchedule
  readonly clock: Clock
  readonly logger: Logger
  readonly digest: Pick<Digest, 'sha256'>
  /** The hooks of the configuration. */
  readonly hooks?: Pick<ReadonlyMap<string, unknown>, 'has'> | undefined
  /** How long a trigger fires that no living process declares. */
  readonly undeclaredMs: number
}

/** The owner of runs that are started by triggers declared in code. */
const CODE_OWNER = 'system'

/**
 * Stores the triggers that are declared in code, before anything fires. A trigger whose definition did not change is
 * left unchanged. A trigger that no living process declares becomes an orphan after a grace period; until then it fires,
 * so that a server that starts with an earlier configuration stops no schedule.
 *
 * @returns the definitions, with their defaults
 * @throws StartError `config-invalid` that names the invalid trigger; nothing is written in that case
 */
export async function declareTriggers(
  deps: DeclareTriggersDeps,
  registrations: readonly TriggerRegistration[],
): Promise<readonly TriggerDefinition[]> {
  const definitions = await checkTriggers(deps, registrations)
  const others = await readOtherDeclarations(deps)
  for (const definition of definitions) await declare(deps, definition, others)
  await followDeclarations(deps, definitions, others)
  return definitions
}

/** Compares the stored triggers with what the living processes declare by now. */
export async function redeclareTriggers(
  deps: DeclareTriggersDeps,
  definitions: readonly TriggerDefinition[],
): Promise<void> {
  const others = await readOtherDeclarations(deps)
  for (const definition of definitions) {
    const current = await deps.triggers.find(definition.id)
    const isOther = current?.source === 'code' && current.declared !== toJsonText(definition)
    if (isOther || (current?.source === 'code' && current.orphanedAt !== undefined)) {
      await declare(deps, definition, others)
    }
  }
  await followDeclarations(deps, definitions, others)
}

/** Marks the triggers that no living process declares, and makes them orphans after the grace period. */
async function followDeclarations(
  deps: DeclareTriggersDeps,
  definitions: readonly TriggerDefinition[],
  others: OtherDeclarations,
): Promise<void> {
  const { triggers, clock, logger, undeclaredMs } = deps
  const declared = new Set(definitions.map(({ id }) => id))
  for await (const trigger of eachTrigger(triggers)) {
    if (trigger.source !== 'code' || trigger.orphanedAt !== undefined) continue
    const now = clock.now()
    const isDeclared = declared.has(trigger.id) || others.has('trigger', trigger.id)
    const step = undeclaredStep(trigger, isDeclared, { now, graceMs: undeclaredMs })
    const fields = { triggerId: trigger.id, graceSeconds: Math.round(undeclaredMs / 1_000) }
    if (step === 'mark')
      logger.warn('no running server declares the trigger; it fires until the grace period ends', fields)
    if (step === 'end') logger.warn('the trigger fires no longer, because no running server declares it', fields)
    if (step !== 'none') await replace(deps, CHANGES[step](trigger, now))
  }
}

const CHANGES = {
  mark: (trigger: TriggerRecord, now: EpochMs) => ({ ...trigger, undeclaredAt: now }),
  clear: (trigger: TriggerRecord) => ({ ...trigger, undeclaredAt: undefined }),
  end: (trigger: TriggerRecord, now: EpochMs) => ({
    ...{ ...trigger, ...NOT_SCHEDULED },
    ...{ undeclaredAt: undefined, orphanedAt: now },
  }),
}

/** The declared triggers with their defaults. @throws StartError `config-invalid` that names the invalid trigger */
export async function checkTriggers(
  deps: Pick<DeclareTriggersDeps, 'targets' | 'cronSchedule' | 'hooks'>,
  registrations: readonly TriggerRegistration[],
): Promise<readonly TriggerDefinition[]> {
  const definitions = registrations.map(parseRegistration)
  for (const definition of definitions) await kindOf(definition).ready(deps.cronSchedule)
  const ids = new Set<string>()
  for (const definition of definitions) {
    const problem = ids.has(definition.id) ? 'id: is declared twice' : declarationProblem(deps, definition)
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

function declarationProblem(
  { targets, cronSchedule, hooks }: Pick<DeclareTriggersDeps, 'targets' | 'cronSchedule' | 'hooks'>,
  definition: TriggerDefinition,
): string | undefined {
  const { target } = definition
  const isRegistered =
    'agentId' in target ? targets.find('agent', target.agentId) : targets.find('workflow', target.workflowId)
  if (isRegistered === undefined) return `target: no such agent or workflow is registered: ${JSON.stringify(target)}`
  // An expired trigger may stay declared; it no longer fires.
  return (
    hookProblem(definition, hooks) ?? problemOf({ ...definition, expiresAt: undefined }, cronSchedule, 0 as EpochMs)
  )
}

const invalid = (id: unknown, problem: string) =>
  new StartError('config-invalid', {
    message: `trigger ${JSON.stringify(id)}: ${problem}`,
    hint: 'correct the trigger in the configuration',
  })

async function declare(
  deps: DeclareTriggersDeps,
  definition: TriggerDefinition,
  others: OtherDeclarations,
): Promise<void> {
  const { triggers, unitOfWork, schedule, clock, logger } = deps
  const now = clock.now()
  const declared = toJsonText(definition)
  const unscheduled = newTrigger(definition, { owner: CODE_OWNER, source: 'code', declared, now })
  const current = await triggers.find(definition.id)
  if (current === undefined) {
    const trigger = { ...unscheduled, ...schedule.occurrenceAfter(unscheduled, now) }
    await unitOfWork.commit([{ type: 'trigger.insert', trigger }])
    return
  }
  if (current.source === 'api')
    logger.warn('the trigger declared in code replaces the trigger created over the API', { triggerId: current.id })
  const isUnchanged = current.declared === declared && current.orphanedAt === undefined && current.failure === undefined
  if (isUnchanged) return
  const redeclared = redeclaredOf(deps, current, definition)
  if (redeclared !== undefined && isOlder(redeclared, others)) {
    logger.debug('another server declares a newer definition of the trigger, which stays in use', {
      triggerId: current.id,
    })
    return
  }
  const superseded = redeclared === undefined ? current.superseded : supersededBy(redeclared)
  await replace(deps, { ...mergeDefinition(deps, { current, unscheduled, now }), ...definedMembers({ superseded }) })
}

/** Compares two definitions in code; `undefined` if they are equal, or if the trigger was created over the API. */
function redeclaredOf(
  { digest }: DeclareTriggersDeps,
  current: TriggerRecord,
  definition: TriggerDefinition,
): Redeclared | undefined {
  if (current.source !== 'code' || current.declared === undefined) return undefined
  const stored = fingerprintOf(digest, JSON.parse(current.declared))
  const declared = fingerprintOf(digest, definition)
  return stored === declared ? undefined : { noun: 'trigger', row: current, stored, declared }
}

const isOlder = (redeclared: Redeclared, others: OtherDeclarations) => !replacesStored(redeclared, others)

/** The definition of a trigger of the configuration, with its defaults. */
export const triggerFingerprint = (digest: Pick<Digest, 'sha256'>, registration: TriggerRegistration): string =>
  fingerprintOf(digest, parseRegistration(registration, 0))

interface Redeclaration {
  readonly current: TriggerRecord
  readonly unscheduled: TriggerRecord
  readonly now: EpochMs
}

/**
 * The new definition with the history of the current trigger. The trigger stays enabled or disabled as an operator left
 * it, unless `enabled` was changed in code.
 */
function mergeDefinition(
  { schedule }: DeclareTriggersDeps,
  { current, unscheduled, now }: Redeclaration,
): TriggerRecord {
  const { createdAt, decidedThrough, lastFireId, lastFireAt, lastStatus, fireCount, missed, version } = current
  const codeDecides = current.source === 'api' || declaredEnabled(current.declared) !== unscheduled.enabled
  const hasNewTiming = timingOf(current) !== timingOf(unscheduled)
  const wasScheduled = current.orphanedAt === undefined && current.failure === undefined && current.enabled
  const trigger: TriggerRecord = {
    ...unscheduled,
    ...{ createdAt, decidedThrough, lastFireId, lastFireAt, lastStatus, fireCount, missed, version },
    enabled: codeDecides ? unscheduled.enabled : current.enabled,
    anchorAt: hasNewTiming ? now : current.anchorAt,
  }
  const keepsOccurrence = wasScheduled && !hasNewTiming && current.nextAt !== undefined
  const next = keepsOccurrence
    ? schedule.toNextOccurrence(trigger, current.nextAt)
    : schedule.occurrenceAfter(trigger, undecidedFrom(trigger, now))
  return { ...trigger, ...next }
}

const declaredEnabled = (declared: JsonText | undefined): unknown =>
  declared === undefined ? undefined : (JSON.parse(declared) as TriggerDefinition).enabled

const timingOf = (trigger: TriggerRecord): string => JSON.stringify(kindOf(trigger).ruleOf(trigger))

const replace = ({ unitOfWork }: DeclareTriggersDeps, trigger: TriggerRecord) =>
  unitOfWork.commit([replaceTrigger({ ...trigger, version: trigger.version + 1 })])

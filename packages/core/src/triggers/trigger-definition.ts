import {
  type CronSchedule,
  type EpochMs,
  type JsonText,
  perdureError,
  type TriggerRecord,
  toJsonText,
} from '@perdure/ports'
import type { CreateTriggerRequest } from '@perdure/protocol'
import type { InferInput, InferOutput } from 'valibot'
import { kindOf } from './kinds/trigger-kinds.ts'

/** A trigger as declared in the configuration or requested over the API, with its defaults filled in. */
export type TriggerDefinition = InferOutput<typeof CreateTriggerRequest>

/** A trigger as an author declares it, without defaults. */
export type TriggerRegistration = InferInput<typeof CreateTriggerRequest>

export interface TriggerOrigin {
  readonly owner: string
  readonly source: TriggerRecord['source']
  readonly declared?: JsonText | undefined
  readonly now: EpochMs
}

/** A new trigger that is not scheduled yet. */
export function newTrigger(
  definition: TriggerDefinition,
  { owner, source, declared, now }: TriggerOrigin,
): TriggerRecord {
  const { target, expiresAt, ...rest } = definition
  return {
    ...rest,
    target: targetOf(target),
    expiresAt: expiresAt === undefined ? undefined : (Date.parse(expiresAt) as EpochMs),
    ...{ owner, source, declared },
    anchorAt: now,
    createdAt: now,
    fireCount: 0,
    missed: 0,
    version: 1,
  }
}

function targetOf(target: TriggerDefinition['target']): TriggerRecord['target'] {
  const { sessionId, input } = target
  const rest = { sessionId, input: input === undefined ? undefined : toJsonText(input) }
  return 'agentId' in target
    ? { kind: 'agent', id: target.agentId, ...rest }
    : { kind: 'workflow', id: target.workflowId, ...rest }
}

/** Checks what the schema cannot express. @throws PerdureError `validation-failed` */
export function checkDefinition(definition: TriggerDefinition, cronSchedule: CronSchedule, now: EpochMs): void {
  const problem = problemOf(definition, cronSchedule, now)
  if (problem !== undefined) throw perdureError('validation-failed', { message: `body.${problem}`, hint: HINT })
}

export function problemOf(definition: TriggerDefinition, cronSchedule: CronSchedule, now: EpochMs): string | undefined {
  const { expiresAt } = definition
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now) return 'expiresAt: has passed'
  return kindOf(definition).problemOf(definition, cronSchedule)
}

/** The problem with the hook that a trigger names; `undefined` if it names none, or a known one. */
export const hookProblem = (
  definition: TriggerDefinition,
  hooks: Pick<ReadonlyMap<string, unknown>, 'has'> | undefined,
): string | undefined =>
  definition.kind !== 'webhook' || hooks?.has(definition.hook) === true
    ? undefined
    : `hook: no such hook in webhooks.in: ${JSON.stringify(definition.hook)}`

const HINT = 'correct the field; see the guide to triggers'

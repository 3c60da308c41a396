import { definedMembers, perdureError } from '@perdure/ports'
import { DURATION_FORMS, type Duration, type SentTo, toMilliseconds } from '@perdure/protocol'
import type { Definition } from '../targets/definition.ts'
import type { TriggerRegistration } from './trigger-definition.ts'

type Policy = Pick<TriggerRegistration, 'id' | 'enabled' | 'catchUp' | 'maxCatchUp' | 'overlap'> & {
  /** Fires that are older than this when the server starts are not caught up. Default `'1d'`. */
  readonly catchUpWindow?: Duration
  /** Delays each fire by up to this time. Default 0. */
  readonly jitter?: Duration
  /** The trigger does not fire from this time on. ISO 8601. */
  readonly expiresAt?: string
}

type Rule =
  | { readonly kind: 'cron'; readonly cron: string; readonly timezone?: string }
  | { readonly kind: 'interval'; readonly interval: Duration }
  | { readonly kind: 'idle'; readonly idle: Duration }
  | { readonly kind: 'event'; readonly event: string }

type Start<D extends Definition> = {
  /** The agent or workflow that the trigger starts. */
  readonly start: D
  readonly sessionId?: string
  /** For the kind `event`, the default is the payload of the event. */
  readonly input?: SentTo<D>
}

/** Only the payload of an event can stand in for an input that the schema requires. */
type NeedsInput<D extends Definition> =
  undefined extends SentTo<D> ? unknown : { readonly kind: 'event' } | { readonly input: SentTo<D> }

/** The durations of a trigger, and the members that hold them on the wire. */
const DURATIONS = {
  interval: 'intervalMs',
  idle: 'idleMs',
  catchUpWindow: 'catchUpWindowMs',
  jitter: 'jitterMs',
} as const

/**
 * Declares a trigger that starts an agent or workflow. The schema of the definition determines the type of the input.
 *
 * @throws PerdureError `validation-failed` for a value that is not a duration
 */
export function defineTrigger<const D extends Definition>(
  trigger: Policy & Rule & Start<D> & NeedsInput<D>,
): TriggerRegistration {
  const { start, input, sessionId, ...rest } = trigger
  const members = Object.entries(rest).map(([name, value]): [string, unknown] => {
    const wireName = DURATIONS[name as keyof typeof DURATIONS]
    return wireName === undefined || value === undefined ? [name, value] : [wireName, millisecondsOf(name, value)]
  })
  const target = { [`${start.kind}Id`]: start.id, ...definedMembers({ input, sessionId }) }
  return { ...Object.fromEntries(members), target } as TriggerRegistration
}

function millisecondsOf(name: string, duration: unknown): number {
  const milliseconds = toMilliseconds(duration)
  if (milliseconds !== undefined) return milliseconds
  throw perdureError('validation-failed', { message: `defineTrigger: ${name} must be ${DURATION_FORMS}` })
}

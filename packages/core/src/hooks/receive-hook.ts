import {
  type Clock,
  type Digest,
  type HookDeliveryRecord,
  type HookDeliveryStore,
  type HookVerdict,
  type IdGenerator,
  type Logger,
  type Meter,
  perdureError,
  sha256OfBytes,
  toJsonText,
  type UnitOfWork,
} from '@perdure/ports'
import type { HookRequest } from '@perdure/protocol'
import { CONFLICT, retryConflicts } from '../concurrency/retry-conflicts.ts'
import type { RunTargets } from '../targets/run-target.ts'
import type { EmissionTurn } from '../workflows/emission-turns.ts'
import { findHook, type Hook, type Hooks, storedHeaders } from './hook.ts'
import { type PlanDeliveryDeps, planDelivery } from './plan-delivery.ts'
import { readDelivery } from './read-delivery.ts'

export interface ReceiveHookDeps extends PlanDeliveryDeps {
  readonly hooks: Hooks
  readonly targets: Pick<RunTargets, 'find'>
  readonly hookDeliveries: HookDeliveryStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly digest: Pick<Digest, 'sha256' | 'startSha256'>
  readonly logger: Logger
  readonly meter: Meter
  /** Resolves a reference to a secret; `undefined` if it cannot be resolved at the moment. A blank one counts as missing. */
  readonly resolveSecret: (reference: string) => Promise<string | undefined>
}

/** A request to a hook, of which nothing is trusted yet. */
export interface HookCall {
  readonly hookId: string
  /** Reads a header. @param name in lower case */
  readonly header: (name: string) => string | undefined
  /** Reads the body. Not called for an unknown hook. */
  readonly readBody: () => Promise<Uint8Array>
}

export type ReceivedHook =
  /** The delivery as it was first received, whether or not this request repeats it. */
  | { readonly kind: 'delivery'; readonly delivery: HookDeliveryRecord }
  /** The sender only asked whether the address answers. */
  | { readonly kind: 'challenge'; readonly text: string }

/**
 * Verifies a request, then stores it together with what it starts, in one commit. A repeated delivery starts nothing
 * and returns the stored one.
 *
 * @throws PerdureError `hook-not-found`, `hook-signature-invalid`, `hook-unavailable`, `validation-failed` if the body is
 *   not UTF-8, and the errors of `readBody`
 */
export type ReceiveHook = (call: HookCall) => Promise<ReceivedHook>

export function createReceiveHook(deps: ReceiveHookDeps): ReceiveHook {
  const { hooks, hookDeliveries, clock, ids } = deps

  return async ({ hookId, header, readBody }) => {
    const hook = findHook(hooks, hookId)
    const body = await readBody()
    const verified = await verify(deps, hook, { header, body })
    if (verified.challenge !== undefined) return { kind: 'challenge', text: verified.challenge }
    const deliveryId = idOf(deps, verified.deliveryId, body)
    const known = await hookDeliveries.findReceived(hookId, deliveryId)
    if (known !== undefined) return repeated(deps, known)
    const received = {
      ...{ id: ids.newId('hookDelivery'), hookId, deliveryId },
      headers: toJsonText(storedHeaders(hook, header)),
      body: toJsonText(textOf(body)),
      createdAt: clock.now(),
    }
    return store(deps, hook, received)
  }
}

type Received = Omit<HookDeliveryRecord, 'status' | 'reason' | 'event' | 'fireIds' | 'handledAt' | 'replays'>

async function store(deps: ReceiveHookDeps, hook: Hook, received: Received): Promise<ReceivedHook> {
  const { targets, unitOfWork, meter, logger, planEvent } = deps
  const intent = await readDelivery(targets, hook, received)
  let conflicts = 0
  const attempt = async (turn: EmissionTurn): Promise<ReceivedHook | typeof CONFLICT> => {
    const plan = await planDelivery(deps, { hookId: hook.id, intent, conflicts, turn })
    const delivery: HookDeliveryRecord = { ...received, ...plan.outcome, replays: 0 }
    const committed = await unitOfWork.commit([{ type: 'hook-delivery.insert', delivery }, ...plan.writes])
    if (!committed.committed) {
      conflicts += 1
      const { conflict } = committed
      if (conflict.type !== 'hook-delivery.insert' || conflict.current === undefined) return CONFLICT
      return repeated(deps, conflict.current)
    }
    const { status, reason } = delivery
    meter.count('svc_hook_deliveries_total', { hook: hook.id, status })
    if (status === 'dead') {
      logger.warn('a delivery could not be handled; correct the hook, then replay the delivery', {
        ...{ hookId: hook.id, hookDeliveryId: delivery.id, reason },
      })
    }
    await plan.onCommitted()
    return { kind: 'delivery', delivery }
  }
  return planEvent.inTurn((turn) => retryConflicts(() => attempt(turn)))
}

function repeated({ meter }: ReceiveHookDeps, delivery: HookDeliveryRecord): ReceivedHook {
  meter.count('svc_hook_deliveries_total', { hook: delivery.hookId, status: 'repeated' })
  return { kind: 'delivery', delivery }
}

async function verify(
  { clock, meter, resolveSecret, logger }: ReceiveHookDeps,
  hook: Hook,
  { header, body }: { readonly header: HookCall['header']; readonly body: Uint8Array },
) {
  const resolved = await Promise.all(hook.secretRefs.map(resolveSecret))
  // Anybody can sign with a blank secret.
  const secrets = resolved.map((secret) => trimmed(secret ?? '')).filter((secret) => secret !== '')
  const missing = hook.secretRefs.length - secrets.length
  const unavailable = () => {
    logger.error('a secret of the hook cannot be resolved', undefined, { hookId: hook.id, missing })
    return perdureError('hook-unavailable')
  }
  if (missing > 0 && secrets.length === 0) throw unavailable()
  const verdictOf = async (request: HookRequest): Promise<HookVerdict> => {
    try {
      return await hook.verifier.verify(request)
    } catch (error) {
      logger.error('the function verify of the hook threw an error', error, { hookId: hook.id })
      return { kind: 'unavailable', reason: 'the function verify threw an error' }
    }
  }
  const verdict = await verdictOf({ hookId: hook.id, header, body, secrets, now: clock.now() })
  if (verdict.kind === 'verified') return verdict
  meter.count('svc_hook_deliveries_total', { hook: hook.id, status: verdict.kind })
  logger.debug('a request to a hook was not verified', { hookId: hook.id, reason: verdict.reason })
  if (verdict.kind === 'unavailable') throw perdureError('hook-unavailable')
  // The secret that is missing may be the one of the sender, who repeats the request after this answer.
  if (missing > 0) throw unavailable()
  throw perdureError('hook-signature-invalid', { message: verdict.reason })
}

/** A file usually ends with a line break, which does not belong to the secret. */
const trimmed = (secret: string): string => secret.trim()

const DELIVERY_ID = /^[!-~]{1,255}$/

/** The id of the sender, or a hash in place of a missing or unusual one. */
function idOf({ digest }: ReceiveHookDeps, deliveryId: string | undefined, body: Uint8Array): string {
  if (deliveryId === undefined || deliveryId === '') return `sha256:${sha256OfBytes(digest, body)}`
  return DELIVERY_ID.test(deliveryId) ? deliveryId : `sha256:${digest.sha256(deliveryId)}`
}

/** The signature covers bytes, so that a text that stands for other bytes must not be stored. */
function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch (cause) {
    throw perdureError('validation-failed', { message: 'body: is not UTF-8', cause })
  }
}

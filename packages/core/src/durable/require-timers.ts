import { type ApprovalStore, perdureError, type StepStore } from '@perdure/ports'

/** Rejects a wait that only a durable timer can end. @throws PerdureError `timer-driver-store-unsupported` */
export type RequireTimers = () => void

/**
 * Whether the storage can list due waits. An adapter written in JavaScript may lack these reads; a call whose wait
 * would never end is then rejected.
 */
export const canHoldTimers = ({
  steps,
  approvals,
}: {
  readonly steps: StepStore
  readonly approvals: ApprovalStore
}): boolean =>
  [
    ...[steps.due, steps.nextDueAt, approvals.due, approvals.nextDueAt],
    ...[approvals.toRemind, approvals.nextReminderAt],
  ].every((read) => typeof read === 'function')

export const createRequireTimers =
  (areHeld: boolean): RequireTimers =>
  () => {
    if (areHeld) return
    throw perdureError('timer-driver-store-unsupported', {
      hint: 'use a storage adapter that passes the contracts of StepStore and ApprovalStore, or wait without a timeout',
    })
  }

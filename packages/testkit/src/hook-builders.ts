import { type HookDeliveryRecord, type HookOutcome, toJsonText } from '@perdure/ports'
import { BUILT_AT } from './builders.ts'

const OUTCOME: HookOutcome = { status: 'accepted', fireIds: ['fire_1'], handledAt: BUILT_AT }

/** What a delivery caused: one fire. */
export const aHookOutcome = (over: Partial<HookOutcome> = {}): HookOutcome => ({ ...OUTCOME, ...over })

/** A delivery that the hook `shop` has accepted; only its required fields are set. */
export const aHookDelivery = (over: Partial<HookDeliveryRecord> = {}): HookDeliveryRecord => ({
  ...OUTCOME,
  id: 'hkd_00000000000000000000000001',
  hookId: 'shop',
  deliveryId: 'evt_1',
  headers: toJsonText({ 'content-type': 'application/json' }),
  body: toJsonText('{"order":7}'),
  replays: 0,
  createdAt: BUILT_AT,
  ...over,
})

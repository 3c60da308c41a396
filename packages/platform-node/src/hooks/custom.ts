import type { HookVerifier } from '@perdure/ports'
import type { HookVerify } from '@perdure/protocol'
import { refused } from './hmac-signature.ts'

type VerifyFunction = Extract<HookVerify, (...args: never[]) => unknown>

/** Verifies by a function of the configuration. Only an object that it returns counts as verified. */
export const custom = (verify: VerifyFunction): HookVerifier => ({
  headers: [],
  async verify(request) {
    const result: unknown = await verify(request)
    if (typeof result !== 'object' || result === null) return refused('the function verify refused the request')
    const deliveryId: unknown = Reflect.get(result, 'deliveryId')
    return {
      kind: 'verified',
      deliveryId: typeof deliveryId === 'string' && deliveryId !== '' ? deliveryId : undefined,
    }
  },
})

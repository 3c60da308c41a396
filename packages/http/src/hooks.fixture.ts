import type { Hook, Hooks } from '@perdure/core'
import type { HookVerifier } from '@perdure/ports'

export const resolveSecret = async () => 'secret'

/** Accepts requests whose header `x-signature` is the secret. */
const verifier: HookVerifier = {
  headers: [],
  async verify({ header, secrets }) {
    if (header('x-signature') !== secrets[0]) return { kind: 'refused', reason: 'the signature is wrong' }
    return { kind: 'verified', deliveryId: header('x-delivery') }
  },
  sign: ({ deliveryId }, secret) => ({ 'x-signature': secret, 'x-delivery': deliveryId }),
}

const shop: Hook = {
  ...{ id: 'shop', verify: 'github', secretRefs: ['env:SHOP'], headers: [], verifier },
  to: { event: 'shop.event' },
}

/** The hooks of the test app. */
export const testHooks: Hooks = new Map([['shop', shop]])

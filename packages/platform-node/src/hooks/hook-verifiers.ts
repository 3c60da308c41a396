import type { HookVerifiers, JwtVerifier } from '@perdure/ports'
import type { HookPlatform } from '@perdure/protocol'
import { custom } from './custom.ts'
import { github } from './github.ts'
import { checkHmacSecrets, hmac } from './hmac.ts'
import { jwt } from './jwt.ts'
import { linear } from './linear.ts'
import type { Platform } from './platform.ts'
import { shopify } from './shopify.ts'
import { slack } from './slack.ts'
import { standardWebhooks } from './standard-webhooks.ts'
import { stripe } from './stripe.ts'

const PLATFORMS: Readonly<Record<HookPlatform, Platform>> = {
  'standard-webhooks': standardWebhooks,
  github,
  stripe,
  slack,
  linear,
  shopify,
}

/** Verifies the signatures of the platforms that the configuration can name, and those that it describes. */
export const createHookVerifiers = (verifier: JwtVerifier): HookVerifiers => ({
  open({ verify, toleranceSeconds, secrets }) {
    if (typeof verify === 'function') return custom(verify)
    if (typeof verify === 'object') {
      if (verify.kind === 'hmac') checkHmacSecrets(verify, secrets)
      return verify.kind === 'hmac'
        ? hmac(verify, toleranceSeconds)
        : jwt(verify, { toleranceSeconds, secrets, verifier })
    }
    const platform = PLATFORMS[verify]
    for (const secret of secrets) platform.checkSecret?.(secret)
    return platform.open(toleranceSeconds)
  },
})

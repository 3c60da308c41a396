import type { HookRequest, HookVerify } from '@perdure/protocol'

export type HookVerdict =
  | {
      readonly kind: 'verified'
      /** Missing if the sender gives its deliveries no id. */
      readonly deliveryId?: string | undefined
      /** Set for a request that only asks whether the address answers: the text to answer. */
      readonly challenge?: string | undefined
    }
  | { readonly kind: 'refused'; readonly reason: string }
  /** Nothing is known about the request at the moment. */
  | { readonly kind: 'unavailable'; readonly reason: string }

/** A request to sign, as the sender would. */
export interface UnsignedHookRequest {
  readonly deliveryId: string
  readonly body: string
  readonly now: number // milliseconds since the epoch
}

export interface HookVerifier {
  /** The headers to store with a delivery, in lower case. */
  readonly headers: readonly string[]
  /**
   * Verifies the signature with any of the secrets, then the time of the request. Reads the body only as bytes until both
   * hold. The duration does not depend on where a wrong signature differs.
   */
  verify(request: HookRequest): Promise<HookVerdict>
  /** The headers of a signed request; `undefined` if only the sender can sign. */
  sign?: ((request: UnsignedHookRequest, secret: string) => Readonly<Record<string, string>>) | undefined
}

export interface HookVerifierOptions {
  readonly verify: HookVerify
  /** How far the time of a request may be off. Default: the one of the platform. */
  readonly toleranceSeconds?: number | undefined
  /** The values of `secretRef`, for what is prepared before the first request. */
  readonly secrets: readonly string[]
}

/** Port. Verifies the requests of other services. */
export interface HookVerifiers {
  /** Opens no connection. @throws Error whose message names the problem, if a secret does not fit */
  open(options: HookVerifierOptions): HookVerifier
}
